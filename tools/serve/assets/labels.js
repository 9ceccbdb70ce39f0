// Names on the map: of the level that suits the zoom, the largest first, none over another.
'use strict';

class Labels {
  constructor(map, atlas) {
    this.map = map;
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
      if (error.name !== 'AbortError') tell(error.message);
      return;
    }
    this.group.clearLayers();
    const [size, weight] = [[11, 500], [12, 600], [14, 600], [16, 700]][level];
    this.pen.font = `${weight} ${size}px system-ui, sans-serif`;
    const taken = [];
    const limit = 2 ** this.map.getZoom();
    for (const { row, column, name } of names) {
      const at = L.latLng(row + 0.5, column + 0.5);
      const point = this.map.latLngToContainerPoint(at);
      const lines = level === 0 ? this.wrapped(name, limit - 8) : this.wrapped(name, 170);
      const half = Math.max(...lines.map((line) => this.pen.measureText(line).width)) / 2 + 3;
      const high = lines.length * size * 0.6 + 2;
      const box = [point.x - half, point.y - high, point.x + half, point.y + high];
      if (taken.some((b) => box[0] < b[2] && b[0] < box[2] && box[1] < b[3] && b[1] < box[3])) continue;
      taken.push(box);
      const text = make('div', { class: `name name${level}` });
      lines.forEach((line, i) => text.append(...(i > 0 ? [make('br'), line] : [line])));
      L.marker(at, {
        interactive: false, keyboard: false,
        icon: L.divIcon({ html: text, className: '', iconSize: [2 * half, 2 * high] }),
      }).addTo(this.group);
    }
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
