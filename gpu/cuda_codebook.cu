// The codebook's own kernels: norms from the stored weights, and planes in and out of the chunks.
// Always holds: sums of squares are exact 64-bit integers, so their order does not matter.
#include "gpu/cuda_codebook.cuh"

#include <algorithm>

#include "gpu/contract.h"

namespace somatlas::gpu {
namespace {

constexpr unsigned block_threads = 256;
constexpr unsigned block_warps = block_threads / 32;
/// Descriptors whose squares a block sums before it adds to memory.
constexpr std::uint32_t norm_descriptors = 1024;

[[nodiscard]] std::uint32_t chunks_of(MapShape shape) {
  return static_cast<std::uint32_t>((shape.neurons() + chunk_neurons - 1) / chunk_neurons);
}

/// Grid (chunks, slices of descriptors): a warp takes every eighth descriptor of its slice, a lane
/// eight neurons. A square is below 2^28, so eight of them fit 32 bits.
__global__ void square_sum_kernel(CodebookView book) {
  __shared__ unsigned long long sums[chunk_neurons];
  const std::uint32_t chunk = blockIdx.x;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t warp = threadIdx.x / 32;
  sums[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t begin = blockIdx.y * norm_descriptors;
  const std::uint32_t end = min(begin + norm_descriptors, book.descriptors);
  std::uint64_t wide[8] = {};
  std::uint32_t narrow[8] = {};
  std::uint32_t added = 0;
  for (std::uint32_t descriptor = begin + warp; descriptor < end; descriptor += block_warps) {
    const auto* line = reinterpret_cast<const uint4*>(
        book.weights + (std::size_t{chunk} * book.descriptors + descriptor) * chunk_neurons);
    const uint4 four = line[lane];
    const std::uint32_t pairs[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t low = pairs[i] & 0xFFFFU;
      const std::uint32_t high = pairs[i] >> 16;
      narrow[2 * i] += low * low;
      narrow[2 * i + 1] += high * high;
    }
    if (++added == 8) {
      added = 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        wide[i] += narrow[i];
        narrow[i] = 0;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    atomicAdd(&sums[lane * 8 + i], static_cast<unsigned long long>(wide[i] + narrow[i]));
  }
  __syncthreads();
  if (sums[threadIdx.x] != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(
                  &book.square_sums[chunk * chunk_neurons + threadIdx.x]),
              sums[threadIdx.x]);
  }
}

__global__ void norm_kernel(CodebookView book, const std::uint8_t* usable) {
  const std::uint32_t neuron = blockIdx.x * blockDim.x + threadIdx.x;
  if (neuron < book.chunks * chunk_neurons) {
    book.norms[neuron] = neuron < book.neurons && usable[neuron] != 0
                             ? norm_of(book.square_sums[neuron])
                             : padded_norm;
  }
}

/// Grid (blocks over chunks, planes): a warp clears one line of a plane.
__global__ void clear_kernel(CodebookView book, const std::uint32_t* planes, std::size_t count) {
  const std::uint32_t chunk = blockIdx.x * block_warps + threadIdx.x / 32;
  if (chunk >= book.chunks) {
    return;
  }
  for (std::size_t i = blockIdx.y; i < count; i += gridDim.y) {
    const std::size_t line = std::size_t{chunk} * book.descriptors + planes[i];
    reinterpret_cast<uint4*>(book.weights + line * chunk_neurons)[threadIdx.x % 32] =
        make_uint4(0, 0, 0, 0);
  }
}

template <bool put>
__global__ void plane_kernel(CodebookView book, std::uint32_t first, std::size_t count,
                             std::uint16_t* planes) {
  const std::uint32_t neuron = blockIdx.x * blockDim.x + threadIdx.x;
  if (neuron >= book.neurons) {
    return;
  }
  for (std::size_t i = blockIdx.y; i < count; i += gridDim.y) {
    std::uint16_t& inside =
        book.weights[book.position(first + static_cast<std::uint32_t>(i), neuron)];
    std::uint16_t& outside = planes[i * book.neurons + neuron];
    if constexpr (put) {
      inside = outside;
    } else {
      outside = inside;
    }
  }
}

[[nodiscard]] dim3 plane_grid(std::uint32_t across, std::size_t count) {
  return {(across + block_threads - 1) / block_threads,
          static_cast<unsigned>(std::min<std::size_t>(count, 65'535))};
}

}  // namespace

std::size_t Codebook::bytes(MapShape shape) {
  const std::size_t padded = std::size_t{chunks_of(shape)} * chunk_neurons;
  return padded * shape.descriptors * sizeof(std::uint16_t) +
         padded * (sizeof(std::int32_t) + sizeof(std::uint64_t));
}

Codebook::Codebook(MapShape shape, MemoryAccount& account, StreamView stream)
    : shape_(shape),
      weights_(account, std::size_t{chunks_of(shape)} * chunk_neurons * shape.descriptors,
               "the codebook"),
      norms_(account, std::size_t{chunks_of(shape)} * chunk_neurons, "the norms"),
      square_sums_(account, std::size_t{chunks_of(shape)} * chunk_neurons, "the square sums") {
  weights_.fill_bytes(0, stream);
  square_sums_.fill_bytes(0, stream);
  const std::vector<std::int32_t> vacant(norms_.size(), padded_norm);
  copy_to_device(norms_.data(), vacant.data(), vacant.size(), stream);
  stream.synchronize();
}

CodebookView Codebook::view() const {
  return {weights_.data(),  norms_.data(),      square_sums_.data(),
          shape_.side,      shape_.descriptors, static_cast<std::uint32_t>(shape_.neurons()),
          chunks_of(shape_)};
}

void Codebook::clear_planes(const std::uint32_t* planes, std::size_t count, StreamView stream) {
  if (count != 0) {
    const dim3 grid((chunks_of(shape_) + block_warps - 1) / block_warps,
                    static_cast<unsigned>(std::min<std::size_t>(count, 65'535)));
    clear_kernel<<<grid, block_threads, 0, stream.value()>>>(view(), planes, count);
    check_launch();
  }
}

void Codebook::make_norms(const std::uint8_t* usable, StreamView stream) {
  square_sums_.fill_bytes(0, stream);
  if (shape_.descriptors != 0) {
    const dim3 grid(chunks_of(shape_),
                    (shape_.descriptors + norm_descriptors - 1) / norm_descriptors);
    square_sum_kernel<<<grid, block_threads, 0, stream.value()>>>(view());
    check_launch();
  }
  norm_kernel<<<chunks_of(shape_), chunk_neurons, 0, stream.value()>>>(view(), usable);
  check_launch();
}

void Codebook::put_planes(DescriptorId first, std::size_t count, const std::uint16_t* planes,
                          StreamView stream) {
  plane_kernel<true><<<plane_grid(view().neurons, count), block_threads, 0, stream.value()>>>(
      view(), first, count, const_cast<std::uint16_t*>(planes));
  check_launch();
}

void Codebook::get_planes(DescriptorId first, std::size_t count, std::uint16_t* planes,
                          StreamView stream) const {
  plane_kernel<false><<<plane_grid(view().neurons, count), block_threads, 0, stream.value()>>>(
      view(), first, count, planes);
  check_launch();
}

Cells Codebook::read_cells(StreamView stream) const {
  Cells cells;
  cells.norm.resize(shape_.neurons());
  cells.square_sum.resize(shape_.neurons());
  cells.vacant.resize(shape_.neurons());
  copy_to_host(cells.norm.data(), norms_.data(), cells.norm.size(), stream);
  copy_to_host(cells.square_sum.data(), square_sums_.data(), cells.square_sum.size(), stream);
  stream.synchronize();
  for (std::size_t i = 0; i < cells.norm.size(); ++i) {
    if (cells.norm[i] == padded_norm) {
      cells.norm[i] = 0;
      cells.vacant[i] = 1;
    }
  }
  return cells;
}

}  // namespace somatlas::gpu
