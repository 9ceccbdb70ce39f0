// Which parts of a map a list favours or avoids, worked out in the page as pipeline/enrichment.cpp does, which says whence
// it comes: exact binomial tails, adjusted for there being many parts.
'use strict';

/** log n!, by Stirling's series from 16 on. */
function logFactorial(n) {
  let shift = 0;
  let x = n + 1;
  for (; x < 16; ++x) shift += Math.log(x);
  const square = x * x;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) +
    (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square) / x - shift;
}

function binomialTerm(k, n, p) {
  return Math.exp(logFactorial(n) - logFactorial(k) - logFactorial(n - k) + k * Math.log(p) + (n - k) * Math.log1p(-p));
}

/** The chance of k or more of n: terms from k on, until they no longer count. */
function sumUp(k, n, p) {
  let each = binomialTerm(k, n, p);
  let sum = 0;
  for (; k <= n; ++k) {
    sum += each;
    if (k > n * p && each < sum * 1e-18) break;
    each *= (n - k) / (k + 1) * (p / (1 - p));
  }
  return Math.min(1, sum);
}

function smallerTail(hits, draws, chance) {
  if (chance <= 0) return hits === 0 ? 1 : 0;
  if (chance >= 1) return hits >= draws ? 1 : 0;
  const far = hits > draws * chance ? sumUp(hits, draws, chance) : sumUp(draws - hits, draws, 1 - chance);
  return Math.min(far, 1 - far + binomialTerm(hits, draws, chance));
}

/** { expected, p, q } of each part, from how many of the list and of the corpus lie there. */
function testParts(listed, corpus) {
  const draws = listed.reduce((a, b) => a + b, 0);
  const all = corpus.reduce((a, b) => a + b, 0);
  const tests = listed.map((hits, i) => {
    const chance = all ? corpus[i] / all : 0;
    return { expected: chance * draws, p: all ? Math.min(1, 2 * smallerTail(hits, draws, chance)) : 1 };
  });
  const order = tests.map((_, i) => i).sort((a, b) => tests[a].p - tests[b].p);
  let least = 1;
  for (let rank = order.length; rank > 0; --rank) {
    const test = tests[order[rank - 1]];
    least = Math.min(least, test.p * order.length / rank);
    test.q = least;
  }
  return tests;
}
