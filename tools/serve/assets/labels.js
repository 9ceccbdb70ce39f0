// Names on the map: of the level that is shown, else of that which suits the zoom, the largest first, none over another or under a panel, and
// none cut by an edge.
'use strict';

class Labels {
  /** shown(): the level of the regions that the layer shows; undefined of other layers. */
  constructor(map, atlas, shown) {
    this.map = map;
    this.shown = shown;
    this.atlas = atlas;
    this.group = L.layerGroup().addTo(map);
    this.pen = document.createElement('canvas').getContext('2d');
    map.on('moveend', () => this.show());
    this.show();
  }

  /** 0: cells; 1 to 3: regions, those that are wide enough for a name at this zoom. */
  level() {
    const cell = 2 ** this.map.getZoom();
    if (cell >= 100) return 0;
    if (this.shown()) return this.shown();
    for (const { level, regions } of this.atlas.levels) {
      if (this.atlas.side * cell / Math.sqrt(regions) >= 95) return level;
    }
    return 3;
  }

  async show() {
    const level = this.level();
    const bounds = this.map.getBounds();
    const within = (value) => Math.max(0, Math.min(this.atlas.side - 1, Math.floor(value)));
    const window = {
      top: within(bounds.getSouth()), bottom: within(bounds.getNorth()),
      left: within(bounds.getWest()), right: within(bounds.getEast()),
    };
    this.running?.abort();
    this.running = new AbortController();
    let names;
    try {
      names = await api.labels(level, window, this.running.signal);
    } catch (error) {
      if (error.name !== 'AbortError') complain(error.message);
      return;
    }
    this.group.clearLayers();
    const [size, weight] = [[11, 500], [12, 600], [14, 600], [16, 700]][level];
    this.pen.font = `${weight} ${size}px system-ui, sans-serif`;
    const taken = this.panels();
    const [low, high] = this.room();
    const limit = 2 ** this.map.getZoom();
    for (const { row, column, name, number } of names) {
      const at = L.latLng(row + 0.5, column + 0.5);
      const point = this.map.latLngToContainerPoint(at);
      const lines = level === 0 ? this.wrapped(name, limit - 8) : this.short(name);
      const half = Math.max(...lines.map((line) => this.pen.measureText(line).width)) / 2 + 3;
      const tall = lines.length * size * 0.6 + 2;
      const x = this.kept(point.x, half, low.x, high.x);
      const y = this.kept(point.y, tall, low.y, high.y);
      const box = [x - half, y - tall, x + half, y + tall];
      if (taken.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3])) continue;
      taken.push(box);
      // A click on a region's name shows its card (viewer.js); one on a cell's the cell under it.
      const text = make('div', { class: `name name${level}`, 'data-region': level ? `${level}.${number}` : null });
      lines.forEach((line, i) => text.append(...(i > 0 ? [make('br'), line] : [line])));
      L.marker(at, {
        interactive: false, keyboard: false,
        icon: L.divIcon({ html: text, className: '', iconSize: [2 * half, 2 * tall], iconAnchor: [half + point.x - x, tall + point.y - y] }),
      }).addTo(this.group);
    }
  }

  /** What lies on the map: boxes as left, top, right, bottom. */
  panels() {
    const map = this.map.getContainer();
    const { left, top } = map.getBoundingClientRect();
    return [document.getElementById('legend'), ...map.querySelectorAll('.leaflet-control')]
      .map((panel) => panel.getBoundingClientRect()).filter((box) => box.width > 0)
      .map((box) => [box.left - left - 4, box.top - top - 4, box.right - left + 4, box.bottom - top + 4]);
  }

  /** The part of the window that the map fills, where a name should stand. */
  room() {
    const size = this.map.getSize();
    const first = this.map.latLngToContainerPoint([0, 0]);
    const last = this.map.latLngToContainerPoint([this.atlas.side, this.atlas.side]);
    return [L.point(Math.max(0, first.x), Math.max(0, first.y)), L.point(Math.min(size.x, last.x), Math.min(size.y, last.y))];
  }

  kept(middle, half, low, high) {
    return high - low < 2 * half ? (low + high) / 2 : Math.max(low + half, Math.min(high - half, middle));
  }

  /** A region's name in three lines: the last of its headings make way. */
  short(name) {
    const headings = name.split(' / ');
    let lines = this.wrapped(name, 170);
    while (lines.length > 3 && headings.pop() && headings.length > 0) {
      lines = this.wrapped(headings.join(' / '), 170);
      lines[lines.length - 1] += ' / …';
    }
    return lines;
  }

  wrapped(name, width) {
    const lines = [''];
    for (const word of name.split(' ')) {
      const longer = lines[lines.length - 1] === '' ? word : `${lines[lines.length - 1]} ${word}`;
      if (lines[lines.length - 1] !== '' && this.pen.measureText(longer).width > width) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    return lines;
  }
}
