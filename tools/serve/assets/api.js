// All that the page knows of its atlas comes through this one object: here from the server, in a
// folder of files from scripts. Each method returns a promise, but for tiles().
'use strict';

const api = {
  async ask(path, signal) {
    const answer = await fetch(path, { signal }).catch((error) => {
      throw error.name === 'AbortError' ? error : new Error('No answer: somatlas serve may have ended.');
    });
    if (!answer.ok) throw new Error((await answer.text()).trim() || 'the server did not answer');
    return answer.json();
  },

  atlas() { return this.ask('api/atlas'); },

  /** A descriptor's plane, by its UI. */
  layer(id) { return this.ask(`api/layer/${encodeURIComponent(id)}`); },

  /** Where Leaflet finds a layer's tiles. state: the atlas's. */
  tiles(id, state) { return `tile/${id}/{z}/{x}/{y}.png?v=${state}`; },

  /** page: of its articles, from 0. */
  cell(row, column, page) { return this.ask(`api/cell/${row}/${column}?page=${page}`); },

  /** A cell in few words: { hits, region, leading: three names, vacant }. */
  brief(row, column, signal) { return this.ask(`api/brief/${row}/${column}`, signal); },

  /** Articles of a cell by year; to be asked again until all are counted. */
  years(row, column) { return this.ask(`api/years/${row}/${column}`); },

  /** A region (level 1), area or continent: what its card tells. */
  region(level, number) { return this.ask(`api/region/${level}/${number}`); },

  /** Its articles by year: { ranges, counted, step, by_year: [[year, articles]] }; to be asked again until counted is ranges. */
  regionYears(level, number) { return this.ask(`api/region/${level}/${number}/years`); },

  /** All articles by year: { ranges, counted, step, undated, articles: [[year, articles]] }; to be asked again until counted is ranges. */
  timeline() { return this.ask('api/timeline'); },

  /** Names in a window {top, left, bottom, right} of rows and columns, the ends included. level: 1 to 3; 0: of cells. */
  labels(level, window, signal) {
    return this.ask(`api/labels?${new URLSearchParams({ level, ...window })}`, signal);
  },

  /** Places of articles by PMID: { done, placed: [[PMID, row, column, region, area, continent]] } of the first done of them. */
  placePmids(pmids, signal) { return this.ask(`api/place?pmids=${pmids.join()}`, signal); },

  /** The same of lines of descriptors, by their number, and { unknown: [[number of a line, name]] }, names that are none. */
  placeLines(lines, signal) {
    return this.ask(`api/place?${lines.map((line) => `line=${encodeURIComponent(line)}`).join('&')}`, signal);
  },

  /** Which regions of a level a list favours or avoids. counts: [[region, articles]]. */
  enrichment(level, counts, signal) {
    return this.ask(`api/enrichment?level=${level}&counts=${counts.map((pair) => pair.join(':')).join()}`, signal);
  },

  /** What may be meant by each of some names that are no descriptor's: lists of { ui, name, articles, entry: an entry word }. */
  nearest(names, signal) { return this.ask(`api/nearest?${names.map((name) => `name=${encodeURIComponent(name)}`).join('&')}`, signal); },

  /** { descriptors, more, article }; where there is none of them { nearest }, what may be meant. */
  search(text) { return this.ask(`api/search?q=${encodeURIComponent(text)}`); },
};
