// That everybody can use the viewer: axe finds nothing serious in it, light, dark and on a phone, and the keyboard is enough.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { desktop, launch, modules, openPage, openAtlas, phone, shown } from './sites.mjs';
import { cellAt, frequent, places, random } from './tables.mjs';

const axe = readFileSync(modules.resolve('axe-core/axe.min.js'), 'utf8');
let browser;
let site;
before(async () => { [browser, site] = await Promise.all([launch(), openAtlas('sample')]); });
after(async () => { await browser?.close(); await site?.stop(); });

async function check(page, what) {
  if (!await page.evaluate('typeof axe === "object"')) await page.evaluate(axe);
  const { violations } = await page.evaluate('axe.run({ preload: false })');
  const bad = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  assert.deepEqual(bad.map(({ id, nodes }) => [what, id, nodes.map(({ html, failureSummary }) => html + failureSummary)]), []);
}

for (const [colorScheme, viewport, name] of [
  ['light', desktop, 'light'], ['dark', desktop, 'dark'], ['light', phone, 'light, a phone'], ['dark', phone, 'dark, a phone'],
]) {
  test(`axe finds nothing serious: ${name}`, async () => {
    const { page, notes, close } = await openPage(browser, site, '', { colorScheme, viewport });
    await check(page, 'the map');
    await page.goto(`${site.address}#layer=hits&z=5&row=12&column=12&cell=12.12`);
    await page.reload();
    await page.waitForSelector('#card h2');
    await shown(page);
    await check(page, 'the map with a card');
    await page.click('#open-list');
    await page.fill('#list-text', Array.from({ length: 20 }, () => places[random(places.length)].pmid).join('\n'));
    await page.click('#list button.main');
    await page.waitForSelector('#list tbody tr');
    await check(page, 'a list');
    await page.fill('#search', 'a');
    await page.waitForSelector('#found li');
    await check(page, 'the search');
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= viewport.width, `the page is ${width} wide`);
    assert.deepEqual(notes.errors, []);
    await close();
  });
}

test('the keyboard is enough', async () => {
  const { page, close } = await openPage(browser, site, '#layer=hits&z=4&row=12&column=12');
  const focused = () => page.evaluate(() => {
    const { id, tagName } = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return { id, tagName, ring: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 };
  });
  // Every control is reached, and shows that it is.
  const reached = new Set();
  for (let i = 0; i < 12; ++i) {
    await page.keyboard.press('Tab');
    const { id, tagName, ring } = await focused();
    if (tagName === 'BODY') break;
    assert.ok(ring, `${tagName} ${id} does not show that it has the focus`);
    reached.add(id || tagName);
  }
  for (const id of ['search', 'layer', 'map']) assert.ok(reached.has(id), `${id} is not reached`);
  // A descriptor by name.
  await page.focus('#map');
  await page.keyboard.press('/');
  assert.equal((await focused()).id, 'search');
  const { name } = frequent[random(frequent.length)];
  await page.keyboard.type(name);
  await page.locator('#found li').first().filter({ hasText: name }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.locator('#legend strong', { hasText: name }).waitFor();
  // A layer, and the cell in the middle of the map.
  await page.focus('#layer');
  await page.keyboard.type('Mean');
  await page.locator('#legend strong', { hasText: 'Mean year' }).waitFor();
  await page.focus('#map');
  const where = () => Object.fromEntries([...new URLSearchParams(page.url().split('#')[1])]);
  assert.equal(where().z, undefined); // a plane that was searched for is shown on the whole map
  await page.keyboard.press('+');
  await page.waitForURL((url) => url.hash.includes('&z='));
  await shown(page);
  const first = where();
  await page.keyboard.press('+');
  await page.waitForURL((url) => url.hash.includes(`z=${+first.z + 1}&`));
  const before = where();
  await page.keyboard.press('ArrowRight');
  await page.waitForURL((url) => !url.hash.includes(`column=${before.column}`));
  const moved = where();
  assert.ok(+moved.column > +before.column && moved.z === before.z, JSON.stringify([before, moved]));
  await page.keyboard.press('Enter');
  await page.waitForSelector('#card h2:focus');
  const [row, column] = [Math.floor(+moved.row), Math.floor(+moved.column)];
  assert.match(await page.locator('#card').innerText(), new RegExp(`Row ${row}, column ${column} `));
  assert.equal(await page.locator('#status').textContent(),
    `Cell in row ${row}, column ${column}: ${cellAt(row, column).descriptor1}, ${cellAt(row, column).hits} articles`);
  await page.keyboard.press('Escape');
  await page.waitForSelector('#card', { state: 'hidden' });
  assert.equal((await focused()).id, 'map');
  await close();
});
