// An atlas to look at and a page that looks at it. SOMATLAS_BROWSER_FOLDER is what atlases.mjs made, and
// SOMATLAS_BROWSER_MODULES where install.sh put playwright and axe. Always holds: a page notes each request to anything but
// its site, each error of the console and each dialog.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export const folder = process.env.SOMATLAS_BROWSER_FOLDER;
export const modules = createRequire(path.join(process.env.SOMATLAS_BROWSER_MODULES, 'any.js'));
const { chromium } = modules('playwright-core');

export const launch = () => chromium.launch({ executablePath: '/usr/bin/chromium' });

/** `somatlas serve` on a port of its own, with more arguments: its address, and stop(). */
export async function serve(atlas, ...more) {
  const server = spawn(process.env.SOMATLAS_PROGRAM, ['serve', '--atlas', atlas, '--port', '0', ...more],
    { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const address = await new Promise((resolve, reject) => {
    server.stderr.on('data', (bytes) => {
      said += bytes;
      const found = /http:\/\/[\d.:]+\//.exec(said);
      if (found) resolve(found[0]);
    });
    server.on('exit', () => reject(new Error(`serve ended: ${said}`)));
  });
  const ended = new Promise((resolve) => { server.on('exit', resolve); });
  return { address, process: server.pid, stop: () => { server.kill('SIGTERM'); return ended; } };
}

/** `static`: the pages that export wrote, from file://; else what serve shows. */
export const isStatic = process.env.SOMATLAS_BROWSER_SITE === 'static';

/** One of the atlases that atlases.mjs made, sample or hostile. */
export const openAtlas = (name) => (isStatic
  ? { address: pathToFileURL(`${folder}/${name}/html/index.html`).href, stop() {} }
  : serve(`${folder}/${name}/atlas`, '--store', `${folder}/${name}/store`));

export const desktop = { width: 1200, height: 800 };
export const phone = { width: 390, height: 780 };

/** A page that shows the map: the site's, with a hash or query behind the address. */
export async function openPage(browser, site, after = '', settings = {}) {
  const context = await browser.newContext({ viewport: desktop, ...settings });
  const page = await context.newPage();
  const notes = { foreign: [], errors: [], dialogs: [] };
  const own = new URL('.', site.address).href;
  page.on('request', (request) => {
    if (!request.url().startsWith(own) && !request.url().startsWith('data:')) notes.foreign.push(request.url());
  });
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && notes.errors.push(message.text()));
  page.on('pageerror', (error) => notes.errors.push(String(error)));
  page.on('dialog', (dialog) => { notes.dialogs.push(dialog.message()); dialog.dismiss(); });
  await page.goto(site.address + after);
  await shown(page);
  return { page, notes, close: () => context.close() };
}

/** Until the layer's tiles and names are there, and none is fading in. */
export async function shown(page) {
  await page.waitForFunction(() => {
    const tiles = [...document.querySelectorAll('#map .leaflet-tile')];
    return tiles.length > 0 && tiles.every((tile) => tile.classList.contains('leaflet-tile-loaded') && getComputedStyle(tile).opacity === '1') &&
      document.querySelector('#legend strong') && !document.querySelector('#map.leaflet-zoom-anim');
  });
}

/** Where a cell's box lies on the page, by where the tiles lie: { x, y, edge }, its top left corner. */
export async function boxOf(page, side, row, column) {
  const tile = await page.$eval('#map .leaflet-tile-loaded', (image) => {
    const { left, top, width } = image.getBoundingClientRect();
    return { src: image.getAttribute('src'), left, top, width };
  });
  const [, zoom, x, y] = /\/(\d+)\/(\d+)\/(\d+)\.png/.exec(tile.src).map(Number);
  const edge = tile.width * 2 ** zoom / 2 ** Math.ceil(Math.log2(side));
  return {
    x: tile.left - x * tile.width + column * edge, y: tile.top - y * tile.width + row * edge, edge,
  };
}

/** Whether a point of the page is the map's own, with no control, card or name that is clicked over it. */
export const isMap = (page, x, y) => page.evaluate(([left, top]) => {
  const found = document.elementFromPoint(left, top);
  return Boolean(found?.closest('#map')) && !found.closest('.leaflet-control, [data-region]');
}, [x, y]);
