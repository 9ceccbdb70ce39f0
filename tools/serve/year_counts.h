// How many articles of each cell are of which years: an atlas keeps places and a store years, so
// they are counted together, a few ranges of PMIDs at a time, when somebody asks. Always holds:
// memory has a bound, for which years are taken together where a map is large; what is counted is
// every article with a place and a year, none twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "store/atlas.h"
#include "store/store.h"

namespace somatlas::serve {

class YearCounts {
 public:
  /// store: null: there is nothing to count. bytes: the bound, above one count a cell. Both outlive
  /// this.
  YearCounts(store::Atlas& atlas, store::Store* store, std::size_t neurons, std::size_t bytes);

  struct State {
    std::size_t ranges = 0;   // of PMIDs, that the atlas has
    std::size_t counted = 0;  // of them
    unsigned step = 1;        // years that are counted together: 1, 5, 10, 50 or 500
    std::uint64_t undated = 0;
    std::vector<std::pair<unsigned, std::uint64_t>> articles;  // by the first year of a step
  };
  /// Counts so few more ranges that nobody waits long. Throws store::StoreError.
  State go_on();
  [[nodiscard]] bool whole() const;

  /// Articles of each cell from the step of one year to the step of another. Empty until all is
  /// counted.
  [[nodiscard]] std::vector<std::uint32_t> of_cells(unsigned first, unsigned last) const;
  /// Articles of each step, by its first year, in the cells of which part has that number; those
  /// that have any. Empty until all is counted.
  [[nodiscard]] std::vector<std::pair<unsigned, std::uint64_t>> of_part(
      std::span<const std::uint32_t> part, std::uint32_t number) const;

 private:
  void count(std::uint32_t range);
  void add(unsigned year, std::uint32_t neuron);
  void coarsen();

  store::Atlas& atlas_;
  store::Store* store_;
  std::size_t neurons_;
  std::size_t most_steps_;
  std::vector<std::uint32_t> ranges_;
  mutable std::mutex mutex_;
  std::size_t counted_ = 0;
  std::size_t step_ = 0;  // in the list of steps
  std::uint64_t undated_ = 0;
  struct Step {
    std::uint64_t articles = 0;
    std::vector<std::uint32_t> of_cells;
  };
  std::map<unsigned, Step> counts_;  // by the first year of a step
};

}  // namespace somatlas::serve
