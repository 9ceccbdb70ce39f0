// The page's atlas from scripts in the folder data, where there is no server: each hands its value to api.take(). Lists in
// them have the order that tools/serve/page_data.cpp gives them.
'use strict';

const api = {
  waiting: new Map(), // the name of a script: what takes its value
  kept: new Map(), // the name of a script: a promise of its value

  take(name, value) { this.waiting.get(name)(value); },

  /** The value of data/NAME.js. Squares of cells and lists of places are kept while few. */
  data(name) {
    if (!this.kept.has(name)) {
      this.kept.set(name, new Promise((resolve, reject) => {
        this.waiting.set(name, resolve);
        const script = make('script', { src: `data/${name}.js` });
        script.addEventListener('load', () => script.remove());
        script.addEventListener('error', () => {
          this.kept.delete(name);
          reject(new Error(`data/${name}.js is missing or cannot be read: copy the whole folder`));
        });
        document.head.append(script);
      }));
      const many = [...this.kept.keys()].filter((key) => key.includes('/'));
      if (many.length > 200) this.kept.delete(many[0]);
    }
    return this.kept.get(name);
  },

  atlas() { return this.data('atlas'); },

  async layer(id) {
    const { planes } = await this.atlas();
    if (!Object.hasOwn(planes, id)) throw new Error(`This folder has no plane of ${id}`);
    return planes[id];
  },

  tiles(id) { return `tile/${id}/{z}/{x}/{y}.png`; },

  /** The list of one cell. */
  async raw(row, column) {
    const { side, cells_edge: edge } = await this.atlas();
    const square = await this.data(`cells/${Math.floor(row / edge) * Math.ceil(side / edge) + Math.floor(column / edge)}`);
    const across = Math.min(edge, side - column + column % edge);
    return square[(row % edge) * across + column % edge];
  },

  /** PMIDs of a list of differences. */
  summed(differences) {
    let sum = 0;
    return differences.map((difference) => (sum += difference));
  },

  async parts(region) {
    const levels = await this.data('regions');
    return levels.map((regions, level) => {
      const number = region;
      const [name, , cells, hits, parent] = regions[number];
      region = parent;
      return { level: level + 1, number, name, cells, hits };
    });
  },

  async cell(row, column, page) {
    const [{ side, training_articles: all, recent_from, years_known }, names] = await Promise.all([this.atlas(), this.data('names')]);
    const [hits, vacant, dated, yearSum, recent, region, leading, differences] = await this.raw(row, column);
    const around = [];
    for (let r = Math.max(0, row - 1); r <= Math.min(side - 1, row + 1); ++r) {
      for (let c = Math.max(0, column - 1); c <= Math.min(side - 1, column + 1); ++c) {
        if (r !== row || c !== column) around.push([r, c]);
      }
    }
    const pmids = this.summed(differences);
    const shown = 50;
    return {
      row, column, hits, vacant: vacant !== 0, dated, recent, recent_from, years_known,
      ...(dated ? { mean_year: yearSum / dated } : {}),
      regions: await this.parts(region),
      leading: leading.flatMap((number, i) => {
        if (i % 2) return [];
        const [ui, name, articles, , plane] = names[number];
        const share = leading[i + 1] / 16383;
        return [{ ui, name, share, plane: plane !== 0, ...(articles ? { lift: share * all / articles } : {}) }];
      }),
      neighbours: await Promise.all(around.map(async ([r, c]) => {
        const other = await this.raw(r, c);
        return { row: r, column: c, hits: other[0], ...(other[6].length ? { name: names[other[6][0]][1] } : {}) };
      })),
      articles: pmids.length, page, pages: Math.ceil(pmids.length / shown), pmids: pmids.slice(page * shown, (page + 1) * shown),
    };
  },

  async brief(row, column) {
    const [[hits, vacant, , , , region, leading], names, levels] =
      await Promise.all([this.raw(row, column), this.data('names'), this.data('regions')]);
    return {
      row, column, hits, vacant: vacant !== 0, region: levels[0][region][0],
      leading: leading.filter((_, i) => i % 2 === 0).slice(0, 3).map((number) => names[number][1]),
    };
  },

  async years(row, column) {
    const [, , , , , , , pmids, years] = await this.raw(row, column);
    const by_year = [];
    for (let i = 0; i < years.length; i += 2) by_year.push([years[i], years[i + 1]]);
    return { articles: pmids.length, counted: pmids.length, by_year };
  },

  async region(level, number) {
    const [{ side, training_articles: all, recent_from, years_known }, levels, names, parts] = await Promise.all([
      this.atlas(), this.data('regions'), this.data('names'), this.data(`parts/${level}/${Math.floor(number / 64)}`)]);
    const named = (one, i) => ({ level: one, number: i, name: levels[one - 1][i][0], hits: levels[one - 1][i][3] });
    const [, centre, cells, hits] = levels[level - 1][number];
    const [top, left, bottom, right, dated, yearSum, recent, growth, leading] = parts[number % 64];
    const above = [];
    for (let [one, i] = [level, number]; one < 3; ++one) above.push(named(one + 1, i = levels[one - 1][i][4]));
    const below = level < 2 ? [] : levels[level - 2].map((_, i) => i).filter((i) => levels[level - 2][i][4] === number)
      .sort((a, b) => levels[level - 2][b][3] - levels[level - 2][a][3] || a - b);
    return {
      ...named(level, number), cells, row: Math.floor(centre / side), column: centre % side, window: { top, left, bottom, right }, above,
      below: { parts: below.length, largest: below.slice(0, 20).map((i) => named(level - 1, i)) },
      leading: leading.flatMap((i, k) => {
        if (k % 2) return [];
        const [ui, name, articles, , plane] = names[i];
        const share = leading[k + 1] / hits;
        return [{ ui, name, share, plane: plane !== 0, ...(articles ? { lift: share * all / articles } : {}) }];
      }),
      dated, recent, recent_from, years_known, ...(dated ? { mean_year: yearSum / dated } : {}), ...(growth >= 0 ? { growth } : {}),
    };
  },

  async regionYears(level, number) {
    const [, , , , , , , , , years] = (await this.data(`parts/${level}/${Math.floor(number / 64)}`))[number % 64];
    const by_year = [];
    for (let i = 0; i < years.length; i += 2) by_year.push([years[i], years[i + 1]]);
    return { ranges: 1, counted: 1, step: 1, by_year };
  },

  async labels(level, { top, left, bottom, right }, signal) {
    const { side } = await this.atlas();
    const found = [];
    if (level > 0) {
      for (const [number, [name, centre, cells, hits]] of (await this.data('regions'))[level - 1].entries()) {
        const [row, column] = [Math.floor(centre / side), centre % side];
        if (row >= top && row <= bottom && column >= left && column <= right) found.push({ row, column, level, number, name, cells, hits });
      }
    } else {
      const names = await this.data('names');
      const cells = [];
      for (let row = top; row <= bottom; ++row) for (let column = left; column <= right; ++column) cells.push([row, column]);
      for (const [row, column] of cells) {
        const [hits, , , , , , leading] = await this.raw(row, column);
        if (leading.length) found.push({ row, column, name: names[leading[0]][1], cells: 1, hits });
      }
    }
    signal?.throwIfAborted();
    return found.sort((a, b) => b.hits - a.hits).slice(0, 300);
  },

  /** [cell, region] of an article; undefined where it has none. */
  async place(pmid) {
    const { place_files: firsts } = await this.atlas();
    let file = 0; // as many begin at or before it
    for (let step = 2 ** Math.ceil(Math.log2(firsts.length + 1)); step >= 1; step /= 2) {
      if (file + step <= firsts.length && firsts[file + step - 1] <= pmid) file += step;
    }
    if (file === 0) return undefined;
    const found = await this.data(`places/${file - 1}`);
    found.of ??= new Map(this.summed(found[0]).map((key, i) => [key, [found[1][i], found[2][i]]]));
    return found.of.get(pmid);
  },

  async placePmids(pmids, signal) {
    const { side } = await this.atlas();
    const placed = [];
    for (const pmid of pmids) {
      signal?.throwIfAborted();
      const found = await this.place(pmid);
      if (found) {
        placed.push([pmid, Math.floor(found[0] / side), found[0] % side, ...(await this.parts(found[1])).map(({ number }) => number)]);
      }
    }
    return { done: pmids.length, placed };
  },

  async enrichment(level, counts) {
    const [{ side }, levels] = await Promise.all([this.atlas(), this.data('regions')]);
    const regions = levels[level - 1];
    const listed = regions.map(() => 0);
    for (const [region, articles] of counts) listed[region] += articles;
    const tests = testParts(listed, regions.map(([, , , hits]) => hits));
    const order = tests.map((_, i) => i).sort((a, b) => tests[a].q - tests[b].q || tests[a].p - tests[b].p || a - b);
    const told_below = 0.05;
    return {
      level, told_below, tested: regions.length,
      listed: listed.reduce((a, b) => a + b, 0), corpus: regions.reduce((sum, [, , , hits]) => sum + hits, 0),
      standing_out: tests.filter(({ q }) => q <= told_below).length,
      regions: order.slice(0, 100).map((number) => {
        const [name, centre] = regions[number];
        const { expected, p, q } = tests[number];
        return {
          number, name, row: Math.floor(centre / side), column: centre % side, observed: listed[number], expected, p, q,
          ...(expected > 0 ? { ratio: listed[number] / expected } : {}),
        };
      }),
    };
  },

  /** Of each descriptor its name and then its entry words in small letters, and the words as they are written. */
  async terms() {
    const [names, lists] = await Promise.all([this.data('names'), this.data('entry_words')]);
    const written = names.map(() => []);
    for (const [number, ...words] of lists) written[number] = words;
    return { written, folded: names.map(([, name], i) => [name, ...written[i]].map((term) => term.toLowerCase())) };
  },

  /** What may be meant by each of some names that are no descriptor's: at most three, a name before an entry word that is as near. */
  async nearest(texts) {
    const [{ side }, names, { written }] = await Promise.all([this.atlas(), this.data('names'), this.searched ??= this.terms()]);
    if (!this.spelt) {
      const terms = [];
      names.forEach(([, name, , cell, plane], i) => {
        if (plane || cell >= 0) terms.push([i, name], ...written[i].map((word) => [i, word, word]));
      });
      this.spelt = { terms, nearest: new NearestNames(terms.map(([, term]) => term)) };
    }
    const { terms, nearest } = this.spelt;
    return texts.map((text) => {
      const order = ([a, , entry], [b, , other]) => Boolean(entry) - Boolean(other) || names[b][2] - names[a][2];
      const chosen = new Map();
      for (const [i, , entry] of nearest.find(text).map((number) => terms[number]).sort(order)) {
        const [ui, name, articles, cell, plane] = names[i];
        if (chosen.size === 3 || chosen.has(name)) continue;
        chosen.set(name, { ui, name, articles, ...(entry ? { entry } : {}), ...(plane ? {} : { cell: [Math.floor(cell / side), cell % side] }) });
      }
      return [...chosen.values()];
    });
  },

  async search(text) {
    const wanted = text.trim().toLowerCase();
    const found = { descriptors: [], more: 0 };
    if (!wanted) return found;
    const { side } = await this.atlas();
    if (/^\d{1,10}$/.test(wanted) && +wanted > 0) {
      const place = await this.place(+wanted);
      found.article = { pmid: +wanted, found: Boolean(place), ...(place ? { row: Math.floor(place[0] / side), column: place[0] % side } : {}) };
    }
    const between = " ,-()'";
    const words = wanted.split(/[ ,\-()']+/).filter(Boolean);
    const begins = (name, word) => {
      for (let at = name.indexOf(word); at >= 0; at = name.indexOf(word, at + 1)) {
        if (at === 0 || between.includes(name[at - 1])) return true;
      }
      return false;
    };
    const distance = (name) => {
      if (name === wanted) return 0;
      let nearest = words.length > 1 && words.every((word) => begins(name, word)) ? 4 : 5;
      for (let at = name.indexOf(wanted); at >= 0; at = name.indexOf(wanted, at + 1)) {
        nearest = Math.min(nearest, at === 0 ? 1 : between.includes(name[at - 1]) ? 2 : 3);
      }
      return nearest;
    };
    this.searched ??= this.terms();
    const { written, folded } = await this.searched;
    const ranked = [];
    (await this.data('names')).forEach(([ui, name, articles, cell, plane], i) => {
      if (!plane && cell < 0) return; // it weighs nothing anywhere
      // A name comes before an entry word that is as near.
      let [rank, at] = [ui.toLowerCase() === wanted ? 0 : 10, 0];
      for (let k = 0; k < folded[i].length && rank > 0; ++k) {
        const other = 2 * distance(folded[i][k]) + (k > 0 ? 1 : 0);
        if (other < rank) [rank, at] = [other, k];
      }
      if (rank < 10) {
        ranked.push([rank, -articles, {
          ui, name, articles, ...(at > 0 ? { entry: written[i][at - 1] } : {}),
          ...(plane ? {} : { cell: [Math.floor(cell / side), cell % side] }),
        }]);
      }
    });
    ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    found.descriptors = ranked.slice(0, 20).map(([, , entry]) => entry);
    found.more = Math.max(0, ranked.length - 20);
    if (!ranked.length && !found.article) [found.nearest] = await this.nearest([wanted]);
    return found;
  },
};
