// The page: the map, its layer, and the address that brings the whole view back.
'use strict';

// Between two zooms tiles of the lower one are drawn larger: made smaller, they would lose lines.
const Tiles = L.TileLayer.extend({
  _setView(centre, zoom, ...more) {
    this._lower = Math.floor(zoom + 1e-6);
    L.TileLayer.prototype._setView.call(this, centre, zoom, ...more);
  },
  _clampZoom(zoom) {
    return L.TileLayer.prototype._clampZoom.call(this, this._lower ?? zoom);
  },
});

/** Under the two buttons of zoom: the whole map. */
const Whole = L.Control.extend({
  initialize(show) {
    this.show = show;
    L.Control.prototype.initialize.call(this, { position: 'topleft' });
  },
  onAdd() {
    const press = (event) => {
      event.preventDefault();
      this.show();
    };
    return make('div', { class: 'leaflet-bar leaflet-control' },
      make('a', { href: '#', role: 'button', title: 'The whole map', 'aria-label': 'The whole map', onclick: press }, '⤢'));
  },
});

/** Of rows and columns, the ends included. */
const boundsOf = ({ top, left, bottom, right }) => [[top, left], [bottom + 1, right + 1]];

class Viewer {
  constructor(atlas) {
    this.atlas = atlas;
    this.narrow = matchMedia('(max-width: 720px)');
    const bits = Math.log2(atlas.padded_side) - 8; // the server's zoom 0 shows all in one tile
    const crs = L.extend({}, L.CRS.Simple, { transformation: new L.Transformation(1, 0, 1, 0) });
    const all = L.latLngBounds([0, 0], [atlas.side, atlas.side]);
    this.map = L.map('map', {
      crs, minZoom: -bits, maxZoom: atlas.most_zoom - bits, maxBounds: all.pad(0.5), zoomControl: true,
      attributionControl: false,
    });
    this.zoomOffset = bits;
    this.select = document.getElementById('layer');
    for (const layer of atlas.layers) this.select.append(make('option', { value: layer.id }, layer.title));
    this.select.addEventListener('change', () => this.setLayer(this.select.value));
    this.card = new Card({
      show: (row, column) => this.showCell(row, column), plane: (ui) => this.setLayer(ui), closed: () => this.mark(),
      region: (level, number) => this.showRegion(level, number), whole: (window) => this.map.fitBounds(boundsOf(window)),
      listed: (row, column) => this.own.at(row, column),
    });
    this.own = new OwnList(this.map, atlas, (level, number) => this.showRegion(level, number, true), () => this.panelsChanged());
    this.years = new Years((range, stay) => this.showYears(range, stay), () => this.panelsChanged());
    this.hover = new Hover(this.map, atlas, (row, column) => this.own.at(row, column));
    this.search = new Search((ui) => { this.showAll(); this.setLayer(ui); }, (row, column) => this.showCell(row, column, true));
    this.all = all;
    this.map.on('movestart', () => { this.whole = this.whole && this.placing; });
    this.showAll();
    this.restore().then(() => {
      this.labels = new Labels(this.map, atlas, () => this.layer.level);
      this.map.on('moveend', () => this.keep());
      this.map.addControl(new Whole(() => this.showAll()));
      this.map.on('click', ({ latlng, originalEvent }) => {
        const name = originalEvent.target.closest('[data-region]');
        if (name) this.showRegion(...name.dataset.region.split('.'));
        else this.showCell(Math.floor(latlng.lat), Math.floor(latlng.lng));
      });
      window.addEventListener('hashchange', () => location.hash !== this.hash && this.restore());
      new ResizeObserver(() => this.resize()).observe(document.getElementById('map'));
    });
    document.addEventListener('keydown', (event) => this.key(event));
  }

  /** Zooms that no button gives: steps of zoom are whole else. */
  place(move) {
    this.placing = true;
    this.map.options.zoomSnap = 0;
    move();
    this.map.options.zoomSnap = 1;
    this.placing = false;
  }

  showAll() {
    this.whole = true;
    this.place(() => {
      const zoom = this.map.getBoundsZoom(this.all);
      // Tiles of so many whole pixels, or a thin line shows where two meet.
      const tile = Math.floor(256 * 2 ** (zoom - Math.floor(zoom)));
      this.map.setView(this.all.getCenter(), Math.floor(zoom) + Math.log2(tile / 256), { animate: false });
    });
  }

  resize() {
    this.place(() => this.map.invalidateSize({ animate: false }));
    if (this.whole) this.showAll();
  }

  /** On a narrow screen there is room for one panel. */
  panelsChanged() {
    if (this.narrow.matches && !this.own.panel.hidden && this.card.at) this.card.close();
    this.resize();
    this.keep();
  }

  key(event) {
    const typing = ['INPUT', 'SELECT', 'TEXTAREA'].includes(event.target.tagName);
    if (event.key === '/' && !typing) {
      event.preventDefault();
      this.search.input.focus();
    } else if (event.key === 'Escape' && event.target.closest('#list')) {
      this.own.open(false);
    } else if (event.key === 'Escape' && !typing && this.card.at) {
      this.card.close();
      document.getElementById('map').focus();
    } else if (event.key === 'Home' && event.target.id === 'map') {
      this.showAll();
    } else if (event.key === 'Enter' && event.target.id === 'map') {
      const centre = this.map.getCenter();
      this.showCell(Math.floor(centre.lat), Math.floor(centre.lng)).then(() => document.querySelector('#card h2')?.focus());
    }
  }

  /** Of the range of years where there is one and the layer follows it. */
  async setLayer(id) {
    const { range } = this.years;
    const shown = id === 'hits' && range ? `hits.${range.join('-')}` : id;
    this.asked = shown;
    let layer = this.atlas.layers.find((known) => known.id === shown);
    if (!layer) {
      try {
        if (!/^(D\d{6,9}|hits\.\d{4}-\d{4})$/.test(shown)) throw new Error(`There is no layer ${id}`);
        layer = await api.layer(shown);
      } catch (error) {
        return complain(error.message);
      }
      if (this.asked !== shown) return undefined;
    }
    if (![...this.select.options].some(({ value }) => value === id)) {
      this.select.querySelector('[data-plane]')?.remove();
      this.select.append(make('option', { value: id, 'data-plane': '' }, layer.title));
    }
    this.select.value = this.id = id;
    this.layer = layer;
    const before = this.tiles ?? [];
    const tiles = new Tiles(api.tiles(shown, this.atlas.state), {
      noWrap: true, bounds: [[0, 0], [this.atlas.side, this.atlas.side]], zoomOffset: this.zoomOffset,
      minZoom: this.map.getMinZoom(), maxZoom: this.map.getMaxZoom(),
      ...('tile_zoom' in layer ? { maxNativeZoom: layer.tile_zoom - this.zoomOffset } : {}), // a folder's tiles end there
    });
    tiles.once('load', () => {
      before.forEach((old) => old.remove());
      this.tiles = this.tiles.filter((one) => !before.includes(one));
    });
    this.tiles = [...before, tiles.addTo(this.map)];
    showLegend(this.atlas, layer);
    this.labels?.show();
    if (!this.years.playing) tell(`Layer: ${layer.title}`);
    this.keep();
    return tiles;
  }

  async showYears(range, stay) {
    if (stay && this.id !== 'hits') return this.keep();
    const tiles = await this.setLayer('hits');
    return tiles && Promise.race([
      new Promise((loaded) => { tiles.once('load', loaded); }), new Promise((late) => { setTimeout(late, 3000); }),
    ]);
  }

  async showCell(row, column, centre = false) {
    if (row < 0 || column < 0 || row >= this.atlas.side || column >= this.atlas.side) return;
    this.mark({ cell: [row, column] }, { top: row, left: column, bottom: row, right: column });
    if (this.narrow.matches && !this.own.panel.hidden) this.own.open(false, false);
    try {
      await this.card.open(row, column);
    } catch (error) {
      complain(error.message);
    }
    this.resize();
    const at = L.latLng(row + 0.5, column + 0.5);
    if (centre) this.map.setView(at, Math.max(this.map.getZoom(), Math.min(5, this.map.getMaxZoom())));
    else if (!this.map.getBounds().contains(at)) this.map.panTo(at);
  }

  /** whole: moves the map to where it lies. */
  async showRegion(level, number, whole = false) {
    const known = this.atlas.levels.find((one) => one.level === +level);
    if (!known || +number >= known.regions) return;
    this.mark({ region: [+level, +number] });
    if (this.narrow.matches && !this.own.panel.hidden) this.own.open(false, false);
    let window;
    try {
      window = await this.card.openRegion(+level, +number);
    } catch (error) {
      complain(error.message);
    }
    if (!window) return;
    this.mark({ region: [+level, +number] }, window);
    this.resize();
    if (whole || !this.map.getBounds().intersects(boundsOf(window))) this.map.fitBounds(boundsOf(window));
  }

  /** What the card is of: { cell } or { region }, or nothing; window: rows and columns of it, which get a frame. */
  mark({ cell = null, region = null } = {}, window = null) {
    this.frame?.remove();
    this.cell = cell;
    this.region = region;
    if (window) {
      const bounds = boundsOf(window);
      this.frame = L.layerGroup([
        L.rectangle(bounds, { color: '#fff', weight: 5, fill: false, interactive: false }),
        L.rectangle(bounds, { color: '#000', weight: 2, fill: false, interactive: false, dashArray: region ? '6 6' : null }),
      ]).addTo(this.map);
    }
    this.keep();
  }

  keep() {
    if (!this.layer || this.restoring) return;
    const centre = this.map.getCenter();
    const view = new URLSearchParams({
      layer: this.id,
      ...(this.whole ? {} : { z: +this.map.getZoom().toFixed(3), row: centre.lat.toFixed(2), column: centre.lng.toFixed(2) }),
    });
    if (this.cell) view.set('cell', this.cell.join('.'));
    if (this.region) view.set('region', this.region.join('.'));
    for (const [name, value] of Object.entries({ ...this.years.kept(), ...this.own.kept() })) view.set(name, value);
    this.hash = `#${view}`;
    history.replaceState(null, '', this.hash);
  }

  async restore() {
    const view = new URLSearchParams(location.hash.slice(1));
    const number = (name) => (view.has(name) && Number.isFinite(+view.get(name)) ? +view.get(name) : null);
    this.restoring = true;
    if (number('z') !== null && number('row') !== null && number('column') !== null) {
      this.whole = false;
      const on = (cell) => Math.max(0, Math.min(this.atlas.side, cell));
      this.place(() => this.map.setView([on(number('row')), on(number('column'))], number('z'), { animate: false }));
    } else {
      this.showAll();
    }
    await this.setLayer(view.get('layer') ?? this.atlas.layers[0].id);
    if (!this.layer) await this.setLayer(this.atlas.layers[0].id);
    this.own.restore(view);
    this.years.restore(view);
    const cell = /^(\d{1,6})\.(\d{1,6})$/.exec(view.get('cell') ?? '');
    const region = /^([123])\.(\d{1,7})$/.exec(view.get('region') ?? '');
    if (cell) await this.showCell(+cell[1], +cell[2]);
    else if (region) await this.showRegion(+region[1], +region[2]);
    this.restoring = false;
    this.keep();
  }
}

api.atlas().then((atlas) => { window.viewer = new Viewer(atlas); }, (error) => {
  document.querySelector('main').replaceChildren(make('p', {}, error.message));
});
