// Years: the articles' layer of a range of them, chosen by two numbers or played through.
'use strict';

class Years {
  /**
   * choose(range or null, stay): shows the articles of [first, last], resolved once they are there; stay: only where
   * articles are the layer already. changed(): the strip is.
   */
  constructor(choose, changed) {
    this.strip = document.getElementById('years');
    this.opener = document.getElementById('open-years');
    this.choose = choose;
    this.changed = changed;
    this.range = null;
    this.wanted = null; // a range to be shown once years are counted
    this.opener.hidden = !api.timeline;
    this.opener.addEventListener('click', () => this.open(this.strip.hidden));
    const number = (id, label) => [make('label', { for: id }, label), make('input', {
      id, type: 'number', min: '0', max: '9999', onchange: () => this.typed(),
    })];
    this.words = make('p', { role: 'status' });
    this.player = make('button', { 'aria-pressed': 'false', onclick: () => (this.playing ? this.halt() : this.play()) }, 'Play');
    this.controls = make('div', { class: 'buttons' }, ...number('year-from', 'From'), ...number('year-to', 'to'), this.player,
      make('button', { onclick: () => this.take(null) }, 'All years'));
    this.strip.replaceChildren(this.controls, this.words);
    [this.from, this.to] = this.strip.querySelectorAll('input');
  }

  async open(open) {
    this.strip.hidden = !open;
    this.opener.setAttribute('aria-expanded', String(open));
    if (!open) await this.take(null);
    this.changed();
    if (!open || this.known) return;
    this.controls.inert = true;
    try {
      for (let known; !this.known && !this.strip.hidden;) {
        known = await api.timeline();
        if (known.counted === known.ranges) this.known = known;
        else this.words.textContent = `Counting articles by year: ${Math.round(100 * known.counted / known.ranges)} %`;
      }
      if (this.known) await this.ready();
    } catch (error) {
      this.words.textContent = error.message;
    }
  }

  async ready() {
    const { articles, step, ranges } = this.known;
    if (!ranges || !articles.length) {
      this.words.textContent = ranges ? 'No article has a year.'
        : 'An atlas keeps how many articles are recent, not of which year each is: start somatlas serve with --store too.';
      return;
    }
    this.controls.inert = false;
    this.first = articles[0][0];
    this.last = articles[articles.length - 1][0] + step - 1;
    for (const input of [this.from, this.to]) Object.assign(input, { min: this.first, max: this.last, step: 1 });
    this.say();
    const { wanted } = this;
    this.wanted = null;
    if (wanted) await this.take(this.fitted(...wanted), true);
  }

  say() {
    const { articles, step, undated } = this.known;
    [this.from.value, this.to.value] = this.range ?? [this.first, this.last];
    const [first, last] = this.range ?? [this.first, this.last];
    const dated = articles.filter(([year]) => year >= first && year <= last).reduce((sum, [, count]) => sum + count, 0);
    this.words.textContent = `${grouped(dated)} articles of ${first} to ${last}` +
      (undated ? `; ${grouped(undated)} more have no year and are left out` : '') +
      (step > 1 ? `; on a map of this size in steps of ${step} years (a larger --cache gives shorter ones)` : '') +
      '. The layer of articles follows the years, on one scale for all; the other layers are of all years.';
  }

  /** Whole steps, the first before the last, in what there is. */
  fitted(first, last) {
    const { step } = this.known;
    const within = (year) => Math.max(this.first, Math.min(this.last, Math.round(year)));
    const [a, b] = [within(Math.min(first, last)), within(Math.max(first, last))];
    return [a - a % step, b - b % step + step - 1];
  }

  typed() {
    this.halt();
    const [first, last] = [+this.from.value, +this.to.value];
    if (this.from.value && this.to.value) this.take(this.fitted(first, last));
  }

  async take(range, stay = !range) {
    if (!range) this.halt();
    const same = String(range) === String(this.range);
    this.range = range;
    if (this.known?.articles.length) this.say();
    if (!same) await this.choose(range, stay);
  }

  /** A window as wide as the range, from the first year on to the last; of all years one of five. */
  async play() {
    const { step } = this.known;
    const whole = !this.range || (this.range[0] <= this.first && this.range[1] >= this.last);
    const wide = Math.max(step, whole ? 5 : this.range[1] - this.range[0] + 1);
    const mine = this.playing = {};
    this.player.textContent = 'Stop';
    this.player.setAttribute('aria-pressed', 'true');
    this.words.removeAttribute('role');
    let from = whole || this.range[1] >= this.last ? this.first : this.range[0];
    for (; this.playing === mine; from += step) {
      const began = performance.now();
      await this.take(this.fitted(from, from + wide - 1));
      await new Promise((go) => { setTimeout(go, Math.max(0, 700 - (performance.now() - began))); });
      if (from + wide > this.last) break;
    }
    if (this.playing === mine) this.halt();
  }

  halt() {
    if (!this.playing) return;
    this.playing = null;
    this.player.textContent = 'Play';
    this.player.setAttribute('aria-pressed', 'false');
    this.words.setAttribute('role', 'status');
  }

  kept() {
    return this.strip.hidden ? {} : { years: (this.range ?? this.wanted)?.join('-') ?? 'all' };
  }

  /** Goes on by itself where years are still to be counted. */
  restore(view) {
    const asked = /^(\d{4})-(\d{4})$/.exec(view.get('years') ?? '');
    this.wanted = asked ? [+asked[1], +asked[2]] : null;
    if (asked && this.known && !this.strip.hidden) this.ready();
    else if (!api.timeline && view.has('years')) complain('A folder has no layers of years: somatlas serve has them');
    else if (api.timeline && view.has('years') === this.strip.hidden) this.open(view.has('years'));
  }
}
