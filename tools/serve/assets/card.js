// The card of one cell or region.
'use strict';

const partNames = ['Region', 'Area', 'Continent'];

class Card {
  /**
   * show(row, column), plane(ui), region(level, number) and whole(window): what its buttons do. listed(row, column): articles of
   * one's own list there.
   */
  constructor({ show, plane, region, whole, closed, listed }) {
    this.region = region;
    this.whole = whole;
    this.listed = listed;
    this.element = document.getElementById('card');
    this.show = show;
    this.plane = plane;
    this.closed = closed;
  }

  close() {
    this.element.hidden = true;
    this.element.replaceChildren();
    this.at = null;
    this.closed();
  }

  async open(row, column, page = 0) {
    const mine = this.at = `${row},${column}`;
    const cell = await api.cell(row, column, page);
    if (this.at !== mine) return;
    const first = cell.leading[0];
    this.fill('Cell', cell.vacant ? 'A vacant cell' : first ? first.name : 'A cell with no leading descriptor',
      make('p', {}, `Row ${cell.row}, column ${cell.column} · ${grouped(cell.hits)} training articles`),
      this.parts(cell.regions),
      ...(cell.leading.length ? [make('h3', {}, 'Leading descriptors'), this.leading(cell),
        make('p', { class: 'method' }, 'Share: of the articles around the cell. Lift: that over their share of all articles.')] : []),
      ...(cell.mean_year ? [make('h3', {}, 'Years'), this.years(cell, mine, () => api.years(row, column))] : []),
      ...this.own(cell),
      make('h3', {}, `Articles placed here (${grouped(cell.articles)})`), this.articles(cell),
      make('h3', {}, 'Around it'), this.around(cell));
    tell(`Cell in row ${cell.row}, column ${cell.column}: ${first ? first.name : 'no leading descriptor'}, ${cell.hits} articles`);
  }

  /** Resolves to the region's window of cells. */
  async openRegion(level, number) {
    const mine = this.at = `region ${level}.${number}`;
    const region = await api.region(level, number);
    if (this.at !== mine) return undefined;
    const kind = partNames[level - 1];
    this.fill(kind, region.name,
      make('p', {}, `${kind} · ${grouped(region.hits)} training articles in ${grouped(region.cells)} ${region.cells === 1 ? 'cell' : 'cells'}`),
      ...(region.above.length ? [this.parts(region.above)] : []),
      make('div', { class: 'buttons' }, make('button', { onclick: () => this.whole(region.window) }, 'Show it on the map')),
      ...(region.leading.length ? [make('h3', {}, 'Leading descriptors'), this.leading(region),
        make('p', { class: 'method' }, 'Share: of the articles here. Lift: that over their share of all articles.')] : []),
      ...(region.mean_year ? [make('h3', {}, 'Years'), this.years(region, mine, () => api.regionYears(level, number))] : []),
      ...(region.below.parts ? [make('h3', {}, `Its ${['regions', 'areas'][level - 2]} (${grouped(region.below.parts)})`),
        make('ul', {}, ...region.below.largest.map((part) => make('li', {}, this.part(part), make('small', {}, ` ${grouped(part.hits)} articles`))),
          region.below.largest.length < region.below.parts ? make('li', {}, '…') : null)] : []));
    tell(`${kind} ${region.name}, ${region.hits} articles`);
    return region.window;
  }

  fill(kind, heading, ...children) {
    this.element.hidden = false;
    this.element.scrollTop = 0;
    this.element.setAttribute('aria-label', kind);
    this.element.replaceChildren(
      make('button', { class: 'close', 'aria-label': 'Close the card', onclick: () => this.close() }, '×'),
      make('h2', { tabindex: '-1' }, heading), ...children);
  }

  part({ level, number, name }) {
    return make('button', { class: 'link', title: 'Show its card', onclick: () => this.region(level, number) }, name);
  }

  parts(parts) {
    return make('p', {}, ...parts.flatMap((part, i) => [
      ...(i > 0 ? [make('br')] : []), make('small', {}, `${partNames[part.level - 1]} `), this.part(part)]));
  }

  leading(cell) {
    return make('table', {},
      make('thead', {}, make('tr', {}, make('th', {}, 'Descriptor'),
        make('th', { class: 'number' }, 'Share'), make('th', { class: 'number' }, 'Lift'))),
      make('tbody', {}, ...cell.leading.map((entry) => make('tr', {},
        make('td', {}, entry.plane === false ? entry.name
          : make('button', { class: 'link', title: 'Show its plane', onclick: () => this.plane(entry.ui) }, entry.name)),
        make('td', { class: 'number' }, `${(100 * entry.share).toFixed(0)} %`),
        make('td', { class: 'number' }, entry.lift ? `× ${entry.lift < 10 ? entry.lift.toFixed(1) : Math.round(entry.lift)}` : '–')))));
  }

  /** ask(): articles by year, as far as they are counted. */
  years(part, mine, ask) {
    const box = make('div', {}, make('p', {},
      `Mean ${part.mean_year.toFixed(1)} of ${grouped(part.dated)} dated articles` +
      (part.recent_from ? `; ${grouped(part.recent)} from ${part.recent_from} on` : '')),
    ...('growth' in part && part.recent_from
      ? [make('p', {}, `Growth × ${part.growth.toFixed(2)}`, make('small', {}, ': the share of these, over that of all articles of the map'))] : []));
    if (part.years_known) this.chart(box, mine, ask).catch((error) => box.append(make('p', {}, error.message)));
    return box;
  }

  // The server counts some ranges of PMIDs at a time: of a cell those that it has articles in, of a region all.
  async chart(box, mine, ask) {
    const said = [...box.children];
    for (let tries = 0; tries < 1000 && this.at === mine; ++tries) {
      const counts = await ask();
      const { counted, ranges, articles } = counts;
      const whole = counted === (ranges ?? articles);
      if (counts.by_year.length) box.replaceChildren(...said, this.bars(counts));
      else if (ranges && !whole) box.replaceChildren(...said, make('p', {}, `Counting articles by year: ${Math.round(100 * counted / ranges)} %`));
      else box.replaceChildren(...said);
      if (whole || (articles && tries === 40)) return;
    }
  }

  bars({ by_year: years, counted, articles, step: wide = 1 }) {
    const from = years[0][0];
    const to = years[years.length - 1][0] + wide - 1;
    const most = Math.max(...years.map(([, count]) => count));
    const step = 300 / (to - from + 1);
    const words = `Articles by year, ${from} to ${to}, at most ${most} ${wide > 1 ? `in ${wide} years` : 'a year'}` +
      (counted < articles ? ` (of ${counted} of ${articles})` : '');
    return make('svg', { class: 'years', viewBox: '0 0 300 90', role: 'img', 'aria-label': words },
      ...years.map(([year, count]) => make('rect', {
        x: (year - from) * step, width: Math.max(1, Math.min(24, step * wide - 1)),
        y: 74 - 68 * count / most, height: 68 * count / most,
      }, make('title', {}, `${wide > 1 ? `${year} to ${year + wide - 1}` : year}: ${count}`))),
      make('text', { x: 0, y: 88 }, String(from)),
      ...(to > from ? [make('text', { x: 300, y: 88, 'text-anchor': 'end' }, String(to))] : []));
  }

  article(pmid) {
    return make('a', {
      href: `https://pubmed.ncbi.nlm.nih.gov/${pmid}/`, target: '_blank', rel: 'noopener noreferrer',
    }, String(pmid));
  }

  own({ row, column }) {
    const listed = this.listed(row, column);
    if (!listed.length) return [];
    return [make('h3', {}, `Of your list (${grouped(listed.length)})`),
      make('div', { class: 'pmids' }, ...listed.slice(0, 100).map((one) => (typeof one === 'number' ? this.article(one)
        : make('span', {}, one.slice(0, 80)))), listed.length > 100 ? '…' : null)];
  }

  articles(cell) {
    if (!cell.articles) return make('p', {}, 'None lies here.');
    const turn = (page, text) => make('button', {
      onclick: () => this.open(cell.row, cell.column, page),
      ...(page < 0 || page >= cell.pages ? { disabled: '' } : {}),
    }, text);
    return make('div', {},
      make('div', { class: 'pmids' }, ...cell.pmids.map((pmid) => this.article(pmid))),
      make('p', {}, make('a', {
        href: `https://pubmed.ncbi.nlm.nih.gov/?term=${cell.pmids.join('+')}`, target: '_blank', rel: 'noopener noreferrer',
      }, cell.pmids.length > 1 ? 'These in PubMed' : 'This in PubMed')),
      cell.pages > 1 ? make('p', {}, turn(cell.page - 1, 'Before'), ` page ${cell.page + 1} of ${cell.pages} `,
        turn(cell.page + 1, 'Next')) : null);
  }

  around(cell) {
    const grid = make('div', { class: 'around' });
    for (let row = cell.row - 1; row <= cell.row + 1; ++row) {
      for (let column = cell.column - 1; column <= cell.column + 1; ++column) {
        const found = cell.neighbours.find((other) => other.row === row && other.column === column);
        const here = row === cell.row && column === cell.column;
        grid.append(found ? make('button', {
          onclick: () => this.show(row, column), title: `row ${row}, column ${column}: ${found.hits} articles`,
        }, found.name ?? 'vacant') : make('span', {}, here ? 'this cell' : 'edge'));
      }
    }
    return grid;
  }
}
