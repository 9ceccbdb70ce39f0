// Somebody's own list in the viewer: pasted, or dropped as a file, its articles lie where the tables of export have them,
// and the parts of the map that it favours are those that it was drawn from.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { folder, isStatic, launch, openAtlas, openPage, serve } from './sites.mjs';
import { cellAt, cells, places, random, rowsOf } from './tables.mjs';

let browser;
let site;
before(async () => { [browser, site] = await Promise.all([launch(), openAtlas('sample')]); });
after(async () => { await browser?.close(); await site?.stop(); });

const regionOf = ({ row, column }) => cellAt(+row, +column).region;

/** Articles of one region, and some of anywhere. */
function drawn() {
  const regions = new Map();
  for (const place of places) regions.set(regionOf(place), [...regions.get(regionOf(place)) ?? [], place]);
  const large = [...regions.values()].filter((all) => all.length >= 60);
  const list = new Map(large[random(large.length)].slice(0, 40).map((place) => [place.pmid, place]));
  for (let i = 0; i < 30; ++i) {
    const place = places[random(places.length)];
    list.set(place.pmid, place);
  }
  return [...list.values()];
}

const cellsOf = (list) => new Set(list.map(({ row, column }) => `${row},${column}`)).size;

async function tested(page) {
  await page.waitForSelector('#list tbody tr');
  return page.$$eval('#list tbody tr', (rows) => rows.map((row) => [...row.children].map((field) => field.textContent)));
}

async function paste(page, text) {
  await page.click('#open-list');
  await page.fill('#list-text', text);
  await page.click('#list button.main');
}

test('a pasted list lies where its articles do', async () => {
  const { page, notes, close } = await openPage(browser, site);
  const list = drawn();
  await paste(page, [...list.map(({ pmid }) => pmid), '4000000001'].join('\n'));
  await page.locator('#list [role=status]', { hasText:
    `${list.length} of ${list.length + 1} articles lie on the map, in ${cellsOf(list)} cells; 1 was not found.` }).waitFor();
  const rows = await tested(page);
  const counts = new Map();
  for (const place of list) counts.set(regionOf(place), (counts.get(regionOf(place)) ?? 0) + 1);
  const most = [...counts].sort((a, b) => b[1] - a[1])[0];
  assert.deepEqual(rows[0].slice(0, 2), [most[0], String(most[1])]);
  assert.ok(rows[0][3].startsWith('▲'), rows[0].join());
  if (isStatic) { // a folder works out the same as the program
    const server = await serve(`${folder}/sample/atlas`);
    const other = await openPage(browser, server);
    await paste(other.page, list.map(({ pmid }) => pmid).join('\n'));
    assert.deepEqual(await tested(other.page), rows);
    for (const level of ['2', '3']) {
      const names = await Promise.all([page, other.page].map(async (one) => {
        await one.locator('#list select').last().selectOption(level);
        await one.locator('#list thead', { hasText: level === '2' ? 'Area' : 'Continent' }).waitFor();
        return tested(one);
      }));
      assert.deepEqual(names[0], names[1]);
    }
    await other.close();
    await server.stop();
  }
  assert.deepEqual(notes, { foreign: [], errors: [], dialogs: [] });
  await close();
});

test('the table of tests is saved as CSV with exact numbers', async () => {
  const { page, notes, close } = await openPage(browser, site);
  const list = drawn();
  await paste(page, list.map(({ pmid }) => pmid).join('\n'));
  for (const [level, column] of ['region', 'area', 'continent'].entries()) {
    await page.locator('#list select').last().selectOption(String(level + 1));
    const kind = column[0].toUpperCase() + column.slice(1);
    await page.locator('#list thead', { hasText: kind }).waitFor();
    const shownRows = await tested(page);
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#list button', { hasText: 'as CSV' }).click()]);
    assert.equal(download.suggestedFilename(), `${column}s.csv`);
    const rows = rowsOf(readFileSync(await download.path(), 'utf8'), ',');
    assert.deepEqual(Object.keys(rows[0]), [kind, 'Here', 'Expected', 'Ratio', 'Adj. p']);
    assert.deepEqual(rows.slice(0, shownRows.length).map((row) => [row[kind], row.Here]), shownRows.map(([name, here]) => [name, here]));
    const all = cells.reduce((sum, cell) => sum + +cell.hits, 0);
    for (const name of new Set(cells.map((cell) => cell[column]))) {
      const those = rows.filter((row) => row[kind] === name); // of several of a name all together
      const sum = (field) => those.reduce((total, row) => total + Number(row[field]), 0);
      const inside = cells.filter((cell) => cell[column] === name);
      assert.equal(sum('Here'), list.filter((place) => cellAt(+place.row, +place.column)[column] === name).length, name);
      const expected = list.length * inside.reduce((total, cell) => total + +cell.hits, 0) / all;
      assert.ok(Math.abs(sum('Expected') - expected) <= 1e-12 * expected, `${name}: ${sum('Expected')} ${expected}`);
      for (const row of those.filter(({ Ratio }) => Ratio !== '')) assert.equal(Number(row.Ratio), row.Here / row.Expected);
    }
  }
  assert.deepEqual(notes, { foreign: [], errors: [], dialogs: [] });
  await close();
});

test('a dropped file shows its articles', async () => {
  const { page, notes, close } = await openPage(browser, site);
  const list = drawn();
  const files = {
    'saved.nbib': list.map(({ pmid }) => `PMID- ${pmid}\nOWN - NLM\nTI  - A title\n\n`).join(''),
    'saved.xml': `<?xml version="1.0"?><PubmedArticleSet>${list.map(({ pmid }) =>
      `<PubmedArticle><MedlineCitation Status="MEDLINE"><PMID Version="1">${pmid}</PMID></MedlineCitation></PubmedArticle>`).join('')}</PubmedArticleSet>`,
    'saved.txt': list.map(({ pmid }) => pmid).join('\n'),
  };
  for (const [name, text] of Object.entries(files)) {
    await page.evaluate(([file, content]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([content], file));
      document.getElementById('map').dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    }, [name, text]);
    await page.locator('#list [role=status]', { hasText:
      `${list.length} of ${list.length} articles lie on the map, in ${cellsOf(list)} cells; all were found.` }).waitFor();
    await page.locator('#list button', { hasText: 'Clear' }).click();
    await page.locator('#list [role=status]', { hasText: 'No list is shown' }).waitFor();
  }
  assert.deepEqual(notes, { foreign: [], errors: [], dialogs: [] });
  await close();
});

test('lines of descriptors are placed by the program, and not asked for in a folder', async () => {
  const { page, notes, close } = await openPage(browser, site);
  await page.click('#open-list');
  const label = await page.locator('label[for=list-text]').innerText();
  assert.equal(label, isStatic ? 'PMIDs' : 'PMIDs, or one article per line: its MeSH descriptors with ; between them');
  await page.fill('#list-text', 'Humans; Neoplasms\nno such heading; Neoplasmz; sapiens homos');
  await page.click('#list button.main');
  await page.locator('#list [role=status]', { hasText: isStatic ? '0 of 2 articles' : '1 of 2 articles' }).waitFor();
  assert.deepEqual(await page.$$eval('#list li', (items) => items.map((item) => item.textContent)), isStatic ? [] : [
    'Neoplasmz (line 2): did you mean “Neoplasms”?', 'no such heading (line 2)',
    'sapiens homos (line 2): did you mean “Humans” (entry word “Homo sapiens”)?']);
  assert.deepEqual(notes, { foreign: [], errors: [], dialogs: [] });
  await close();
});

/** Drops a file and waits until it is looked up. */
async function drop(page, name, text) {
  await page.evaluate(([file, content]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([content], file));
    document.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
  }, [name, text]);
  await page.locator('#list [role=status]', { hasText: /articles lie on the map/ }).waitFor();
}

test('an unknown heading is told with its line, in whatever the list is', async () => {
  const { page, notes, close } = await openPage(browser, site);
  // Articles that no atlas has, so that their descriptors are looked up; what takes more than a piece is cut between \r and \n too.
  const pieces = 9000;
  const blank = () => Array(random(4)).fill('');
  const first = 4_000_000_001;
  const wrong = random(pieces);
  const kinds = {
    lines: (i, name) => [...blank(), name ?? 'Humans; Male'],
    nbib: (i, name) => [`PMID- ${first + i}`, 'OWN - NLM', ...blank(), 'MH  - Humans/*genetics', ...(name ? [`MH  - *${name}/therapy`] : []), 'MH  - Male', ''],
    xml: (i, name) => ['<PubmedArticle><MedlineCitation>', `<PMID>${first + i}</PMID>`, ...blank(), '<MeshHeadingList><MeshHeading>',
      '<DescriptorName UI="D006801">Humans</DescriptorName>', ...(name ? ['<!-- a', 'comment -->', `<DescriptorName>${name}</DescriptorName>`] : []),
      '</MeshHeading></MeshHeadingList></MedlineCitation></PubmedArticle>'],
  };
  for (const [kind, end] of Object.keys(kinds).flatMap((name) => ['\n', '\r\n', '\r'].map((one) => [name, one]))) {
    const article = kinds[kind];
    const count = kind === 'lines' && end === '\r\n' ? pieces : 40;
    const at = wrong % count;
    const lines = [...blank(), ...(kind === 'xml' ? ['<?xml version="1.0"?>', '<PubmedArticleSet>'] : [])];
    for (let i = 0; i < count; ++i) lines.push(...article(i, i === at ? 'no such heading' : undefined));
    if (kind === 'xml') lines.push('</PubmedArticleSet>');
    const number = 1 + lines.findIndex((line) => line.includes('no such heading'));
    await drop(page, `saved.${kind}`, lines.join(end));
    if (!isStatic) {
      const told = await page.$$eval('#list li', (items) => items.map((item) => item.textContent));
      assert.ok(told.includes(`no such heading (line ${number})`), `${kind}: ${number}, ${told.join('|')}`);
      if (kind === 'lines') assert.match(await page.locator('#list details').textContent(), new RegExp(`no such heading \\(line ${number}\\)`));
    } else if (kind === 'lines' && at < 50) { // the first of those not found
      assert.match(await page.locator('#list details').textContent(), new RegExp(`no such heading \\(line ${number}\\)`));
    }
  }
  await drop(page, 'list.txt', ['1', '', '4000000001 4000000002', '', '0'].join('\n'));
  assert.match(await page.locator('#list details').textContent(), /4000000001 \(line 3\), 4000000002 \(line 3\)/);
  assert.match(await page.locator('#list [role=status]').textContent(), /1 had neither a PMID nor descriptors, the first in line 5\.$/);
  assert.deepEqual(notes, { foreign: [], errors: [], dialogs: [] });
  await close();
});

test('lists are read however they are broken into lines', async () => {
  const { page, notes, close } = await openPage(browser, site);
  const read = (text) => page.evaluate(async (list) => {
    const { articles, unusable } = await readList(list, new AbortController().signal, () => {});
    return { articles, unusable };
  }, text);
  const pmids = Array.from({ length: 20000 }, (_, i) => 30000000 + 7 * i);
  for (const between of [', ', ';', '\t', '\r', '\r\n']) {
    const { articles, unusable } = await read(pmids.join(between));
    assert.deepEqual(articles.map(({ pmid }) => pmid), pmids, JSON.stringify(between));
    assert.equal(unusable, 0);
  }
  for (const end of ['\n', '\r', '\r\n']) {
    const { articles } = await read(['1', '2', 'PMID- 3', 'MH  - Pain/therapy', '      and more', 'PMID- 4', ''].join(end));
    assert.deepEqual(articles.map(({ pmid, line }) => [pmid, line]), [[1, ''], [2, ''], [3, 'Pain and more'], [4, '']]);
  }
  assert.deepEqual(notes, { foreign: [], errors: [], dialogs: [] });
  await close();
});
