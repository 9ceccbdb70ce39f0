// Sorting and scanning on the device: CUB behind plain functions, so that one file alone compiles
// it. Always holds: sorts are stable and ascending; nothing is allocated here, the caller brings
// the scratch, whose size is a bound known without a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/cuda_stream.cuh"

namespace somatlas::gpu {

/// Bytes of scratch that each function below needs at most for count items.
[[nodiscard]] constexpr std::size_t sort_scratch_bytes(std::size_t count) {
  return (std::size_t{8} << 20) + count / 2;
}

/// Two arrays of the same length: the first holds the data, the other is room for sorting.
template <typename T>
struct SortRoom {
  T* data;
  T* room;
};

/// Sorts keys with their values by the lowest `bits` bits. On return `data` names the array that
/// holds the result. Throws std::runtime_error when scratch is too small.
void sort_pairs(SortRoom<std::uint32_t>& keys, SortRoom<std::uint32_t>& values, std::size_t count,
                int bits, std::span<std::byte> scratch, StreamView stream);

/// Sorts keys by the lowest `bits` bits; as above.
void sort_keys(SortRoom<std::uint64_t>& keys, std::size_t count, int bits,
               std::span<std::byte> scratch, StreamView stream);
void sort_keys(SortRoom<std::uint32_t>& keys, std::size_t count, int bits,
               std::span<std::byte> scratch, StreamView stream);

/// In place: each value becomes the sum of those before it.
void exclusive_sum(std::uint32_t* values, std::size_t count, std::span<std::byte> scratch,
                   StreamView stream);

}  // namespace somatlas::gpu
