// The viewer as readers use it: what it loads, shows and finds, against the tables that export writes of the same atlas.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { boxOf, folder, isMap, isStatic, launch, openPage, openAtlas, serve, shown } from './sites.mjs';
import { articlesAt, cellAt, cells, descriptors, frequent, heaviestCell, places, random, side, yearsAt } from './tables.mjs';

let browser;
let site;
before(async () => { [browser, site] = await Promise.all([launch(), openAtlas('sample')]); });
after(async () => { await browser?.close(); await site?.stop(); });

/** Runs look with a page of its own, which must ask nobody else and report no error. */
async function withPage(after, look) {
  const { page, notes, close } = await openPage(browser, site, after);
  await look(page);
  assert.deepEqual(notes, { foreign: [], errors: [], dialogs: [] });
  await close();
}

const cardOf = async (page, row, column) => {
  await page.locator('#card', { hasText: new RegExp(`Row ${row}, column ${column} `) }).waitFor();
  return page.$eval('#card', (card) => ({
    heading: card.querySelector('h2').textContent,
    facts: [...card.querySelectorAll('p')].map((line) => line.textContent),
    leading: [...card.querySelectorAll('tbody tr')].map((line) => [...line.children].map((field) => field.textContent)),
    pmids: [...card.querySelectorAll('.pmids a')].map((link) => [link.textContent, link.href]),
  }));
};

async function checkCard(page, row, column) {
  const card = await cardOf(page, row, column);
  const cell = cellAt(row, column);
  const names = [1, 2, 3, 4, 5].map((i) => cell[`descriptor${i}`]).filter((name) => name !== '');
  assert.equal(card.heading, names[0]);
  assert.ok(card.facts[0].endsWith(`${(+cell.hits).toLocaleString('en')} training articles`), card.facts[0]);
  assert.equal(card.facts[1], `Region ${cell.region}Area ${cell.area}Continent ${cell.continent}`);
  assert.deepEqual(card.leading.map(([name]) => name), names);
  card.leading.forEach(([, , lift], i) => {
    const exact = +cell[`lift${i + 1}`];
    assert.ok(Math.abs(+lift.slice(2) - exact) <= (exact < 9.95 ? 0.055 : 0.505), `${lift} ${exact}`);
  });
  assert.deepEqual(card.pmids, articlesAt(row, column).slice(0, 50)
    .map((pmid) => [String(pmid), `https://pubmed.ncbi.nlm.nih.gov/${pmid}/`]));
}

/** Clicks somewhere in a random cell whose middle is in view; which cell that was. */
async function clickSomewhere(page) {
  for (;;) {
    const [row, column] = [random(side), random(side)];
    const box = await boxOf(page, side, row, column);
    const at = [box.x + box.edge * (0.1 + random(80) / 100), box.y + box.edge * (0.1 + random(80) / 100)];
    if (await isMap(page, ...at)) {
      await page.mouse.click(...at);
      return [row, column];
    }
  }
}

test('the page asks no other host and reports no error, in every layer', async () => {
  await withPage('', async (page) => {
    assert.equal(await page.title(), 'somatlas');
    const layers = await page.$$eval('#layer option', (options) => options.map(({ value, textContent }) => [value, textContent]));
    assert.deepEqual(layers.map(([id]) => id), ['region1', 'region2', 'region3', 'hits', 'umatrix', 'years', 'growth']);
    for (const [id, title] of layers) {
      await page.selectOption('#layer', id);
      await page.locator('#legend strong', { hasText: title }).waitFor();
      await page.waitForSelector(`#map .leaflet-tile-loaded[src*="/${id}/"]`);
      await shown(page);
      assert.match(page.url(), new RegExp(`#layer=${id}(&|$)`));
      const level = /^region(\d)$/.exec(id)?.[1];
      if (level) { // names of what is coloured
        await page.waitForFunction((own) => {
          const names = [...document.querySelectorAll('.name')];
          return names.length && names.every((name) => name.classList.contains(own));
        }, `name${level}`);
        const names = await page.$$eval('.name', (found) => found.map((name) => name.textContent));
        const column = ['region', 'area', 'continent'][level - 1];
        for (const name of names.filter((text) => !text.endsWith('…'))) {
          assert.ok(cells.some((cell) => cell[column].replaceAll(' ', '') === name.replaceAll(' ', '')), name);
        }
      }
    }
    assert.ok(await page.locator('.name').count() > 3);
  });
});

test('a click shows the cell under it, as the tables have it', async () => {
  await withPage('', async (page) => {
    for (let i = 0; i < 10; ++i) {
      await checkCard(page, ...await clickSomewhere(page));
      await page.waitForTimeout(400); // a cell at the edge moves the map
      await shown(page);
    }
  });
});

test('a card counts its articles by year', async () => {
  await withPage('', async (page) => {
    const dated = cells.filter(({ row, column }) => yearsAt(+row, +column).length > 2);
    for (let i = 0; i < 3; ++i) {
      const { row, column } = dated[random(dated.length)];
      await page.evaluate((cell) => { location.hash = `#layer=hits&cell=${cell}`; }, `${row}.${column}`);
      await cardOf(page, row, column);
      await page.waitForFunction((bars) => document.querySelectorAll('#card .years rect').length === bars, yearsAt(+row, +column).length);
      assert.deepEqual(await page.$$eval('#card .years rect title', (titles) => titles.map((title) => title.textContent)),
        yearsAt(+row, +column).map(([year, count]) => `${year}: ${count}`));
    }
  });
});

test('colours of the layer of articles are those of the cells under them', async () => {
  await withPage('#layer=hits&z=4&row=12&column=12', async (page) => {
    await page.$eval('.leaflet-marker-pane', (names) => { names.style.display = 'none'; });
    const image = (await page.screenshot()).toString('base64');
    const box = await boxOf(page, side, 0, 0);
    const points = await page.evaluate(([{ x, y, edge }, hits, across]) => hits.flatMap((count, i) => {
      const at = [Math.round(x + edge * (i % across + 0.5)), Math.round(y + edge * (Math.floor(i / across) + 0.5))];
      const found = document.elementFromPoint(...at);
      return found?.closest('#map') && !found.closest('.leaflet-control') ? [{ at, hits: count }] : [];
    }), [box, cells.map((cell) => +cell.hits), side]);
    const blank = await browser.newPage();
    const colours = await blank.evaluate(async ([source, places]) => {
      const picture = new Image();
      picture.src = `data:image/png;base64,${source}`;
      await picture.decode();
      const canvas = document.createElement('canvas');
      [canvas.width, canvas.height] = [picture.width, picture.height];
      const pen = canvas.getContext('2d');
      pen.drawImage(picture, 0, 0);
      return places.map(([x, y]) => pen.getImageData(x, y, 1, 1).data.join());
    }, [image, points.map(({ at }) => at)]);
    await blank.close();
    const ofHits = new Map();
    points.forEach(({ hits }, i) => {
      assert.equal(ofHits.get(hits) ?? colours[i], colours[i], `${hits} articles`);
      ofHits.set(hits, colours[i]);
    });
    assert.equal(ofHits.get(0), '196,198,202,255'); // what the legend gives cells with no article
    assert.ok(points.length > cells.length / 2);
    assert.ok(new Set(ofHits.values()).size > 8, 'few articles and many have different colours');
  });
});

test('zoomed to a single cell, names of cells appear and a click is still exact', async () => {
  await withPage('#layer=umatrix&z=7&row=11.5&column=11.5', async (page) => {
    await page.waitForSelector('.name0');
    const { edge } = await boxOf(page, side, 11, 11);
    assert.equal(edge, 128);
    for (let i = 0; i < 4; ++i) await checkCard(page, ...await clickSomewhere(page));
    const overlaps = await page.$$eval('.name', (names) => {
      const boxes = names.map((name) => name.getBoundingClientRect());
      return boxes.filter((a, i) => boxes.some((b, k) =>
        i < k && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
    });
    assert.equal(overlaps, 0);
  });
});

test('a search finds its descriptor and shows its plane', async () => {
  // Names that others begin with, which may be those of more articles, and any.
  const beginnings = frequent.filter(({ name }) => descriptors.some((other) => other.name !== name && other.name.startsWith(name)));
  assert.ok(beginnings.length > 0);
  await withPage('', async (page) => {
    for (const { ui, name } of [beginnings, beginnings, frequent, frequent].map((list) => list[random(list.length)])) {
      await page.fill('#search', name.toUpperCase());
      await page.locator('#found li:first-child span').getByText(name, { exact: true }).waitFor();
      await page.press('#search', 'Enter');
      await page.locator('#legend strong').getByText(name, { exact: true }).waitFor();
      await page.waitForSelector(`#map .leaflet-tile-loaded[src*="/${ui}/"]`);
      assert.equal(await page.$eval('#layer', (select) => select.selectedOptions[0].textContent), name);
    }
    await page.fill('#search', 'no such descriptor');
    await page.locator('#found li', { hasText: 'Nothing found' }).waitFor();
  });
});

test('a search that finds nothing offers the nearest by spelling', async () => {
  const offered = (page) => page.$$eval('#found li > span', (found) => found.map((one) => one.innerText.replace('\n', '|')));
  const server = isStatic ? await serve(`${folder}/sample/atlas`) : site; // which says what a folder should
  await withPage('', async (page) => {
    for (const [text, expected] of [
      ['sapiens homos', ['Nothing found. Did you mean', 'Humans|entry word: Homo sapiens']],
      ['Neoplasmz, Breast', ['Nothing found. Did you mean', 'Breast Neoplasms']],
      ['zyxwvutsrqponm', ['Nothing found']],
    ]) {
      await page.fill('#search', text);
      await page.locator('#found li', { hasText: 'Nothing found' }).waitFor();
      await page.waitForFunction((lines) => [...document.querySelectorAll('#found li > span')]
        .map((found) => found.innerText.replace('\n', '|')).join('\n') === lines, expected.join('\n'));
    }
    for (let k = 0; k < 8; ++k) {
      const { name } = frequent[random(frequent.length)];
      const at = random(name.length);
      const text = `${name.slice(0, at)}${'qzx'[random(3)]}${name.slice(at + random(2))}`;
      const search = await (await fetch(`${server.address}api/search?q=${encodeURIComponent(text)}`)).json();
      if (!search.nearest) continue; // it is in a name after all
      assert.ok(search.nearest.length > 0, text);
      await page.fill('#search', '');
      await page.waitForSelector('#found', { state: 'hidden' });
      await page.fill('#search', text);
      await page.waitForFunction((first) => document.querySelector('#found li[aria-selected="true"] span')?.firstChild.textContent === first,
        search.nearest[0].name);
      assert.deepEqual(await offered(page), ['Nothing found. Did you mean', ...search.nearest.map((one) =>
        one.name + (one.entry ? `|entry word: ${one.entry}` : ''))], text);
      if (!frequent.some((one) => one.ui === search.nearest[0].ui)) continue;
      await page.press('#search', 'Enter');
      await page.locator('#legend strong').getByText(search.nearest[0].name, { exact: true }).waitFor();
    }
  });
  if (isStatic) await server.stop();
});

test('a search finds a descriptor by its entry words and says by which', async () => {
  await withPage('', async (page) => {
    for (const [text, expected] of [
      ['homo SAPIENS', ['Humans|entry word: Homo sapiens']],
      ['human beings', ['Male|entry word: Males, Human Beings']],
      ['human being', ['Humans|entry word: Human Being', 'Male|entry word: Males, Human Beings']],
      ['being, human', ['Humans|entry word: Human Being', 'Male|entry word: Males, Human Beings']], // in another order
      ['homo sap', ['Humans|entry word: Homo sapiens']],
    ]) {
      await page.fill('#search', text);
      await page.waitForFunction((lines) => [...document.querySelectorAll('#found li > span')]
        .map((found) => `${found.firstChild.textContent}|${found.querySelector('small')?.textContent ?? ''}`).join('\n') === lines, expected.join('\n'));
    }
    await page.press('#search', 'Enter');
    await page.locator('#legend strong').getByText('Humans', { exact: true }).waitFor();
  });
});

test('every descriptor is found: a folder shows where one weighs most whose plane it lacks', async () => {
  await withPage('', async (page) => {
    for (let k = 0; k < 5; ++k) {
      const i = random(descriptors.length);
      await page.fill('#search', descriptors[i].ui.toLowerCase());
      await page.locator('#found li:first-child span').getByText(descriptors[i].name, { exact: true }).waitFor();
      await page.press('#search', 'Enter');
      if (isStatic && !frequent.some(({ ui }) => ui === descriptors[i].ui)) await checkCard(page, ...heaviestCell(i));
      else await page.locator('#legend strong').getByText(descriptors[i].name, { exact: true }).waitFor();
    }
    await page.fill('#search', 'neoplasms breast'); // its words in another order
    await page.locator('#found li span').getByText('Breast Neoplasms', { exact: true }).waitFor();
  });
});

test('a search for a PMID shows its cell', async () => {
  await withPage('', async (page) => {
    for (let i = 0; i < 3; ++i) {
      const place = places[random(places.length)];
      await page.fill('#search', place.pmid);
      await page.locator('#found li', { hasText: `row ${place.row}, column ${place.column}` }).first().click();
      await checkCard(page, +place.row, +place.column);
    }
    await page.fill('#search', '4000000000');
    await page.locator('#found li', { hasText: 'PMID 4000000000 has no place here' }).waitFor();
  });
});

/** The cells whose column is that name; a region's, area's or continent's. */
const cellsOf = (column, name) => cells.filter((cell) => cell[column] === name);

async function checkRegion(page, column, name) {
  const inside = cellsOf(column, name);
  await page.locator('#card h2').getByText(name, { exact: true }).waitFor();
  const hits = inside.reduce((sum, cell) => sum + +cell.hits, 0);
  const kind = column[0].toUpperCase() + column.slice(1);
  await page.locator('#card', { hasText: `${kind} · ${hits.toLocaleString('en')} training articles in ${inside.length} cell` }).waitFor();
  const counts = {};
  for (const cell of inside) for (const [year, count] of yearsAt(+cell.row, +cell.column)) counts[year] = (counts[year] ?? 0) + count;
  await page.waitForFunction((bars) => document.querySelectorAll('#card .years rect').length === bars, Object.keys(counts).length);
  assert.deepEqual(await page.$$eval('#card .years rect title', (titles) => titles.map((title) => title.textContent)),
    Object.entries(counts).map(([year, count]) => `${year}: ${count}`));
  return inside;
}

test('a name of a region opens its card, and the address brings it back', async () => {
  const told = ['region', 'area', 'continent'];
  await withPage('#layer=region1', async (page) => {
    const unique = await page.evaluate(async () => {
      const all = await Promise.all([1, 2, 3].map((level) => api.labels(level, { top: 0, left: 0, bottom: 23, right: 23 })));
      return all.map((names) => names.map(({ name }) => name).filter((name, _, every) => every.filter((other) => other === name).length === 1));
    });
    for (const [level, column] of told.entries()) {
      await page.selectOption('#layer', `region${level + 1}`);
      await page.locator(`.name${level + 1}`).first().waitFor();
      await shown(page);
      const names = page.locator('.name[data-region]');
      const [name, index] = await page.evaluate(async ([known, one]) => {
        const found = [...document.querySelectorAll('.name[data-region]')];
        for (const [i, element] of found.entries()) {
          const { name } = await api.region(one, +element.dataset.region.split('.')[1]);
          if (known.includes(name)) return [name, i];
        }
        return null;
      }, [unique[level], level + 1]);
      await names.nth(index).click();
      const inside = await checkRegion(page, column, name);
      assert.match(page.url(), new RegExp(`&region=${level + 1}\\.\\d+$`));
      const card = await page.locator('#card').innerText();
      for (const other of told.slice(level + 1)) assert.ok(card.includes(`${other[0].toUpperCase()}${other.slice(1)} ${inside[0][other]}`), card);
      const parts = level === 0 ? [] : await page.$$eval('#card li button', (buttons) => buttons.map((button) => button.textContent));
      assert.deepEqual(new Set(parts), new Set(level === 0 ? [] : inside.map((cell) => cell[told[level - 1]])));
      await page.getByRole('button', { name: 'Show it on the map' }).click();
      await page.waitForURL((url) => url.hash.includes('&z='));
      await shown(page);
      const map = await page.locator('#map').boundingBox();
      for (const [row, at] of [[Math.min(...inside.map((cell) => +cell.row)), 'y'], [Math.min(...inside.map((cell) => +cell.column)), 'x']]) {
        const box = await boxOf(page, side, at === 'y' ? row : 0, at === 'x' ? row : 0);
        assert.ok(box[at] >= map[at] - 1, `${name} begins at ${box[at]}`);
      }
      const { hash } = new URL(page.url());
      await withPage(hash, async (again) => {
        await checkRegion(again, column, name);
        assert.equal(await again.locator('#card').innerText(), await page.locator('#card').innerText());
        const of = (text) => Object.fromEntries(new URLSearchParams(text.slice(1)));
        const [{ row, column: at, ...rest }, first] = [of(new URL(again.url()).hash), of(hash)];
        assert.deepEqual({ ...rest, row: first.row, column: first.column }, first);
        assert.ok(Math.abs(row - first.row) < 0.1 && Math.abs(at - first.column) < 0.1, `${row} ${at} ${hash}`); // a pixel or two
      });
      await page.press('#map', 'Home');
      await page.waitForURL((url) => !url.hash.includes('&z='));
    }
    // From a cell to its region and on to its continent, and back to nothing.
    const [row, column] = [random(side), random(side)];
    await page.evaluate((cell) => { location.hash = `#layer=hits&cell=${cell}`; }, `${row}.${column}`);
    await cardOf(page, row, column);
    for (const kind of ['region', 'continent']) {
      const names = page.locator('#card p button');
      const button = kind === 'region' ? names.first() : names.last();
      assert.equal(await button.innerText(), cellAt(row, column)[kind]);
      await button.click();
      await page.locator('#card', { hasText: `${kind[0].toUpperCase()}${kind.slice(1)} · ` }).waitFor();
    }
    await page.getByRole('button', { name: 'Close the card' }).click();
    assert.doesNotMatch(page.url(), /region=\d/);
  });
});

test('the address brings the whole view back', async () => {
  const seen = (page) => page.evaluate(() => ({
    address: location.hash,
    layer: document.querySelector('#layer').selectedOptions[0].textContent,
    legend: document.querySelector('#legend').textContent,
    card: document.querySelector('#card').textContent,
    names: [...document.querySelectorAll('.name')].map((name) => name.textContent).sort(),
    tiles: [...document.querySelectorAll('#map .leaflet-tile-loaded')]
      .map((tile) => [tile.getAttribute('src'), Math.round(tile.getBoundingClientRect().left), Math.round(tile.getBoundingClientRect().top)])
      .sort(),
  }));
  // Tiles that moved out of view are kept for a while, and names fade in.
  const settled = async (page) => {
    for (let last; ;) {
      await page.waitForTimeout(500);
      await shown(page);
      const now = await seen(page);
      if (JSON.stringify(now) === last) return now;
      last = JSON.stringify(now);
    }
  };
  const { ui } = frequent[random(frequent.length)];
  for (const hash of ['#layer=growth&z=5&row=7.25&column=9.5&cell=7.9', `#layer=${ui}&z=6&row=3&column=5`]) {
    await withPage(hash, async (page) => {
      const before = page.url();
      await page.focus('#map');
      await page.keyboard.press('ArrowRight');
      await page.waitForURL((url) => url.href !== before);
      const first = await settled(page);
      await withPage(first.address, async (again) => assert.deepEqual(await settled(again), first));
    });
  }
});

test('an address of a layer that is not there says so and shows another', async () => {
  await withPage('#layer=nothing&z=5&row=7.25&column=9.5', async (page) => {
    assert.equal(await page.locator('#notice').innerText(), 'There is no layer nothing');
    assert.equal(await page.locator('#legend strong').innerText(), 'Regions');
    assert.match(page.url(), /#layer=region1&z=5&row=7\.2\d&column=9\.5\d$/);
  });
});

test('the whole map comes back', async () => {
  await withPage('#layer=hits&z=6&row=3&column=5', async (page) => {
    for (const back of [() => page.getByRole('button', { name: 'The whole map' }).click(), () => page.press('#map', 'Home')]) {
      assert.match(page.url(), /&z=/);
      await back();
      await page.waitForURL((url) => !url.hash.includes('&z='));
      await shown(page);
      await page.getByRole('button', { name: 'Zoom in' }).click();
      await page.waitForURL((url) => url.hash.includes('&z='));
    }
  });
});

test('an address of another view changes an open page', async () => {
  await withPage('#layer=hits', async (page) => {
    await page.evaluate(() => { location.hash = '#layer=years&z=6&row=2&column=2&cell=2.2'; });
    await page.locator('#legend strong', { hasText: 'Mean year' }).waitFor();
    await checkCard(page, 2, 2);
  });
});
