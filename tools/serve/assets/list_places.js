// Where the articles of a list lie: asked for in batches, by PMID first, and by descriptors what has no place by PMID.
'use strict';

/**
 * articles: of a ListReader. Returns cells ({ row, column, parts: [region, area, continent], articles: [PMID or line] }),
 * how many were found by PMID and by descriptors, those not found, and names that led to no descriptor, each with the number of
 * the first line that has it.
 */
async function placeList(articles, signal, progress) {
  const cells = new Map();
  const found = { cells, byPmid: 0, byLine: 0, missing: [], unknown: new Map() };
  const put = (what, [, row, column, ...parts]) => {
    const key = `${row},${column}`;
    if (!cells.has(key)) cells.set(key, { row, column, parts, articles: [] });
    cells.get(key).articles.push(what);
  };

  const numbered = articles.filter(({ pmid }) => pmid).sort((a, b) => a.pmid - b.pmid);
  const rest = articles.filter(({ pmid }) => !pmid);
  for (let at = 0; at < numbered.length;) {
    const batch = numbered.slice(at, at + 1000);
    const { done, placed } = await api.placePmids(batch.map(({ pmid }) => pmid), signal);
    const known = new Set();
    for (const entry of placed) {
      known.add(entry[0]);
      put(entry[0], entry);
    }
    found.byPmid += placed.length;
    for (const article of batch.slice(0, done)) {
      if (known.has(article.pmid)) continue;
      if (article.line) rest.push(article);
      else found.missing.push(article);
    }
    at += Math.max(1, done);
    progress(found.byPmid + found.missing.length);
  }

  const longest = 12_000; // letters of an address
  const size = ({ line }) => encodeURIComponent(line).length + 6;
  const most = api.placeLines ? Math.min(rest.length, listLimits.lines) : 0; // a folder has places by PMID alone
  for (let at = 0; at < most;) {
    let end = at;
    for (let letters = 0; end < most && end - at < 50 && (letters += size(rest[end])) <= longest;) ++end;
    if (end === at) {
      found.missing.push(rest[at++]);
      continue;
    }
    const { done, placed, unknown } = await api.placeLines(rest.slice(at, end).map(({ line }) => line), signal);
    const known = new Set();
    for (const entry of placed) {
      const article = rest[at + entry[0]];
      known.add(article);
      put(article.pmid || article.line, entry);
    }
    found.byLine += placed.length;
    for (const article of rest.slice(at, at + done)) if (!known.has(article)) found.missing.push(article);
    for (const [number, name] of unknown) {
      if (found.unknown.size < 20 && !found.unknown.has(name)) found.unknown.set(name, lineOf(rest[at + number], name));
    }
    at += Math.max(1, done);
    progress(found.byPmid + found.byLine + found.missing.length);
  }
  for (const article of rest.slice(most)) found.missing.push(article);
  return found;
}

/** The number of the line on which an article has a descriptor: of a saved file it is not the article's. */
function lineOf({ line, from, at }, name) {
  return at?.[line.split(';').findIndex((heading) => heading.trim() === name)] ?? from;
}
