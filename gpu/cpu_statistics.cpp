// Gathers hits and counts with relaxed atomic additions: sums of integers need no order.
#include "gpu/cpu_statistics.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <functional>
#include <numeric>

namespace somatlas::gpu {

CpuStatistics::CpuStatistics(MapShape shape)
    : shape_(shape), hits_(shape.neurons()), counts_(shape.neurons() * shape.descriptors) {}

void CpuStatistics::clear(const ParallelFor& parallel_for) {
  std::fill(hits_.begin(), hits_.end(), 0);
  parallel_for(counts_.size(), [&](std::size_t begin, std::size_t end) {
    std::fill(counts_.begin() + begin, counts_.begin() + end, std::uint8_t{0});
  });
  carries_.clear();
}

void CpuStatistics::add_rows(const Tile& tile, std::span<const std::uint32_t> rows) {
  const std::size_t neurons = shape_.neurons();
  for (const std::uint32_t r : rows) {
    const Neuron bmu = tile.bmu()[r];
    if ((tile.use()[r] & row_use::trains) == 0 || bmu == no_neuron) {
      continue;
    }
    std::atomic_ref(hits_[bmu]).fetch_add(1, std::memory_order_relaxed);
    for (const DescriptorId descriptor : tile.row(r)) {
      const std::size_t cell = descriptor * neurons + bmu;
      const std::uint8_t before =
          std::atomic_ref(counts_[cell]).fetch_add(1, std::memory_order_relaxed);
      if (before == 255) {
        const std::lock_guard lock(carries_mutex_);
        carries_.push_back(cell);
      }
    }
  }
}

void CpuStatistics::settle() {
  std::sort(carries_.begin(), carries_.end());
}

std::uint64_t CpuStatistics::cells(DescriptorId descriptor, std::vector<CountedCell>& out) const {
  const std::size_t neurons = shape_.neurons();
  const std::size_t first = descriptor * neurons;
  auto carry = std::lower_bound(carries_.begin(), carries_.end(), first);
  std::uint64_t sum = 0;
  out.clear();
  const auto take = [&](std::size_t i) {
    std::uint32_t count = counts_[first + i];
    for (; carry != carries_.end() && *carry == first + i; ++carry) {
      count += 256;
    }
    if (count != 0) {
      out.push_back({static_cast<Neuron>(i), count});
      sum += count;
    }
  };
  // Most cells are zero: a cache line and then eight at a time, but where the next carry lies.
  using Eight = std::uint64_t;
  constexpr std::size_t at_once = 64;
  std::size_t i = 0;
  for (; i + at_once <= neurons; i += at_once) {
    std::array<Eight, at_once / sizeof(Eight)> eights{};
    std::memcpy(eights.data(), counts_.data() + first + i, at_once);
    const bool carried = carry != carries_.end() && *carry < first + i + at_once;
    if (!carried && std::accumulate(eights.begin(), eights.end(), Eight{0}, std::bit_or()) == 0) {
      continue;
    }
    for (std::size_t j = 0; carried && j < at_once; ++j) {
      take(i + j);
    }
    for (std::size_t e = 0; !carried && e < eights.size(); ++e) {
      for (Eight left = eights[e]; left != 0;) {
        const int byte = std::countr_zero(left) / 8;  // x86-64 and AArch64 are little-endian
        take(i + e * sizeof(Eight) + static_cast<std::size_t>(byte));
        left &= ~(Eight{0xFF} << 8 * byte);
      }
    }
  }
  for (; i < neurons; ++i) {
    take(i);
  }
  return sum;
}

}  // namespace somatlas::gpu
