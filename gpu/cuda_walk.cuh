// The inner step of every search on the device: a lane scores a run of eight nodes that lie side by
// side in a table of lines, for one row. Always holds: four weights of at most 16,383 are added in
// 16-bit lanes before they are widened, so nothing overflows; the scores are the contract's, or
// bounds made in the same way.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "gpu/contract.h"
#include "gpu/cuda_codebook.cuh"

namespace somatlas::gpu {

/// Where a row's descriptors are after sorting: groups of four, the last one filled up with 0.
struct RowPlace {
  std::uint32_t first_group;
  std::uint32_t length;  // UINT32_MAX: a row that the map cannot take
};

/// The rows that a search kernel takes, in the order of likeness.
struct SearchRows {
  const RowPlace* places;
  const uint4* groups;
  const std::uint32_t* units;         // of each group's descriptors' bounds, a byte each
  const std::uint32_t* starts;        // the old BMU's place in the tree; past all places: none
  const std::uint32_t* listed;        // the rows to search, or null for all
  const unsigned long long* exclude;  // the key whose neuron is left out, or null
  unsigned long long* best;           // rank keys
  std::uint32_t count;
};

/// Groups of four in device memory, walked from the first on; by number, which takes the fewest
/// registers.
class DeviceGroups {
 public:
  explicit __device__ DeviceGroups(const uint4* groups) : groups_(groups) {}
  [[nodiscard]] __device__ uint4 first() const { return __ldg(groups_); }
  /// That behind number k, which was the last to be had.
  [[nodiscard]] __device__ uint4 after(std::uint32_t k) const { return __ldg(groups_ + k + 1); }

 private:
  const uint4* groups_;
};

/// The same in shared memory; by a pointer, which takes the fewest instructions.
class SharedGroups {
 public:
  explicit __device__ SharedGroups(const uint4* groups) : group_(groups) {}
  [[nodiscard]] __device__ uint4 first() const { return *group_; }
  [[nodiscard]] __device__ uint4 after(std::uint32_t /*k*/) { return *++group_; }

 private:
  const uint4* group_;
};

/// What lies at base[index * step]. The address is one multiplication and addition: the compiler
/// makes three or four instructions of it, since it divides the bytes by the size of T first.
template <std::uint32_t step, typename T>
[[nodiscard]] __device__ T fetch_at(const T* base, std::uint32_t index) {
  const T* at;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(at) : "r"(index), "n"(step * sizeof(T)), "l"(base));
  return __ldg(at);
}

/// A pointer whose address stays in registers: the compiler would make it anew for every row.
template <typename T>
[[nodiscard]] __device__ const T* kept(const T* pointer) {
  const T* same;
  asm("mov.b64 %0, %1;" : "=l"(same) : "l"(pointer));
  return same;
}

/// Nodes that a lane takes at once: 16 bytes of weights, 8 of bounds.
inline constexpr int walk_width = 8;

/// Sums of eight nodes' weights, two in a word.
class PairSums {
 public:
  /// Adds up to four lines, whose sum no half of a word overflows.
  template <int lines>
  __device__ void add(const std::uint32_t (&weights)[lines][walk_width / 2]) {
    static_assert(lines * weight_one <= UINT16_MAX);
#pragma unroll
    for (int p = 0; p < walk_width / 2; ++p) {
      std::uint32_t sum = weights[0][p];
#pragma unroll
      for (int k = 1; k < lines; ++k) {
        sum += weights[k][p];
      }
      all_[p] += sum;
      high_[p] += sum >> 16;
    }
  }
  template <int lines>
  __device__ void add(const uint4 (&runs)[lines]) {
    std::uint32_t weights[lines][walk_width / 2];
#pragma unroll
    for (int k = 0; k < lines; ++k) {
      weights[k][0] = runs[k].x;
      weights[k][1] = runs[k].y;
      weights[k][2] = runs[k].z;
      weights[k][3] = runs[k].w;
    }
    add(weights);
  }
  /// Of node j; the compiler should know it.
  [[nodiscard]] __device__ std::uint32_t of(int j) const {
    return j % 2 == 0 ? all_[j / 2] - (high_[j / 2] << 16) : high_[j / 2];
  }

 private:
  // The first sum both halves as one 32-bit number, wrapping; the second the upper halves alone;
  // the lower sum is their difference.
  std::uint32_t all_[walk_width / 2] = {};
  std::uint32_t high_[walk_width / 2] = {};
};

/// Sums of eight nodes' fine bounds, and of the squares of their upper bytes.
class FineSums {
 public:
  /// Adds up to four lines.
  template <int lines>
  __device__ void add(const uint4 (&runs)[lines]) {
    weights_.add(runs);
    uint4 four[4] = {};
#pragma unroll
    for (int k = 0; k < lines; ++k) {
      four[k] = runs[k];
    }
    add_squares(four[0].x, four[1].x, four[2].x, four[3].x, squares_[0], squares_[1]);
    add_squares(four[0].y, four[1].y, four[2].y, four[3].y, squares_[2], squares_[3]);
    add_squares(four[0].z, four[1].z, four[2].z, four[3].z, squares_[4], squares_[5]);
    add_squares(four[0].w, four[1].w, four[2].w, four[3].w, squares_[6], squares_[7]);
  }
  [[nodiscard]] __device__ std::uint32_t of(int j) const {
    return weights_.of(j);
  }
  [[nodiscard]] __device__ std::uint32_t square_of(int j) const {
    return squares_[j];
  }

 private:
  /// Of four pairs of weights.
  static __device__ void add_squares(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                     std::uint32_t d, std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t ab = __byte_perm(a, b, 0x7531);  // low, high of a, low, high of b
    const std::uint32_t cd = __byte_perm(c, d, 0x7531);
    const std::uint32_t lows = __byte_perm(ab, cd, 0x6420);
    const std::uint32_t highs = __byte_perm(ab, cd, 0x7531);
    low = __dp4a(lows, lows, low);
    high = __dp4a(highs, highs, high);
  }

  PairSums weights_;
  std::uint32_t squares_[walk_width] = {};
};

/// Sums of eight nodes' coarse bounds, in units of weights, and of squares of those of the full
/// unit.
class CoarseSums {
 public:
  /// Adds up to four lines; units has a byte of each.
  template <int lines>
  __device__ void add(const uint2 (&runs)[lines], std::uint32_t units) {
    static_assert(lines <= 4);
    std::uint32_t low[4] = {};
    std::uint32_t high[4] = {};
#pragma unroll
    for (int k = 0; k < lines; ++k) {
      low[k] = runs[k].x;
      high[k] = runs[k].y;
    }
    const std::uint32_t full = (units >> 6 & 0x0101'0101U) * 0xFFU;
    static_assert(full_bound_unit >> 6 == 1 && most_small_unit >> 6 == 0);
    add_four<0>(low, units, full);
    add_four<4>(high, units, full);
  }
  [[nodiscard]] __device__ std::uint32_t of(int j) const {
    return sums_[j];
  }
  [[nodiscard]] __device__ std::uint32_t square_of(int j) const {
    return squares_[j];
  }

 private:
  /// Adds four nodes' bounds of four lines, a word each.
  template <int first>
  __device__ void add_four(const std::uint32_t (&words)[4], std::uint32_t units,
                           std::uint32_t full) {
    const std::uint32_t front[2] = {__byte_perm(words[0], words[1], 0x5140),
                                    __byte_perm(words[0], words[1], 0x7362)};
    const std::uint32_t back[2] = {__byte_perm(words[2], words[3], 0x5140),
                                   __byte_perm(words[2], words[3], 0x7362)};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const std::uint32_t node =
          __byte_perm(front[j / 2], back[j / 2], j % 2 == 0 ? 0x5410 : 0x7632);
      sums_[first + j] = __dp4a(node, units, sums_[first + j]);
      squares_[first + j] = __dp4a(node, node & full, squares_[first + j]);
    }
  }

  std::uint32_t sums_[walk_width] = {};
  std::uint32_t squares_[walk_width] = {};
};

/// One lane's run of eight nodes: number run of the table, so nodes 8 run to 8 run + 7.
template <typename Weight>
class RunWalk {
 public:
  [[nodiscard]] __device__ std::uint32_t first_node() const { return first_node_; }

 protected:
  /// Eight of them.
  using Run = std::conditional_t<std::is_same_v<Weight, std::uint8_t>, uint2, uint4>;
  static_assert(sizeof(Run) == walk_width * sizeof(Weight));
  static constexpr std::uint32_t runs_a_line = line_weights / walk_width;
  static constexpr std::uint32_t line_step = line_bytes / sizeof(Run);

  __device__ RunWalk(const LineTable<Weight>& table, std::uint32_t descriptors, std::uint32_t run)
      : line_(reinterpret_cast<const Run*>(table.weights) +
              std::size_t{run / runs_a_line} * descriptors * line_step + run % runs_a_line),
        norms_(reinterpret_cast<const int4*>(table.norms) + std::size_t{run} * 2),
        first_node_(run * walk_width) {}

  /// Fetches the lines of the descriptors in groups: calls each(runs, k) with up to four, those of
  /// group k. The last fetch of descriptors may be of the group behind the row's last.
  template <typename Groups, typename Each>
  __device__ void gather(Groups groups, std::uint32_t length, const Each& each) const {
    uint4 ids = groups.first();
    std::uint32_t k = 0;
    std::uint32_t left = length;
#pragma unroll 1
    for (; left >= 4; left -= 4) {
      const uint4 next = groups.after(k);
      take<4>(ids, k, each);
      ids = next;
      ++k;
    }
    switch (left) {
      case 1:
        take<1>(ids, k, each);
        break;
      case 2:
        take<2>(ids, k, each);
        break;
      case 3:
        take<3>(ids, k, each);
        break;
      default:
        break;
    }
  }

  const Run* line_;  // the run of descriptor 0

  /// The nodes' norms.
  __device__ void fetch_norms(std::int32_t (&norms)[walk_width]) const {
    const int4 low = __ldg(norms_);
    const int4 high = __ldg(norms_ + 1);
    norms[0] = low.x;
    norms[1] = low.y;
    norms[2] = low.z;
    norms[3] = low.w;
    norms[4] = high.x;
    norms[5] = high.y;
    norms[6] = high.z;
    norms[7] = high.w;
  }

 private:
  template <int lines, typename Each>
  __device__ void take(uint4 id, std::uint32_t k, const Each& each) const {
    const std::uint32_t ids[4] = {id.x, id.y, id.z, id.w};
    Run runs[lines];
#pragma unroll
    for (int i = 0; i < lines; ++i) {
      runs[i] = fetch_at<line_step>(line_, ids[i]);
    }
    each(runs, k);
  }

  const int4* norms_;
  std::uint32_t first_node_;
};

/// Scores neurons; made for one row or for many.
class LineWalk : public RunWalk<std::uint16_t> {
 public:
  __device__ LineWalk(const LineTable<std::uint16_t>& table, std::uint32_t descriptors,
                      std::uint32_t run)
      : RunWalk(table, descriptors, run) {
    fetch_norms(norms_);
  }
  /// For many rows.
  [[nodiscard]] __device__ LineWalk for_many() const {
    LineWalk walk = *this;
    walk.line_ = kept(line_);
    return walk;
  }

  /// norm - 128 * sum of weights of each, over the descriptors in groups. The last fetch may be of
  /// the group behind the row's last.
  __device__ void scores(const uint4* group, std::uint32_t length,
                         std::int32_t (&out)[walk_width]) const {
    PairSums sums;
    gather(DeviceGroups(group), length, [&](const auto& runs, std::uint32_t) { sums.add(runs); });
    finish(sums, out);
  }

  /// The same over the descriptors in groups and those whose weights lie in byte lines, at most 32:
  /// bytes is the lane's run of the super's first.
  __device__ void scores(const uint4* group, std::uint32_t length, const uint2* bytes,
                         const uint4* byte_group, std::uint32_t byte_length,
                         std::int32_t (&out)[walk_width]) const {
    PairSums sums;
    gather(SharedGroups(group), length, [&](const auto& runs, std::uint32_t) { sums.add(runs); });
    add_bytes(bytes, byte_group, byte_length, sums);
    finish(sums, out);
  }

 private:
  __device__ void finish(const PairSums& sums, std::int32_t (&out)[walk_width]) const {
#pragma unroll
    for (int j = 0; j < walk_width; ++j) {
      out[j] = norms_[j] - static_cast<std::int32_t>(sums.of(j) << 7);
    }
  }

  /// Adds lines of bytes, groups in shared memory. A word has the bytes of nodes 0, 2, 1 and 3 of
  /// its four, so it is a pair of sums itself but for what bytes 1 and 3 put in, which are summed
  /// apart. So few lines do not overflow half a word.
  static __device__ void add_bytes(const uint2* line, const uint4* group, std::uint32_t length,
                                   PairSums& sums) {
    std::uint32_t whole[2] = {};
    std::uint32_t odd[2] = {};
    const auto add_lines = [&](auto... ids) {
      const uint2 eight[] = {fetch_at<runs_a_line>(line, ids)...};  // these lines have 256 bytes
#pragma unroll
      for (const uint2 word : eight) {
        whole[0] += word.x;
        whole[1] += word.y;
        odd[0] += __byte_perm(word.x, 0, 0x4341);
        odd[1] += __byte_perm(word.y, 0, 0x4341);
      }
    };
    uint4 ids = *group;
#pragma unroll 1
    for (; length >= 4; length -= 4) {
      const uint4 next = *++group;
      add_lines(ids.x, ids.y, ids.z, ids.w);
      ids = next;
    }
    if (length == 1) {
      add_lines(ids.x);
    } else if (length == 2) {
      add_lines(ids.x, ids.y);
    } else if (length == 3) {
      add_lines(ids.x, ids.y, ids.z);
    }
    const std::uint32_t pairs[1][walk_width / 2] = {
        {whole[0] - (odd[0] << 8), odd[0], whole[1] - (odd[1] << 8), odd[1]}};
    sums.add(pairs);
  }

  std::int32_t norms_[walk_width];
};

/// Bounds nodes: makes numbers that no score below them is less than; as LineWalk::scores() where
/// no neuron is usable. With q a neuron's weights in a row's descriptors, n its norm and X the most
/// that the weights may be, n is at least the node's least norm, and at least the sum of q^2 / 256,
/// rounded down. Since q^2 / 256 - 128 q only falls up to 16384, the score is at least
/// max(least norm, sum of X^2 / 256) - 128 * sum of X, also where less is taken for X^2.
class FineBoundWalk : public RunWalk<std::uint16_t> {
 public:
  __device__ FineBoundWalk(const LineTable<std::uint16_t>& table, std::uint32_t descriptors,
                           std::uint32_t run)
      : RunWalk(table, descriptors, run) {}

  /// Over the descriptors in groups. Of X its upper byte alone is squared.
  __device__ void bounds(const uint4* groups, std::uint32_t length,
                         std::int32_t (&out)[walk_width]) const {
    FineSums sums;
    gather(DeviceGroups(groups), length, [&](const auto& runs, std::uint32_t) { sums.add(runs); });
    std::int32_t norms[walk_width];
    fetch_norms(norms);
#pragma unroll
    for (int j = 0; j < walk_width; ++j) {
      out[j] = max(norms[j], static_cast<std::int32_t>(sums.square_of(j)) * byte) -
               static_cast<std::int32_t>(sums.of(j) << 7);
    }
  }

 private:
  static constexpr int byte = 256;
  static constexpr std::int64_t most_upper_byte = weight_one / byte;
  static_assert(max_descriptors * most_upper_byte * most_upper_byte * byte <= INT32_MAX);
};

class CoarseBoundWalk : public RunWalk<std::uint8_t> {
 public:
  __device__ CoarseBoundWalk(const LineTable<std::uint8_t>& table, std::uint32_t descriptors,
                             std::uint32_t run)
      : RunWalk(table, descriptors, run) {}

  /// Over the descriptors in groups, X being their units times the bounds b. Where the unit is u,
  /// the full one, 33 b^2 / 2 is taken for X^2 / 256, and nothing where it is another. The last of
  /// b makes X pass 16384, where the parabola rises again, but not so far.
  __device__ void bounds(const uint4* groups, const std::uint32_t* units, std::uint32_t length,
                         std::int32_t (&out)[walk_width]) const {
    CoarseSums sums;
    gather(DeviceGroups(groups), length,
           [&](const auto& runs, std::uint32_t k) { sums.add(runs, __ldg(units + k)); });
    std::int32_t norms[walk_width];
    fetch_norms(norms);
#pragma unroll
    for (int j = 0; j < walk_width; ++j) {
      const auto norm_there = static_cast<std::uint32_t>(
          max(norms[j], static_cast<std::int32_t>(sums.square_of(j) * square_halves / 2)));
      out[j] = static_cast<std::int32_t>(norm_there - (sums.of(j) << 7));
    }
  }

 private:
  static constexpr std::uint32_t square_halves = 33;
  static constexpr std::uint64_t last = (weight_one + full_bound_unit - 1) / full_bound_unit;
  static_assert(256 * square_halves <= 2 * full_bound_unit * full_bound_unit);
  static_assert(square_halves * last * last / 2 + (1U << 20) <= 128 * full_bound_unit * last);
  static_assert(square_halves * last * last * max_descriptors <= UINT32_MAX);
  static_assert(128 * full_bound_unit * last * max_descriptors <= UINT32_MAX);
};

/// The least of count scores from first on.
template <int first = 0, int count = walk_width>
[[nodiscard]] __device__ std::int32_t least_of(const std::int32_t (&scores)[walk_width]) {
  std::int32_t least = scores[first];
#pragma unroll
  for (int j = first + 1; j < first + count; ++j) {
    least = min(least, scores[j]);
  }
  return least;
}

/// Makes the neuron at a place lose, where it is among those scored.
__device__ inline void leave_out(std::int32_t (&scores)[walk_width], std::uint32_t first_place,
                                 std::size_t place) {
  const std::size_t at = place - first_place;
#pragma unroll
  for (int j = 0; j < walk_width; ++j) {
    scores[j] = at == static_cast<std::size_t>(j) ? INT_MAX : scores[j];
  }
}

/// The lowest neuron of those that have this score. Eight places are two rows of a block, so places
/// and neurons ascend together.
[[nodiscard]] __device__ inline std::uint32_t first_neuron_at(
    const std::int32_t (&scores)[walk_width], std::int32_t score, std::uint32_t side,
    std::uint32_t first_place) {
  std::uint32_t place = first_place;
#pragma unroll
  for (int j = walk_width - 1; j > 0; --j) {
    place = scores[j] == score ? first_place + j : place;
  }
  return tree_neuron(side, scores[0] == score ? first_place : place);
}

}  // namespace somatlas::gpu
