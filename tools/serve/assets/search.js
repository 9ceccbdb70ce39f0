// Search as you type: a combobox whose list follows the words.
'use strict';

class Search {
  constructor(plane, show) {
    this.input = document.getElementById('search');
    this.list = document.getElementById('found');
    this.plane = plane;
    this.show = show;
    this.choices = [];
    this.chosen = -1;
    this.input.addEventListener('input', () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(), 80);
    });
    this.input.addEventListener('keydown', (event) => this.key(event));
    this.input.addEventListener('blur', () => setTimeout(() => this.hide(), 200));
  }

  hide() {
    this.list.hidden = true;
    this.input.setAttribute('aria-expanded', 'false');
    this.input.removeAttribute('aria-activedescendant');
  }

  async look() {
    const text = this.input.value.trim();
    if (!text) return this.hide();
    const found = await api.search(text);
    if (text !== this.input.value.trim()) return;
    const nearest = found.nearest ?? [];
    this.choices = [...found.descriptors, ...nearest].map((entry) => ({
      text: entry.name, by: entry.entry, more: `${grouped(entry.articles)} articles`,
      take: () => (entry.cell ? this.show(...entry.cell, true) : this.plane(entry.ui)), // a folder has not all planes
    }));
    if (found.article) {
      this.choices.unshift(found.article.found
        ? { text: `PMID ${found.article.pmid}`, more: `row ${found.article.row}, column ${found.article.column}`,
            take: () => this.show(found.article.row, found.article.column, true) }
        : { text: `PMID ${found.article.pmid} has no place here`, more: '', take: () => {} });
    }
    if (!this.choices.length || nearest.length) {
      this.choices.unshift({ text: nearest.length ? 'Nothing found. Did you mean' : 'Nothing found', more: '', take: () => {} });
    }
    this.list.replaceChildren(...this.choices.map((choice, i) => make('li', {
      id: `found${i}`, role: 'option', 'aria-selected': 'false', onmousedown: (event) => { event.preventDefault(); this.take(i); },
    }, make('span', {}, choice.text, ...(choice.by ? [make('small', {}, `entry word: ${choice.by}`)] : [])),
    make('small', {}, choice.more))));
    this.list.hidden = false;
    this.input.setAttribute('aria-expanded', 'true');
    this.choose(nearest.length ? 1 : 0);
    tell(nearest.length ? `Nothing found. Did you mean ${nearest.map(({ name }) => name).join(' or ')}?`
      : `${found.descriptors.length + (found.more ?? 0)} descriptors found`);
  }

  choose(number) {
    this.chosen = (number + this.choices.length) % this.choices.length;
    [...this.list.children].forEach((item, i) => item.setAttribute('aria-selected', String(i === this.chosen)));
    this.input.setAttribute('aria-activedescendant', `found${this.chosen}`);
    this.list.children[this.chosen].scrollIntoView({ block: 'nearest' });
  }

  take(number) {
    this.hide();
    this.choices[number].take();
  }

  key(event) {
    if (event.key === 'Escape') this.hide();
    if (this.list.hidden) return;
    if (event.key === 'ArrowDown') this.choose(this.chosen + 1);
    else if (event.key === 'ArrowUp') this.choose(this.chosen - 1);
    else if (event.key === 'Enter') this.take(this.chosen);
    else return;
    event.preventDefault();
  }
}
