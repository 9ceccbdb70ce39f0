// Updates take articles in the order of a permutation of all, so that each is taken once.
#include "pipeline/synth_updates.h"

#include <algorithm>
#include <numeric>

#include "pipeline/synth_stream.h"

namespace somatlas::pipeline {

namespace {

/// j -> factor * j + offset modulo the number of articles, the factor prime to it.
class Permutation {
 public:
  Permutation(std::uint64_t seed, std::uint64_t size) : size_(size) {
    SynthStream stream(seed, SynthPurpose::updates, 0);
    offset_ = stream.below(size);
    do {
      factor_ = 1 + stream.below(size);
    } while (std::gcd(factor_, size) != 1);
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t j) const {
    return static_cast<std::uint64_t>((Wide{factor_} * j + offset_) % size_);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t size_;
  std::uint64_t factor_ = 1;
  std::uint64_t offset_ = 0;
};

}  // namespace

SynthUpdate plan_synth_update(const SynthOptions& options, std::uint64_t u) {
  const Permutation permutation(options.seed, options.articles);
  const std::uint64_t share = std::min<std::uint64_t>(
      options.articles_per_file / 2, options.articles / (options.update_files + std::uint64_t{1}));
  const std::uint64_t revised = share * 8 / 10;
  const auto places = [&](std::uint64_t round, std::uint64_t begin, std::uint64_t end) {
    std::vector<std::uint64_t> articles;
    for (std::uint64_t j = begin; j < end; ++j) {
      articles.push_back(permutation((round - 1) * share + j));
    }
    std::sort(articles.begin(), articles.end());
    return articles;
  };
  SynthUpdate update;
  update.revised = places(u, 0, revised);
  update.deleted = places(u, revised, share);
  if (u > 1) {
    update.brought_back = places(u - 1, revised, revised + (share - revised + 1) / 2);
  }
  const std::uint64_t added = std::max<std::uint64_t>(1, share / 2);
  update.added_begin = options.articles + (u - 1) * added;
  update.added_end = update.added_begin + added;
  return update;
}

}  // namespace somatlas::pipeline
