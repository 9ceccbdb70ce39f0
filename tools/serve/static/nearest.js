// The names nearest to a misspelt one, found in the page as tools/lookup/nearest_names.cpp finds them, which says how they
// are compared.
'use strict';

/** What a name is compared as: its words as they stand, and in alphabetical order. */
function spellingsOf(name) {
  const words = name.toLowerCase().split(/[ ,;.\-()/'"]+/).filter(Boolean);
  return [words.join(' '), words.sort().join(' ')];
}

/** Which letters there are, a bit each: one edit brings in or takes away one at most. */
function lettersOf(text) {
  let letters = 0;
  for (let i = 0; i < text.length; ++i) letters |= 1 << (text.charCodeAt(i) & 31);
  return letters;
}

function bitsOf(number) {
  let count = 0;
  for (; number; number &= number - 1) ++count;
  return count;
}

const distanceRows = [new Uint16Array(1024), new Uint16Array(1024)];

/** Levenshtein's distance of two texts, b below 1,023 letters; above most where it is more: no row of the table is looked at further than that. */
function distanceOf(a, b, most) {
  let [before, row] = distanceRows;
  for (let j = 0; j <= Math.min(b.length, most + 1); ++j) before[j] = j;
  for (let i = 1; i <= a.length; ++i) {
    const from = Math.max(1, i - most);
    const to = Math.min(b.length, i + most);
    const letter = a.charCodeAt(i - 1);
    row[from - 1] = from === 1 ? i : most + 1;
    let least = row[from - 1];
    for (let j = from; j <= to; ++j) {
      const changed = before[j - 1] + (letter === b.charCodeAt(j - 1) ? 0 : 1);
      row[j] = Math.min(changed, row[j - 1] + 1, before[j] + 1);
      if (row[j] < least) least = row[j];
    }
    if (to < b.length) row[to + 1] = most + 1;
    if (least > most) return most + 1;
    [before, row] = [row, before];
  }
  return before[b.length];
}

class NearestNames {
  constructor(names) {
    this.spellings = names.map(spellingsOf);
    this.letters = Int32Array.from(this.spellings, ([spelling]) => lettersOf(spelling));
  }

  /** Numbers of the names at the least distance from text, ascending. */
  find(text) {
    const [wanted, inOrder] = spellingsOf(text);
    if (!wanted || text.trim().length > 200) return [];
    const letters = lettersOf(wanted);
    let most = Math.max(1, Math.floor(wanted.length / 4));
    let nearest = [];
    this.spellings.forEach(([spelling, ordered], i) => {
      if (!spelling || Math.abs(spelling.length - wanted.length) > most) return;
      const other = this.letters[i];
      if (bitsOf(letters & ~other) > most || bitsOf(other & ~letters) > most) return;
      const distance = Math.min(distanceOf(wanted, spelling, most),
        wanted === inOrder && spelling === ordered ? most + 1 : distanceOf(inOrder, ordered, most));
      if (distance > most) return;
      if (distance < most) nearest = [];
      most = distance;
      nearest.push(i);
    });
    return nearest;
  }
}
