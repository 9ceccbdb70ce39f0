// An atlas whose descriptors are named like scripts, and addresses that hold such: every name is shown as it is and nothing
// runs. The pages are opened without their content security policy, so that escaping alone is tried; the policy by itself.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isStatic, launch, openAtlas, openPage, shown } from './sites.mjs';
import { payloads } from './payloads.mjs';

let browser;
let site;
before(async () => {
  [browser, site] = await Promise.all([launch(), openAtlas('hostile')]);
});
after(async () => { await browser?.close(); await site?.stop(); });

/** Elements that no page of the viewer has: they came out of a name. */
const strange = (page) => page.evaluate(() => [...document.querySelectorAll('*')].filter((element) =>
  ['IFRAME', 'OBJECT', 'VIDEO', 'BASE', 'STYLE', 'MATH', 'TEMPLATE'].includes(element.tagName) ||
  [...element.attributes].some(({ name }) => /^on/i.test(name)) ||
  (element.tagName === 'IMG' && !element.classList.contains('leaflet-tile'))).map((element) => element.outerHTML));

async function checkQuiet({ page, notes }) {
  assert.equal(await page.evaluate('window.ran'), undefined);
  assert.deepEqual(await strange(page), []);
  // An address of a layer that cannot be is asked for, and refused.
  notes.errors = notes.errors.filter((text) => !text.includes('status of 400'));
  assert.deepEqual(notes, { foreign: [], errors: [], dialogs: [] });
}

test('there are a hundred payloads', () => {
  assert.equal(new Set(payloads).size, 100);
  assert.ok(payloads.every((name) => /ran=1|alert/.test(name)));
});

test('each name is found, and titles a plane, as it is', async () => {
  const opened = await openPage(browser, site, '', { bypassCSP: true });
  const { page } = opened;
  for (const name of payloads) {
    await page.fill('#search', name);
    await page.waitForFunction((text) => document.querySelector('#found li span')?.textContent === text, name);
    await page.press('#search', 'Enter');
    await page.waitForFunction((text) => document.querySelector('#legend strong')?.textContent === text &&
      document.querySelector('#layer').selectedOptions[0].textContent === text, name);
  }
  await checkQuiet(opened);
  await opened.close();
});

test('each entry word is found, and shown as it is', async () => {
  const opened = await openPage(browser, site, '', { bypassCSP: true });
  const { page } = opened;
  for (const [i, name] of payloads.entries()) {
    await page.fill('#search', `no${i}.`);
    await page.waitForFunction((text) => document.querySelector('#found li span')?.textContent === text,
      `${name}entry word: no${i}. ${name}`);
  }
  await checkQuiet(opened);
  await opened.close();
});

test('names on the map and on cards are shown as they are', async () => {
  const opened = await openPage(browser, site, '#layer=hits&z=7&row=4&column=4', { bypassCSP: true });
  const { page } = opened;
  const known = new Set(payloads);
  for (const [row, column] of [[4, 4], [4, 12], [12, 4], [12, 12]]) {
    await page.evaluate((hash) => { location.hash = hash; }, `#layer=region1&z=7&row=${row}&column=${column}&cell=${row}.${column}`);
    await page.waitForSelector('.name0');
    await page.locator('#card', { hasText: `Row ${row}, column ${column} ` }).waitFor();
    const leading = await page.$$eval('#card tbody button', (buttons) => buttons.map((button) => button.textContent));
    assert.ok(leading.length > 0 && leading.every((name) => known.has(name)), leading.join('\n'));
    const around = await page.$$eval('#card .around button', (buttons) => buttons.map((button) => button.textContent));
    assert.ok(around.length === 8 && around.every((name) => known.has(name)), around.join('\n'));
  }
  for (const z of [3, 5]) {
    await page.evaluate((zoom) => { location.hash = `#layer=hits&z=${zoom}&row=8&column=8`; }, z);
    await shown(page);
  }
  await checkQuiet(opened);
  await opened.close();
});

test('payloads in a list are shown as they are', async () => {
  const opened = await openPage(browser, site, '', { bypassCSP: true });
  const { page } = opened;
  for (const list of [payloads.map((name) => `${name}; ${name}`).join('\n'), payloads.map((name) => `no ${name}`).join('\n')]) {
    await page.evaluate((text) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([`1\n${text}`], '<img src=x onerror=alert(1)>.txt'));
      document.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }, list);
    await page.locator('#list [role=status]', { hasText: / of \d+ articles lie on the map/ }).waitFor();
    await page.locator('#list details summary').click();
    assert.match(await page.locator('#list details').innerText(), /</);
  }
  await checkQuiet(opened);
  await opened.close();
});

test('payloads in an address do nothing', async () => {
  const opened = await openPage(browser, site, '', { bypassCSP: true });
  const { page } = opened;
  for (const payload of payloads) {
    const text = encodeURIComponent(payload);
    for (const hash of [`#layer=${text}&z=${text}&row=${text}&column=${text}&cell=${text}`, `#${payload}`]) {
      await page.evaluate((value) => { location.hash = value; }, hash);
    }
  }
  for (let i = 0; i < payloads.length; i += 10) { // several at once in the query of a page that is loaded anew
    const query = payloads.slice(i, i + 10).map((payload) => `${encodeURIComponent(payload)}=${encodeURIComponent(payload)}`);
    await page.goto(`${site.address}?q=${query.join('&')}#layer=${encodeURIComponent(payloads[i])}`);
    await shown(page);
  }
  await checkQuiet(opened);
  await opened.close();
});

test('the policy alone stops what a page would run', async () => {
  const { page, notes, close } = await openPage(browser, site);
  const policy = isStatic ? await page.getAttribute('meta[http-equiv="Content-Security-Policy"]', 'content')
    : (await page.request.get(site.address)).headers()['content-security-policy'];
  assert.match(policy, isStatic ? /default-src 'none'; script-src 'self' file:;/ : /default-src 'none'; script-src 'self';/);
  assert.doesNotMatch(policy, /unsafe/);
  await page.evaluate((names) => {
    for (const name of names) document.body.insertAdjacentHTML('beforeend', `<div>${name}</div>`);
    const script = document.createElement('script');
    script.textContent = 'window.ran = 1';
    document.body.append(script);
  }, payloads);
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate('window.ran'), undefined);
  assert.deepEqual(notes.dialogs, []);
  assert.ok(notes.errors.some((text) => text.includes('Content Security Policy')));
  await close();
});
