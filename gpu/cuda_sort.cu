// The one file that compiles CUB's sort and scan.
#include "gpu/cuda_sort.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include <stdexcept>
#include <string>

namespace somatlas::gpu {
namespace {

void require(std::size_t needed, std::span<std::byte> scratch) {
  if (needed > scratch.size()) {
    throw std::runtime_error("the GPU's sort needs " + std::to_string(needed) +
                             " bytes of scratch and was given " + std::to_string(scratch.size()));
  }
}

template <typename Key>
void sort_alone(SortRoom<Key>& keys, std::size_t count, int bits, std::span<std::byte> scratch,
                StreamView stream) {
  cub::DoubleBuffer<Key> sorted(keys.data, keys.room);
  std::size_t needed = 0;
  check(cub::DeviceRadixSort::SortKeys(nullptr, needed, sorted, count, 0, bits, stream.value()));
  require(needed, scratch);
  needed = scratch.size();
  check(cub::DeviceRadixSort::SortKeys(scratch.data(), needed, sorted, count, 0, bits,
                                       stream.value()));
  keys = {sorted.Current(), sorted.Alternate()};
}

}  // namespace

void sort_pairs(SortRoom<std::uint32_t>& keys, SortRoom<std::uint32_t>& values, std::size_t count,
                int bits, std::span<std::byte> scratch, StreamView stream) {
  cub::DoubleBuffer<std::uint32_t> sorted_keys(keys.data, keys.room);
  cub::DoubleBuffer<std::uint32_t> sorted_values(values.data, values.room);
  std::size_t needed = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, needed, sorted_keys, sorted_values, count, 0, bits,
                                        stream.value()));
  require(needed, scratch);
  needed = scratch.size();
  check(cub::DeviceRadixSort::SortPairs(scratch.data(), needed, sorted_keys, sorted_values, count,
                                        0, bits, stream.value()));
  keys = {sorted_keys.Current(), sorted_keys.Alternate()};
  values = {sorted_values.Current(), sorted_values.Alternate()};
}

void sort_keys(SortRoom<std::uint64_t>& keys, std::size_t count, int bits,
               std::span<std::byte> scratch, StreamView stream) {
  sort_alone(keys, count, bits, scratch, stream);
}

void sort_keys(SortRoom<std::uint32_t>& keys, std::size_t count, int bits,
               std::span<std::byte> scratch, StreamView stream) {
  sort_alone(keys, count, bits, scratch, stream);
}

void exclusive_sum(std::uint32_t* values, std::size_t count, std::span<std::byte> scratch,
                   StreamView stream) {
  std::size_t needed = 0;
  check(cub::DeviceScan::ExclusiveSum(nullptr, needed, values, values, count, stream.value()));
  require(needed, scratch);
  needed = scratch.size();
  check(
      cub::DeviceScan::ExclusiveSum(scratch.data(), needed, values, values, count, stream.value()));
}

}  // namespace somatlas::gpu
