// The inner step of every search on the device: a lane scores a run of eight nodes that lie side by
// side in a table of lines, for one row. Always holds: four weights of at most 16,383 are added in
// 16-bit lanes before they are widened, so nothing overflows; the scores are the contract's, or
// bounds made in the same way.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

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
  const std::uint32_t* starts;        // the old BMU's place in the tree; past all places: none
  const std::uint32_t* listed;        // the rows to search, or null for all
  const unsigned long long* exclude;  // the key whose neuron is left out, or null
  unsigned long long* best;           // rank keys
  std::uint32_t count;
};

/// Where the groups of four are that a lane walks.
enum class Memory : std::uint8_t { device, shared };

template <Memory memory>
[[nodiscard]] __device__ uint4 fetch(const uint4* group) {
  if constexpr (memory == Memory::device) {
    return __ldg(group);
  } else {
    return *group;
  }
}

/// What lies at base[index * step]. The address is one multiplication and addition: the compiler
/// makes three or four instructions of it, since it divides the bytes by the size of T first.
template <std::uint32_t step, typename T>
[[nodiscard]] __device__ T fetch_at(const T* base, std::uint32_t index) {
  const T* at;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(at) : "r"(index), "n"(step * sizeof(T)), "l"(base));
  return __ldg(at);
}

/// Nodes that a lane scores at once: 16 bytes of weights.
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

/// One lane's run of eight nodes: number run of the table, so nodes 8 run to 8 run + 7.
class LineWalk {
 public:
  __device__ LineWalk(const LineTable& table, std::uint32_t descriptors, std::uint32_t run)
      : line_(reinterpret_cast<const uint4*>(table.weights) +
              std::size_t{run / runs_a_line} * descriptors * runs_a_line + run % runs_a_line),
        low_norms_(__ldg(reinterpret_cast<const int4*>(table.norms) + std::size_t{run} * 2)),
        high_norms_(__ldg(reinterpret_cast<const int4*>(table.norms) + std::size_t{run} * 2 + 1)),
        first_node_(run * walk_width) {}

  [[nodiscard]] __device__ std::uint32_t first_node() const { return first_node_; }

  /// norm - 128 * sum of weights of each node, over the descriptors in groups. The last fetch may
  /// be of the group behind the row's last.
  template <Memory memory = Memory::device>
  __device__ void scores(const uint4* group, std::uint32_t length,
                         std::int32_t (&out)[walk_width]) const {
    walk<false, memory>(group, length, out);
  }

  /// The same over the descriptors in groups and those whose weights lie in byte lines, at most 32:
  /// bytes is the lane's run of the super's first.
  __device__ void scores(const uint4* group, std::uint32_t length, const uint2* bytes,
                         const uint4* byte_group, std::uint32_t byte_length,
                         std::int32_t (&out)[walk_width]) const {
    Sums sums;
    gather<false, Memory::shared>(group, length, sums);
    add_bytes(bytes, byte_group, byte_length, sums.weights);
    finish<false>(sums, out);
  }

  /// In a table of bounds: a number that no score below the node is less than. With X the largest
  /// weights, q a neuron's and n its norm: n >= the least norm, and n >= sum of q^2 / 256 less a
  /// rounding; n - 128 * sum of q only falls as q grows to X <= 16383, so the bound is
  /// max(least norm, sum of X^2 / 256) - 128 * sum of X. Of X its upper byte alone is squared,
  /// which makes the bound a little less.
  __device__ void bounds(const uint4* group, std::uint32_t length,
                         std::int32_t (&out)[walk_width]) const {
    walk<true, Memory::device>(group, length, out);
  }

 private:
  static constexpr std::uint32_t runs_a_line = line_weights / walk_width;
  static constexpr int byte = 256;
  static constexpr std::int64_t most_upper_byte = weight_one / byte;
  static_assert(max_descriptors * most_upper_byte * most_upper_byte * byte <= INT32_MAX);

  struct Sums {
    PairSums weights;
    std::uint32_t squares[walk_width] = {};  // of upper bytes
  };

  template <bool bounding, Memory memory>
  __device__ void walk(const uint4* group, std::uint32_t length,
                       std::int32_t (&out)[walk_width]) const {
    Sums sums;
    gather<bounding, memory>(group, length, sums);
    finish<bounding>(sums, out);
  }

  template <bool bounding, Memory memory>
  __device__ void gather(const uint4* group, std::uint32_t length, Sums& sums) const {
    uint4 ids = fetch<memory>(group);
    std::uint32_t left = length;
#pragma unroll 1
    for (; left >= 4; left -= 4) {
      const uint4 next = fetch<memory>(++group);
      add<4, bounding>(ids, sums);
      ids = next;
    }
    switch (left) {
      case 1:
        add<1, bounding>(ids, sums);
        break;
      case 2:
        add<2, bounding>(ids, sums);
        break;
      case 3:
        add<3, bounding>(ids, sums);
        break;
      default:
        break;
    }
  }

  template <bool bounding>
  __device__ void finish(const Sums& sums, std::int32_t (&out)[walk_width]) const {
    const std::int32_t norms[walk_width] = {low_norms_.x,  low_norms_.y,  low_norms_.z,
                                            low_norms_.w,  high_norms_.x, high_norms_.y,
                                            high_norms_.z, high_norms_.w};
#pragma unroll
    for (int j = 0; j < walk_width; ++j) {
      std::int32_t norm = norms[j];
      if constexpr (bounding) {
        norm = max(norm, static_cast<std::int32_t>(sums.squares[j]) * byte);
      }
      out[j] = norm - static_cast<std::int32_t>(sums.weights.of(j) << 7);
    }
  }

  template <int lines, bool bounding>
  __device__ void add(uint4 id, Sums& sums) const {
    const std::uint32_t ids[4] = {id.x, id.y, id.z, id.w};
    std::uint32_t weights[lines][4];
#pragma unroll
    for (int k = 0; k < lines; ++k) {
      const uint4 four = fetch_at<runs_a_line>(line_, ids[k]);
      weights[k][0] = four.x;
      weights[k][1] = four.y;
      weights[k][2] = four.z;
      weights[k][3] = four.w;
    }
    if constexpr (bounding) {
#pragma unroll
      for (int p = 0; p < walk_width / 2; ++p) {
        add_squares(weights[0][p], lines > 1 ? weights[lines > 1 ? 1 : 0][p] : 0,
                    lines > 2 ? weights[lines > 2 ? 2 : 0][p] : 0,
                    lines > 3 ? weights[lines > 3 ? 3 : 0][p] : 0, sums.squares[2 * p],
                    sums.squares[2 * p + 1]);
      }
    }
    sums.weights.add(weights);
  }

  /// Adds lines of bytes, groups in shared memory. A word has the bytes of nodes 0, 2, 1 and 3 of
  /// its four, so it is a pair of sums itself but for what bytes 1 and 3 put in, which are summed
  /// apart. So few lines do not overflow half a word.
  static __device__ void add_bytes(const uint2* line, const uint4* group, std::uint32_t length,
                                   PairSums& sums) {
    std::uint32_t whole[2] = {};
    std::uint32_t odd[2] = {};
    const auto add_lines = [&](auto... ids) {
      const uint2 eight[] = {fetch_at<runs_a_line>(line, ids)...};
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

  /// Adds the squares of the upper bytes of four pairs of weights.
  static __device__ void add_squares(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                     std::uint32_t d, std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t ab = __byte_perm(a, b, 0x7531);  // low, high of a, low, high of b
    const std::uint32_t cd = __byte_perm(c, d, 0x7531);
    const std::uint32_t lows = __byte_perm(ab, cd, 0x6420);
    const std::uint32_t highs = __byte_perm(ab, cd, 0x7531);
    low = __dp4a(lows, lows, low);
    high = __dp4a(highs, highs, high);
  }

  const uint4* line_;
  int4 low_norms_;
  int4 high_norms_;
  std::uint32_t first_node_;
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
