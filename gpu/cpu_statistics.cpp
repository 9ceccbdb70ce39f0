// Gathers hits and counts with relaxed atomic additions: sums of integers need no order.
#include "gpu/cpu_statistics.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace somatlas::gpu {

CpuStatistics::CpuStatistics(MapShape shape)
    : shape_(shape), hits_(shape.neurons()), counts_(shape.neurons() * shape.descriptors) {}

void CpuStatistics::clear() {
  std::fill(hits_.begin(), hits_.end(), 0);
  std::fill(counts_.begin(), counts_.end(), std::uint8_t{0});
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
  // Most cells are zero: eight at a time, but where the next carry lies.
  constexpr std::size_t at_once = sizeof(std::uint64_t);
  std::size_t i = 0;
  for (; i + at_once <= neurons; i += at_once) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, counts_.data() + first + i, sizeof eight);
    if (eight != 0 || (carry != carries_.end() && *carry < first + i + at_once)) {
      for (std::size_t j = i; j < i + at_once; ++j) {
        take(j);
      }
    }
  }
  for (; i < neurons; ++i) {
    take(i);
  }
  return sum;
}

}  // namespace somatlas::gpu
