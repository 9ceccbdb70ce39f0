// A cell in few words beside the pointer; with the keyboard, of the cell in the middle.
'use strict';

class Hover {
  /** listed(row, column): articles of one's own list there. */
  constructor(map, atlas, listed) {
    this.map = map;
    this.side = atlas.side;
    this.listed = listed;
    this.box = document.getElementById('brief');
    this.known = new Map(); // the cells asked for last
    if (matchMedia('(hover: hover)').matches) {
      // What moves under a pointer that rests where it clicked is not asked for.
      const place = ({ clientX, clientY }) => `${clientX},${clientY}`;
      let clicked;
      map.on('click', ({ originalEvent }) => { clicked = place(originalEvent); });
      map.on('mousemove', ({ latlng, containerPoint, originalEvent }) => {
        if (place(originalEvent) === clicked) return;
        clicked = null;
        this.at(latlng, containerPoint);
      });
    }
    map.on('mouseout movestart zoomstart click', () => this.hide());
    map.on('moveend', () => this.middle());
    const container = map.getContainer();
    container.addEventListener('focus', () => this.middle());
    container.addEventListener('blur', () => this.hide());
    document.addEventListener('keydown', (event) => { if (event.key === 'Escape') this.hide(); });
  }

  hide() {
    this.box.hidden = true;
    this.cell = null;
    clearTimeout(this.timer);
    this.running?.abort();
  }

  async middle() {
    if (!this.map.getContainer().matches(':focus-visible')) return;
    const words = await this.at(this.map.getCenter(), this.map.getSize().divideBy(2), 0);
    if (words) tell(words);
  }

  /** Returns what it says, or nothing where the pointer has gone on. */
  async at({ lat, lng }, point, wait = 50) {
    const row = Math.floor(lat);
    const column = Math.floor(lng);
    if (row < 0 || column < 0 || row >= this.side || column >= this.side) return this.hide();
    const cell = `${row},${column}`;
    this.point = point;
    if (this.cell === cell) return this.place();
    this.hide();
    this.cell = cell;
    if (!this.known.has(cell) && wait) await new Promise((go) => { this.timer = setTimeout(go, wait); });
    if (this.cell !== cell) return undefined;
    let brief;
    try {
      brief = await this.brief(cell, row, column);
    } catch {
      return undefined;
    }
    if (this.cell !== cell) return undefined;
    const listed = this.listed(row, column).length;
    const lines = [
      brief.vacant ? 'A vacant cell' : brief.region,
      `Row ${row}, column ${column} · ${grouped(brief.hits)} articles${listed ? ` · ${grouped(listed)} of your list` : ''}`,
      ...(brief.leading.length ? [brief.leading.join(' · ')] : []),
    ];
    this.box.replaceChildren(...lines.map((line, i) => make('p', {}, i ? line : make('strong', {}, line))));
    this.box.hidden = false;
    this.place();
    return lines.join('. ');
  }

  async brief(cell, row, column) {
    if (!this.known.has(cell)) {
      this.running = new AbortController();
      const brief = await api.brief(row, column, this.running.signal);
      if (this.known.size > 500) this.known.delete(this.known.keys().next().value);
      this.known.set(cell, brief);
    }
    return this.known.get(cell);
  }

  /** Beside the point, on whichever side there is room. */
  place() {
    if (this.box.hidden) return;
    const { x, y } = this.map.getSize();
    const { offsetWidth: wide, offsetHeight: high } = this.box;
    this.box.style.left = `${this.point.x + 16 + wide < x ? this.point.x + 16 : Math.max(0, this.point.x - 16 - wide)}px`;
    this.box.style.top = `${this.point.y + 16 + high < y ? this.point.y + 16 : Math.max(0, this.point.y - 16 - high)}px`;
  }
}
