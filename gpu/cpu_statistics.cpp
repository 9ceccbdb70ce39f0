// Gathers hits and counts with relaxed atomic additions: sums of integers need no order.
#include "gpu/cpu_statistics.h"

#include <algorithm>
#include <atomic>

namespace somatlas::gpu {

CpuStatistics::CpuStatistics(MapShape shape)
    : shape_(shape), hits_(shape.neurons()), counts_(shape.neurons() * shape.descriptors) {}

void CpuStatistics::clear() {
  std::fill(hits_.begin(), hits_.end(), 0);
  std::fill(counts_.begin(), counts_.end(), std::uint8_t{0});
  carries_.clear();
}

void CpuStatistics::add_rows(const Tile& tile, std::size_t begin, std::size_t end) {
  const std::size_t neurons = shape_.neurons();
  for (std::size_t r = begin; r < end; ++r) {
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

std::uint64_t CpuStatistics::counts(DescriptorId descriptor, std::span<std::uint32_t> out) const {
  const std::size_t neurons = shape_.neurons();
  const std::size_t first = descriptor * neurons;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < neurons; ++i) {
    out[i] = counts_[first + i];
    sum += out[i];
  }
  const auto begin = std::lower_bound(carries_.begin(), carries_.end(), first);
  const auto end = std::lower_bound(begin, carries_.end(), first + neurons);
  for (auto carry = begin; carry != end; ++carry) {
    out[*carry - first] += 256;
    sum += 256;
  }
  return sum;
}

}  // namespace somatlas::gpu
