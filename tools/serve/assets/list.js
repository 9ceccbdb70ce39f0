// The panel of somebody's own list: takes it, says what was found, and which regions it favours.
'use strict';

const testColumns = ['Here', 'Expected', 'Ratio', 'Adj. p']; // behind the name

class OwnList {
  /** go(level, number): shows a region. changed(): the panel's state is another. */
  constructor(map, atlas, go, changed) {
    this.panel = document.getElementById('list');
    this.opener = document.getElementById('open-list');
    this.map = new ListMap(map, atlas.side);
    this.atlas = atlas;
    this.go = go;
    this.changed = changed;
    this.shown = 'points';
    this.level = 1;
    this.fill();
    this.opener.hidden = !api.placePmids;
    this.opener.addEventListener('click', () => this.open(this.panel.hidden));
    document.addEventListener('dragover', (event) => event.preventDefault());
    document.addEventListener('drop', (event) => this.drop(event));
  }

  fill() {
    this.text = make('textarea', { id: 'list-text', rows: 5, spellcheck: 'false', autocomplete: 'off', placeholder: `31452104\n28846075${api.placeLines ? '\nor: Humans; Diabetes Mellitus, Type 2; Insulin' : ''}` });
    this.file = make('input', { id: 'list-file', type: 'file', class: 'unseen', accept: '.xml,.nbib,.txt,.csv,.gz', onchange: () => this.file.files[0] && this.take(this.file.files[0]) });
    this.state = make('p', { role: 'status' });
    this.results = make('div', {});
    this.stop = make('button', { onclick: () => this.clear() }, 'Clear');
    this.panel.replaceChildren(
      make('button', { class: 'close', 'aria-label': 'Close the list', onclick: () => this.open(false) }, '×'),
      make('h2', { tabindex: '-1' }, 'Your own list'),
      make('label', { for: 'list-text' }, api.placeLines ? 'PMIDs, or one article per line: its MeSH descriptors with ; between them' : 'PMIDs'),
      this.text,
      make('div', { class: 'buttons' },
        make('button', { class: 'main', onclick: () => this.take(this.text.value) }, 'Show on the map'),
        this.file, make('label', { for: 'list-file', class: 'button' }, 'Choose a file'), this.stop),
      make('p', {}, 'Or drop a file anywhere: what PubMed saves as PubMed (.nbib or .txt), XML, CSV or PMIDs. ' +
        `It is read in this browser; ${api.placeLines ? 'PMIDs and descriptors alone' : 'PMIDs alone'} are looked up, and nothing is kept.`),
      this.state, this.results);
  }

  open(open, focus = true) {
    this.panel.hidden = !open;
    this.opener.setAttribute('aria-expanded', String(open));
    if (focus) (open ? this.panel.querySelector('h2') : this.opener).focus({ preventScroll: true });
    this.changed();
  }

  /** What an address keeps of it: never the list. */
  kept() {
    return {
      ...(this.panel.hidden ? {} : { list: 'open' }), ...(this.level > 1 ? { by: this.level } : {}),
      ...(this.shown !== 'points' ? { show: this.shown } : {}),
    };
  }

  restore(view) {
    this.level = ['2', '3'].includes(view.get('by')) ? +view.get('by') : 1;
    this.shown = ['density', 'both'].includes(view.get('show')) ? view.get('show') : 'points';
    this.open(view.get('list') === 'open', false);
    if (this.found) {
      this.report();
      this.map.show(this.found.cells, this.shown);
    }
  }

  drop(event) {
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    const text = event.dataTransfer?.getData('text/plain');
    if (!file && !text) return;
    this.open(true);
    this.take(file ?? text);
  }

  clear() {
    this.running?.abort();
    this.found = null;
    this.map.clear();
    this.results.replaceChildren();
    this.text.value = '';
    this.file.value = '';
    this.state.textContent = 'No list is shown.';
  }

  async take(source) {
    this.running?.abort();
    this.running = new AbortController();
    const { signal } = this.running;
    this.results.replaceChildren();
    this.map.clear();
    this.found = null;
    this.file.value = '';
    const progress = (text) => { if (!signal.aborted) this.state.textContent = text; };
    try {
      progress('Reading …');
      const read = await readList(source, signal, (letters) => progress(`Reading … ${grouped(Math.round(letters / 1e6))} million letters`));
      if (!read.articles.length) throw new Error('There is no PMID and no descriptor in it.');
      const found = await placeList(read.articles, signal, (done) => progress(`Looking up … ${grouped(done)} of ${grouped(read.articles.length)}`));
      if (signal.aborted) return;
      found.meant = found.unknown.size ? await api.nearest([...found.unknown.keys()].map((name) => name.slice(0, 210)), signal) : [];
      this.found = found;
      this.state.textContent = this.sentence(read);
      this.report();
      this.map.show(found.cells, this.shown);
    } catch (error) {
      if (!signal.aborted) this.state.textContent = error.message;
    }
  }

  sentence(read) {
    const { byPmid, byLine, missing, cells } = this.found;
    const placed = byPmid + byLine;
    const parts = [`${grouped(placed)} of ${grouped(read.articles.length)} articles lie on the map, in ${grouped(cells.size)} ${cells.size === 1 ? 'cell' : 'cells'}` +
      (byLine ? ` (${grouped(byPmid)} by PMID, ${grouped(byLine)} by their descriptors)` : '')];
    parts.push(missing.length ? `${grouped(missing.length)} ${missing.length === 1 ? 'was' : 'were'} not found` : 'all were found');
    if (read.repeated) parts.push(`${grouped(read.repeated)} stood there more than once`);
    if (read.unusable) parts.push(`${grouped(read.unusable)} had neither a PMID nor descriptors, the first in line ${read.firstUnusable}`);
    if (read.full) {
      parts.push(`the list goes on: no more than ${grouped(listLimits.articles)} articles are taken, ` +
        `${grouped(listLimits.lines)} of them by descriptors alone`);
    }
    return `${parts.join('; ')}.`;
  }

  report() {
    const choice = (label, value, options, take) => {
      const select = make('select', { onchange: () => take(select.value) }, ...options.map(([id, text]) => make('option', { value: id }, text)));
      select.value = value;
      return make('label', {}, `${label} `, select);
    };
    const { missing, unknown, meant } = this.found;
    const proposed = (i) => (meant[i].length ? `: did you mean ${meant[i].map(({ name, entry }) =>
      `“${name}”${entry ? ` (entry word “${entry}”)` : ''}`).join(' or ')}?` : '');
    const named = missing.slice(0, 50).map(({ pmid, line, from }) => `${pmid || line.slice(0, 60)} (line ${from})`);
    this.table = make('div', {});
    this.results.replaceChildren(
      make('div', { class: 'buttons' },
        choice('Show', this.shown, [['points', 'points'], ['density', 'density'], ['both', 'both']], (shown) => {
          this.shown = shown;
          this.map.show(this.found.cells, shown);
          this.changed();
        })),
      ...(missing.length ? [make('details', {}, make('summary', {}, `Not found (${grouped(missing.length)})`),
        make('p', { class: 'pmids' }, named.join(', ') + (missing.length > named.length ? ', …' : '')))] : []),
      ...(unknown.size ? [make('h3', {}, 'Not known as descriptors'),
        make('ul', {}, ...[...unknown].map(([name, line], i) => make('li', {}, `${name.slice(0, 80)} (line ${line})${proposed(i)}`)))] : []),
      ...(this.found.cells.size ? [make('h3', {}, 'Against all articles of the atlas'), choice('By', String(this.level), [['1', 'regions'], ['2', 'areas'], ['3', 'continents']], (level) => {
        this.level = +level;
        this.test();
        this.changed();
      }), this.table] : []));
    if (this.found.cells.size) this.test();
  }

  async test() {
    const counts = new Map();
    for (const { parts, articles } of this.found.cells.values()) {
      const part = parts[this.level - 1];
      counts.set(part, (counts.get(part) ?? 0) + articles.length);
    }
    const level = this.level;
    try {
      const found = await api.enrichment(level, [...counts], this.running.signal);
      if (level === this.level) this.table.replaceChildren(...this.tested(found));
    } catch (error) {
      if (error.name !== 'AbortError') this.table.replaceChildren(make('p', {}, error.message));
    }
  }

  /** The whole of a table that shows its first rows, with exact numbers. */
  save({ level, regions }) {
    const field = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : String(value));
    const rows = [[partNames[level - 1], ...testColumns],
      ...regions.map(({ name, observed, expected, ratio, q }) => [name, observed, expected, ratio ?? '', q])];
    const text = rows.map((row) => `${row.map(field).join()}\r\n`).join('');
    make('a', { href: `data:text/csv;charset=utf-8,${encodeURIComponent(text)}`, download: `${partNames[level - 1].toLowerCase()}s.csv` }).click();
  }

  tested(found) {
    const rounded = (number) => (number >= 100 ? grouped(Math.round(number)) : number.toPrecision(number < 0.1 ? 1 : 2));
    const rows = found.regions.filter(({ q }, i) => q <= found.told_below || i < 10);
    return [
      make('p', {}, `${grouped(found.standing_out)} of ${grouped(found.tested)} stand out (adjusted p at most ${found.told_below}).`),
      make('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': 'Test table' }, make('table', {},
        make('thead', {}, make('tr', {}, make('th', { scope: 'col' }, partNames[found.level - 1]),
          ...testColumns.map((text) => make('th', { class: 'number', scope: 'col' }, text)))),
        make('tbody', {}, ...rows.map((row) => make('tr', { class: row.q <= found.told_below ? 'told' : 'quiet' },
          make('td', {}, make('button', { class: 'link', title: 'Show its card', onclick: () => this.go(found.level, row.number) }, row.name)),
          make('td', { class: 'number' }, grouped(row.observed)),
          make('td', { class: 'number' }, rounded(row.expected)),
          make('td', { class: 'number' }, row.ratio === undefined ? '–' : `${row.ratio > 1 ? '▲' : '▼'} ${rounded(row.ratio)}`),
          make('td', { class: 'number' }, row.q < 0.0001 ? (row.q > 1e-300 ? row.q.toExponential(0) : '< 1e-300') : row.q.toFixed(4))))))),
      make('div', { class: 'buttons' }, make('button', { onclick: () => this.save(found) },
        `Save ${found.regions.length < found.tested ? `${found.regions.length} of ` : ''}${grouped(found.tested)} rows as CSV`)),
      make('p', { class: 'method' }, `Expected: as many as if the list were spread like the ${grouped(found.corpus)} articles that the map was made of. ` +
        `p: two-sided exact binomial test, adjusted for ${grouped(found.tested)} parts of the map (Benjamini and Hochberg).`),
    ];
  }

  /** Articles of the list in a cell: PMIDs or lines. */
  at(row, column) {
    return this.found?.cells.get(`${row},${column}`)?.articles ?? [];
  }
}
