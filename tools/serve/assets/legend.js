// What the colours mean.
'use strict';

function showLegend(atlas, layer) {
  const colours = atlas.palettes[layer.palette];
  const bar = make('svg', { viewBox: `0 0 ${colours.length} 1`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
  colours.forEach((colour, i) => bar.append(make('rect', { x: i, width: 1.02, height: 1, fill: colour })));
  const swatch = (colour, text) => {
    const box = make('svg', { class: 'swatch', viewBox: '0 0 1 1', 'aria-hidden': 'true' },
      make('rect', { width: 1, height: 1, fill: colour }));
    box.style.display = 'inline-block';
    box.style.width = '12px';
    box.style.height = '12px';
    box.style.margin = '0 5px 0 0';
    return make('p', {}, box, text);
  };
  const nothing = /^hits\./.test(layer.id) ? 'no article of these years'
    : { hits: 'no article', years: 'no article with a year', growth: 'no article with a year' }[layer.id];
  const parts = layer.palette === 'parts';
  document.getElementById('legend').replaceChildren(
    make('strong', {}, layer.title),
    ...(layer.quantity ? [make('p', {}, layer.quantity)] : []),
    ...(parts ? [make('p', {}, 'Colours only tell neighbours apart.')]
      : [bar, make('div', { class: 'ticks' }, ...layer.ticks.map((tick) => make('span', {}, tick.text)))]),
    ...(nothing ? [swatch(atlas.no_value_colour, nothing)] : []),
    ...(atlas.vacant ? [swatch(atlas.vacant_colour, 'vacant: no weights')] : []));
}
