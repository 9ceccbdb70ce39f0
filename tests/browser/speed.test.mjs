// How long a map of 1024 x 1024 cells with 2,000 descriptors takes to open, to show a new plane and to give tiles to many at
// once, and the memory of all that. The times are for a machine of its own; without SOMATLAS_LONG_TESTS=1 they are
// twenty times as long, since tests share theirs with who knows what.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { folder, launch, openPage, serve } from './sites.mjs';

const atlas = `${folder}/large`;
const cacheBytes = 32 << 20;
const wide = process.env.SOMATLAS_LONG_TESTS === '1' ? 1 : 20;
const descriptors = 2000;
// Planes and tiles in the making, RocksDB's own cache, what the allocator keeps of the threads.
const besideCache = 128 << 20;
const ui = (number) => `D${String(1 + number % descriptors).padStart(6, '0')}`;
let browser;
let site;
let memoryOpened;
before(async () => {
  rmSync(atlas, { recursive: true, force: true });
  execFileSync(process.env.SOMATLAS_LARGE_ATLAS, [atlas, '1024', String(descriptors)]);
  [browser, site] = await Promise.all([launch(), serve(atlas, '--cache', `${cacheBytes >> 20}MiB`)]);
  memoryOpened = memory('VmRSS');
});
after(async () => {
  await browser?.close();
  await site?.stop();
  rmSync(atlas, { recursive: true, force: true });
});

const quantile = (values, share) => values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1];

function check(t, what, milliseconds, bound) {
  t.diagnostic(`${what}: ${milliseconds.toFixed(0)} ms, to be under ${bound} ms`);
  assert.ok(milliseconds < bound * wide, `${what} took ${milliseconds.toFixed(0)} ms, over ${bound * wide} ms`);
}

/** Bytes of memory by a line of /proc: VmRSS, VmHWM. */
const memory = (name) => 1024 * +new RegExp(`${name}:\\s*(\\d+)`).exec(readFileSync(`/proc/${site.process}/status`, 'utf8'))[1];

/** Of all cores, what the server has taken so far. */
const processorSeconds = () => {
  const fields = readFileSync(`/proc/${site.process}/stat`, 'utf8').split(') ')[1].split(' ');
  return (+fields[11] + +fields[12]) / 100;
};

test('opens', async (t) => {
  await openPage(browser, site).then(({ close }) => close()); // Chromium's own start
  const times = [];
  for (let i = 0; i < 5; ++i) {
    const { page, close } = await openPage(browser, site, `#layer=${['hits', 'umatrix', 'years', 'region1', 'growth'][i]}`);
    times.push(await page.evaluate(() => Math.max(
      ...performance.getEntriesByType('resource').map(({ responseEnd }) => responseEnd),
      performance.getEntriesByName('first-contentful-paint')[0].startTime)));
    await close();
  }
  check(t, `the page with its tiles and names, median of ${times.map(Math.round)}`, quantile(times, 0.5), 1000);
});

test('a new plane', async (t) => {
  const { page, close } = await openPage(browser, site, '#layer=hits&z=1&row=512&column=512');
  const times = [];
  for (let i = 0; i < 15; ++i) {
    times.push(await page.evaluate((id) => new Promise((resolve) => {
      const begun = performance.now();
      const look = () => {
        const tiles = [...document.querySelectorAll('#map .leaflet-tile')].filter((tile) => tile.src.includes(id));
        const there = tiles.length > 0 && tiles.every((tile) => tile.classList.contains('leaflet-tile-loaded'));
        if (there) resolve(performance.now() - begun);
        else setTimeout(look, 1);
      };
      location.hash = `#layer=${id}&z=1&row=512&column=512`;
      look();
    }), ui(130 * i)));
  }
  check(t, `a new plane, median of ${times.map(Math.round)}`, quantile(times, 0.5), 150);
  await close();
});

test('tiles for 32 clients, in bounded memory', async (t) => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 32 });
  const fetchTile = (path) => new Promise((resolve, reject) => {
    const begun = performance.now();
    http.get(new URL(path, site.address), { agent }, (answer) => {
      answer.resume();
      answer.on('end', () => (answer.statusCode === 200 ? resolve(performance.now() - begun)
        : reject(new Error(`${path}: ${answer.statusCode}`))));
    }).on('error', reject);
  });
  const times = [];
  // A client chooses a layer and looks around in it, then takes the next.
  const used = processorSeconds();
  await Promise.all(Array.from({ length: 32 }, async (_, client) => {
    await new Promise((resolve) => { setTimeout(resolve, 65 * client); }); // not all at one moment
    for (let step = 0; step < 60; ++step) {
      const view = 32 * Math.floor(step / 20) + client;
      const layer = view % 4 === 0 ? ['hits', 'umatrix', 'years', 'growth', 'region2'][view / 4 % 5] : ui(61 * view);
      const zoom = 2 + step % 5;
      const [x, y] = [(7 * step + client) % 2 ** zoom, (11 * step + 3 * client) % 2 ** zoom];
      times.push(await fetchTile(`tile/${layer}/${zoom}/${x}/${y}.png?v=1`));
      await new Promise((resolve) => { setTimeout(resolve, 100); }); // nobody looks faster
    }
  }));
  const work = 1000 * (processorSeconds() - used) / times.length;
  t.diagnostic(`the server took ${work.toFixed(2)} ms of a core a tile`);
  assert.ok(work < 5, `${work} ms of a core a tile`);
  for (let i = 0; i < 300; ++i) await fetchTile(`tile/${ui(6 * i + 5)}/3/4/4.png?v=1`); // far more than fit
  agent.destroy();
  const more = memory('VmHWM') - memoryOpened;
  t.diagnostic(`opened it took ${memoryOpened >> 20} MiB, and ${more >> 20} MiB more with a cache of ${cacheBytes >> 20} MiB`);
  assert.ok(more < cacheBytes + besideCache, `it took ${more} bytes more`);
  check(t, `one of ${times.length} tiles in a hundred`, quantile(times, 0.99), 50);
});
