// The card of one cell.
'use strict';

class Card {
  /** show(row, column) and plane(ui, name): what its buttons do. listed(row, column): articles of one's own list there. */
  constructor(show, plane, closed, listed) {
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
    this.element.hidden = false;
    this.element.scrollTop = 0;
    this.element.replaceChildren(
      make('button', { class: 'close', 'aria-label': 'Close the card', onclick: () => this.close() }, '×'),
      make('h2', { tabindex: '-1' }, cell.vacant ? 'A vacant cell' : first ? first.name : 'A cell with no leading descriptor'),
      make('p', {}, `Row ${cell.row}, column ${cell.column} · ${grouped(cell.hits)} training articles`),
      make('p', {}, ...cell.regions.flatMap(({ level, name }) => [
        ...(level > 1 ? [make('br')] : []), make('small', {}, `${['Region', 'Area', 'Continent'][level - 1]} `), name])),
      ...(cell.leading.length ? [make('h3', {}, 'Leading descriptors'), this.leading(cell),
        make('p', { class: 'method' }, 'Share: of the articles around the cell. Lift: that over their share of all articles.')] : []),
      ...(cell.mean_year ? [make('h3', {}, 'Years'), this.years(cell, mine)] : []),
      ...this.own(cell),
      make('h3', {}, `Articles placed here (${grouped(cell.articles)})`), this.articles(cell),
      make('h3', {}, 'Around it'), this.around(cell));
    tell(`Cell in row ${cell.row}, column ${cell.column}: ${first ? first.name : 'no leading descriptor'}, ${cell.hits} articles`);
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

  years(cell, mine) {
    const box = make('div', {}, make('p', {},
      `Mean ${cell.mean_year.toFixed(1)} of ${grouped(cell.dated)} dated articles` +
      (cell.recent_from ? `; ${grouped(cell.recent)} from ${cell.recent_from} on` : '')));
    if (cell.years_known) this.chart(box, cell, mine);
    return box;
  }

  // The server counts some ranges of PMIDs at a time.
  async chart(box, cell, mine) {
    for (let tries = 0; tries < 40 && this.at === mine; ++tries) {
      const counts = await api.years(cell.row, cell.column);
      if (counts.by_year.length) box.replaceChildren(box.firstChild, this.bars(counts));
      if (counts.counted === counts.articles) return;
    }
  }

  bars({ by_year: years, counted, articles }) {
    const from = years[0][0];
    const to = years[years.length - 1][0];
    const most = Math.max(...years.map(([, count]) => count));
    const step = 300 / (to - from + 1);
    const words = `Articles by year, ${from} to ${to}, at most ${most} a year` +
      (counted < articles ? ` (of ${counted} of ${articles})` : '');
    return make('svg', { class: 'years', viewBox: '0 0 300 90', role: 'img', 'aria-label': words },
      ...years.map(([year, count]) => make('rect', {
        x: (year - from) * step, width: Math.max(1, Math.min(24, step - 1)),
        y: 74 - 68 * count / most, height: 68 * count / most,
      }, make('title', {}, `${year}: ${count}`))),
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
