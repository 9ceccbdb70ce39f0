// Which parts of a map a list of articles favours or avoids, against the corpus: an exact test for
// each part, corrected for there being many. Always holds: the order of the parts changes nothing.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace somatlas::pipeline {

/// Chance that of `draws`, each a hit with the probability `chance`, at most `hits` are hits; and
/// that at least `hits` are.
struct BinomialTails {
  double at_most = 1;
  double at_least = 1;
};
[[nodiscard]] BinomialTails binomial_tails(std::uint64_t hits, std::uint64_t draws, double chance);

struct Enrichment {
  double expected = 0;  // articles of the list, were it like the corpus
  double p = 1;         // two-sided: twice the smaller tail, at most 1
  double q = 1;         // of the p of all parts: the false discovery rate at which it is found
};

/// listed[i] of the list's articles and corpus[i] of the corpus's lie in part i, which tile the
/// map. A part's share of the corpus is the chance of an article to lie there; the list may hold
/// articles that the corpus lacks. Sizes are equal. Source of q: Y. Benjamini and Y. Hochberg,
/// "Controlling the false discovery rate", 1995.
[[nodiscard]] std::vector<Enrichment> enrichment(std::span<const std::uint64_t> listed,
                                                 std::span<const std::uint64_t> corpus);

/// Benjamini and Hochberg's adjusted values, in the order of p.
[[nodiscard]] std::vector<double> false_discovery_rates(std::span<const double> p);

}  // namespace somatlas::pipeline
