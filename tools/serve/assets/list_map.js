// A list on the map: a point a cell, larger for more articles, or their density.
'use strict';

const ListPoints = L.GridLayer.extend({
  initialize(cells, options) {
    this.cells = cells;
    L.GridLayer.prototype.initialize.call(this, options);
  },

  createTile({ x, y, z }) {
    const { x: width } = this.getTileSize();
    const sharp = window.devicePixelRatio || 1;
    const tile = make('canvas', { width: width * sharp, height: width * sharp });
    const pen = tile.getContext('2d');
    const cell = 2 ** z;
    const most = Math.max(4, cell * 0.45);
    pen.scale(sharp, sharp);
    pen.fillStyle = '#ff8c00';
    pen.strokeStyle = '#10141a';
    pen.lineWidth = 1.5;
    for (const { row, column, articles } of this.cells) {
      const across = (column + 0.5) * cell - x * width;
      const down = (row + 0.5) * cell - y * width;
      const radius = Math.min(most, 2.5 + 1.5 * Math.sqrt(articles.length));
      if (Math.min(across, down) < -radius - 2 || Math.max(across, down) > width + radius + 2) continue;
      pen.beginPath();
      pen.arc(across, down, radius, 0, 2 * Math.PI);
      pen.fill();
      pen.stroke();
    }
    return tile;
  },
});

/** Articles a cell, smoothed over about a thirtieth of the map, as a picture. */
function densityPicture(cells, side) {
  const wide = Math.min(side, 256);
  let heights = new Float32Array(wide * wide);
  for (const { row, column, articles } of cells) {
    heights[Math.floor(row * wide / side) * wide + Math.floor(column * wide / side)] += articles.length;
  }
  const reach = Math.max(1, Math.round(wide / 60));
  for (let pass = 0; pass < 3; ++pass) heights = blurred(blurred(heights, wide, reach), wide, reach);
  const top = heights.reduce((most, height) => Math.max(most, height), 0) || 1;
  const canvas = make('canvas', { width: wide, height: wide });
  const pen = canvas.getContext('2d');
  const picture = pen.createImageData(wide, wide);
  heights.forEach((height, i) => picture.data.set([176, 0, 92, 225 * Math.sqrt(height / top)], 4 * i));
  pen.putImageData(picture, 0, 0);
  return canvas.toDataURL();
}

// Means along the rows, written as columns: twice is both ways.
function blurred(heights, wide, reach) {
  const means = new Float32Array(heights.length);
  for (let row = 0; row < wide; ++row) {
    let sum = 0;
    for (let column = -reach; column < wide; ++column) {
      if (column + reach < wide) sum += heights[row * wide + column + reach];
      if (column - reach - 1 >= 0) sum -= heights[row * wide + column - reach - 1];
      if (column >= 0) means[column * wide + row] = sum / (2 * reach + 1);
    }
  }
  return means;
}

class ListMap {
  constructor(map, side) {
    this.map = map;
    this.side = side;
    for (const [name, order] of [['density', 250], ['points', 650]] /* over names, which are at 600 */) {
      map.createPane(name).style.zIndex = order;
      map.getPane(name).style.pointerEvents = 'none';
    }
  }

  /** cells: of placeList(). shown: 'points', 'density' or 'both'. */
  show(cells, shown) {
    this.clear();
    const bounds = [[0, 0], [this.side, this.side]];
    const list = [...cells.values()];
    if (!list.length) return;
    if (shown !== 'density') {
      this.points = new ListPoints(list, { pane: 'points', bounds, noWrap: true, minZoom: this.map.getMinZoom(), maxZoom: this.map.getMaxZoom() });
      this.points.addTo(this.map);
    }
    if (shown !== 'points') {
      this.density = L.imageOverlay(densityPicture(list, this.side), bounds, { pane: 'density', interactive: false }).addTo(this.map);
    }
  }

  clear() {
    this.points?.remove();
    this.density?.remove();
    this.points = this.density = null;
  }
}
