// Steps divide each other, so that counts of short ones add up to those of longer ones.
#include "tools/serve/year_counts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace somatlas::serve {
namespace {

constexpr std::array<unsigned, 5> steps{1, 5, 10, 50, 500};
constexpr std::size_t ranges_at_once = 24;

}  // namespace

YearCounts::YearCounts(store::Atlas& atlas, store::Store* store, std::size_t neurons,
                       std::size_t bytes)
    : atlas_(atlas),
      store_(store),
      neurons_(neurons),
      most_steps_(std::max<std::size_t>(1, bytes / (neurons * sizeof(std::uint32_t)))) {
  if (store_ != nullptr) {
    ranges_ = atlas_.place_ranges();
  }
}

void YearCounts::coarsen() {
  ++step_;
  std::map<unsigned, Step> coarse;
  for (auto& [year, part] : counts_) {
    Step& sum = coarse[year - year % steps[step_]];
    sum.articles += part.articles;
    if (sum.of_cells.empty()) {
      sum.of_cells = std::move(part.of_cells);
    } else {
      std::ranges::transform(sum.of_cells, part.of_cells, sum.of_cells.begin(), std::plus<>());
      part.of_cells = {};
    }
  }
  counts_ = std::move(coarse);
}

void YearCounts::add(unsigned year, std::uint32_t neuron) {
  while (!counts_.contains(year - year % steps[step_]) && counts_.size() >= most_steps_ &&
         step_ + 1 < steps.size()) {
    coarsen();
  }
  Step& step = counts_[year - year % steps[step_]];
  step.of_cells.resize(neurons_);
  ++step.of_cells[neuron];
  ++step.articles;
}

void YearCounts::count(std::uint32_t range) {
  const auto places = atlas_.places(range);
  const auto shard = store_->shard(range);
  if (!places) {
    return;
  }
  std::size_t row = 0;
  for (std::size_t i = 0; i < places->low.size(); ++i) {
    if (places->neuron[i] >= neurons_) {
      continue;
    }
    while (shard && row < shard->rows() && shard->low[row] < places->low[i]) {
      ++row;
    }
    const bool known = shard && row < shard->rows() && shard->low[row] == places->low[i];
    const unsigned year = known ? shard->year[row] : 0;
    if (year == 0) {
      ++undated_;
    } else {
      add(year, places->neuron[i]);
    }
  }
}

YearCounts::State YearCounts::go_on() {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < ranges_at_once && counted_ < ranges_.size(); ++i) {
    count(ranges_[counted_]);
    ++counted_;
  }
  State state{.ranges = ranges_.size(),
              .counted = counted_,
              .step = steps[step_],
              .undated = undated_,
              .articles = {}};
  for (const auto& [year, step] : counts_) {
    state.articles.emplace_back(year, step.articles);
  }
  return state;
}

bool YearCounts::whole() const {
  const std::lock_guard lock(mutex_);
  return !ranges_.empty() && counted_ == ranges_.size();
}

std::vector<std::pair<unsigned, std::uint64_t>> YearCounts::of_part(
    std::span<const std::uint32_t> part, std::uint32_t number) const {
  std::vector<std::size_t> cells;
  for (std::size_t cell = 0; cell < part.size(); ++cell) {
    if (part[cell] == number) {
      cells.push_back(cell);
    }
  }
  std::vector<std::pair<unsigned, std::uint64_t>> counts;
  const std::lock_guard lock(mutex_);
  if (counted_ < ranges_.size()) {
    return counts;
  }
  for (const auto& [year, step] : counts_) {
    std::uint64_t articles = 0;
    for (const std::size_t cell : cells) {
      articles += step.of_cells[cell];
    }
    if (articles > 0) {
      counts.emplace_back(year, articles);
    }
  }
  return counts;
}

std::vector<std::uint32_t> YearCounts::of_cells(unsigned first, unsigned last) const {
  const std::lock_guard lock(mutex_);
  if (counted_ < ranges_.size() || ranges_.empty()) {
    return {};
  }
  std::vector<std::uint32_t> sum(neurons_);
  for (auto at = counts_.lower_bound(first - first % steps[step_]);
       at != counts_.end() && at->first <= last; ++at) {
    std::ranges::transform(sum, at->second.of_cells, sum.begin(), std::plus<>());
  }
  return sum;
}

}  // namespace somatlas::serve
