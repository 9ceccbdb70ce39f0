// How far a descriptor stands out in a part of the map: what labels of cells and regions are ranked
// by. Always holds: the same numbers give the same gain on every machine, since only correctly
// rounded operations (+, -, *, /, sqrt) and integers are used.
#pragma once

#include <cstdint>

namespace somatlas::pipeline {

/// floor(2^16 * log2(value)), or one less: digit by digit from integers, which is the same on every
/// machine. value is not 0.
[[nodiscard]] std::uint32_t log2_by_digits(std::uint64_t value);
/// The same, but quicker.
[[nodiscard]] std::uint32_t log2_of(std::uint64_t value);

/// The share that `of` articles, of which `share` carry something, show at least, at two standard
/// errors. Few articles show little: 1 of 1 a fifth, 15 of 15 four fifths. 0 where of is 0.
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference",
/// 1927.
[[nodiscard]] double least_share(double share, double of);

/// Ranks one descriptor's shares L in parts of the map against its share P of the whole corpus, by
/// L * log2(L / P): what knowing the part tells of the descriptor, in bits an article. The lift
/// L / P alone would put a descriptor of one article in a million first wherever it occurs, the
/// difference L - P those that nearly all articles have; the product wants both, a share that is
/// large and a lift. L is the least share that the articles there show, so that what a few articles
/// have in common by chance gains next to nothing, and the gain rises with L wherever L > P.
class LiftScale {
 public:
  /// with of all carry the descriptor, 0 < with <= all < 2^40.
  LiftScale(std::uint64_t with, std::uint64_t all);

  /// In units of 2^-24 bits, below 2^31; 0 where nothing stands out.
  [[nodiscard]] std::uint32_t gain(double share, double of) const;
  /// No weight q, a share of q / 16383, gains more than q times this; below 2^17.
  [[nodiscard]] std::uint32_t most_per_weight() const { return most_per_weight_; }

 private:
  std::int64_t log2_corpus_;  // of all / with, units of 2^-16
  std::uint32_t most_per_weight_;
};

/// How much of the dated articles is recent, over what the corpus's share leads to expect: 1 is as
/// expected. Ten articles of the corpus's share are put to those counted, so that few say little.
/// 1 where the corpus has no recent article.
[[nodiscard]] double growth(std::uint64_t recent, std::uint64_t dated, std::uint64_t corpus_recent,
                            std::uint64_t corpus_dated);

}  // namespace somatlas::pipeline
