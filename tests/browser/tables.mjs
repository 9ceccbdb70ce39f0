// What export says of the sample's atlas, for holding the page against it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { folder } from './sites.mjs';

/** Rows of a CSV or TSV text as objects by the names in its first line. */
export function rowsOf(text, separator) {
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}]*))(${separator}|$)`, 'y');
  const [names, ...rows] = text.trimEnd().split(/\r?\n/).map((line) => {
    const fields = [];
    field.lastIndex = 0;
    for (let found; (found = field.exec(line));) {
      fields.push(found[1]?.replaceAll('""', '"') ?? found[2]);
      if (found[3] === '') break;
    }
    return fields;
  });
  return rows.map((fields) => Object.fromEntries(names.map((name, i) => [name, fields[i]])));
}

const read = (name, separator) => rowsOf(readFileSync(`${folder}/sample/${name}`, 'utf8'), separator);

export const cells = read('cells.csv', ',');
export const side = Math.sqrt(cells.length);
export const places = read('npy/places.tsv', '\t');
export const descriptors = read('npy/descriptors.tsv', '\t');

export const cellAt = (row, column) => cells[row * side + column];
export const articlesAt = (row, column) => places
  .filter((place) => +place.row === row && +place.column === column).map((place) => +place.pmid).sort((a, b) => a - b);
/** Those whose planes a page in a folder has too: the atlas's most frequent. */
export const frequent = descriptors.map((descriptor, i) => ({ ...descriptor, i }))
  .sort((a, b) => b.articles - a.articles || a.i - b.i).slice(0, 40);
const planes = readFileSync(`${folder}/sample/npy/planes.npy`);
const firstWeight = 10 + planes.readUInt16LE(8);
/** [row, column] of the first of the cells where descriptor i weighs most. */
export function heaviestCell(i) {
  const weight = (cell) => planes.readUInt16LE(firstWeight + 2 * (i * cells.length + cell));
  let most = 0;
  for (let cell = 1; cell < cells.length; ++cell) if (weight(cell) > weight(most)) most = cell;
  return [Math.floor(most / side), most % side];
}
const years = new Map(readFileSync(`${folder}/sample/articles.tsv`, 'utf8').trimEnd().split('\n')
  .map((line) => line.split('\t')).map(([pmid, , year]) => [+pmid, year]));
/** [year, articles] of a cell, by the store. */
export function yearsAt(row, column) {
  const counts = {};
  for (const pmid of articlesAt(row, column)) {
    const year = years.get(pmid);
    if (/^\d+$/.test(year)) counts[year] = (counts[year] ?? 0) + 1;
  }
  return Object.entries(counts);
}

const seed = process.env.SOMATLAS_TEST_SEED ?? String(Date.now() % 1e9);
console.log(`SOMATLAS_TEST_SEED=${seed}`);
let drawn = 0;
/** 0 to count - 1, by the seed of this run. */
export const random = (count) =>
  createHash('sha256').update(`${seed}/${drawn++}`).digest().readUInt32LE() % count;
