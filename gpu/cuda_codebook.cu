// The codebook's own kernels: norms and bounds from the stored weights, and planes in and out of
// the lines. Always holds: sums of squares are exact 64-bit integers, so their order does not
// matter.
#include "gpu/cuda_codebook.cuh"

#include <algorithm>

#include "gpu/contract.h"

namespace somatlas::gpu {
namespace {

constexpr unsigned block_threads = 256;
constexpr unsigned block_warps = block_threads / 32;
/// Descriptors whose squares a block sums before it adds to memory.
constexpr std::uint32_t norm_descriptors = 1024;

constexpr std::size_t blocks_a_line = line_weights / tree_fanout;

[[nodiscard]] constexpr std::size_t lines_of(std::size_t nodes) {
  return (nodes + line_weights - 1) / line_weights;
}

[[nodiscard]] constexpr std::size_t present_words_of(MapShape shape) {
  return (shape.descriptors + 31) / 32;
}

/// Maps of up to so many supers keep byte lines, half as much again as their weights: brute force
/// waits for the L2, and reads half as much of the lines that are there in bytes. On larger maps
/// the pruned search is far ahead.
constexpr std::size_t most_supers_in_bytes = 256;
constexpr std::uint32_t most_of_byte = 255;

[[nodiscard]] constexpr std::size_t byte_count_of(MapShape shape) {
  const std::size_t supers = PlaneTree::size_of(shape.side).supers;
  return supers <= most_supers_in_bytes ? supers * shape.descriptors * line_weights : 0;
}

/// The most of eight weights, as two halves of a word.
[[nodiscard]] __device__ std::uint32_t most_of(uint4 eight) {
  return __vmaxu2(__vmaxu2(eight.x, eight.y), __vmaxu2(eight.z, eight.w));
}

/// Grid (supers, slices of descriptors): a warp takes every eighth descriptor of its slice, a lane
/// eight neurons, half a block. A square is below 2^28, so eight of them fit 32 bits.
/// Makes fine bounds, those of supers where there are weights.
/// marked: a line that is not marked holds nothing and need not be read.
__global__ void square_sum_kernel(CodebookView book, bool marked) {
  __shared__ unsigned long long sums[line_weights];
  const std::uint32_t super = blockIdx.x;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t warp = threadIdx.x / 32;
  sums[threadIdx.x] = 0;
  __syncthreads();
  const std::uint32_t begin = blockIdx.y * norm_descriptors;
  const std::uint32_t end = min(begin + norm_descriptors, book.descriptors);
  const std::size_t block_line = super / blocks_a_line * std::size_t{book.descriptors};
  const std::size_t super_line = super / line_weights * std::size_t{book.descriptors};
  constexpr std::uint32_t all = 0xFFFF'FFFFU;
  std::uint64_t wide[8] = {};
  std::uint32_t narrow[8] = {};
  std::uint32_t added = 0;
  const auto put_block = [&](std::uint32_t descriptor, std::uint32_t most) {
    if (lane % 2 == 0) {
      book.blocks.fine().weights[(block_line + descriptor) * line_weights +
                                 super % blocks_a_line * tree_fanout + lane / 2] =
          static_cast<std::uint16_t>(most);
    }
  };
  for (std::uint32_t first = begin + warp; first < end; first += 32 * block_warps) {
    // The next 32 lines of the warp: which of them there are, and which hold weights.
    const std::uint32_t mine = first + lane * block_warps;
    const std::uint32_t given = __ballot_sync(all, mine < end);
    std::uint32_t filled = __ballot_sync(
        all,
        mine < end &&
            (!marked || book.held[(super_line + mine) * line_weights + super % line_weights] != 0));
    for (std::uint32_t empty = given & ~filled; empty != 0; empty &= empty - 1) {
      put_block(first + (__ffs(static_cast<int>(empty)) - 1) * block_warps, 0);
    }
    while (filled != 0) {
      constexpr int at_once = 4;  // so many loads in flight
      std::uint32_t descriptor[at_once];
      uint4 four[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        descriptor[k] =
            filled != 0 ? first + (__ffs(static_cast<int>(filled)) - 1) * block_warps : end;
        filled &= filled - 1;
        four[k] =
            descriptor[k] == end
                ? make_uint4(0, 0, 0, 0)
                : reinterpret_cast<const uint4*>(
                      book.neurons.weights +
                      (std::size_t{super} * book.descriptors + descriptor[k]) * line_weights)[lane];
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (descriptor[k] == end) {
          break;
        }
        const std::uint32_t pairs[4] = {four[k].x, four[k].y, four[k].z, four[k].w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const std::uint32_t low = pairs[i] & 0xFFFFU;
          const std::uint32_t high = pairs[i] >> 16;
          narrow[2 * i] += low * low;
          narrow[2 * i + 1] += high * high;
        }
        const std::uint32_t two = most_of(four[k]);
        std::uint32_t most = max(two & 0xFFFFU, two >> 16);
        most = max(most, __shfl_xor_sync(all, most, 1));
        put_block(descriptor[k], most);
        most = __reduce_max_sync(all, most);
        if (lane == 0) {
          const std::size_t at = (super_line + descriptor[k]) * line_weights + super % line_weights;
          book.supers.fine().weights[at] = static_cast<std::uint16_t>(most);
          book.held[at] = most == 0             ? 0
                          : most > most_of_byte ? line_holds::weights
                                                : line_holds::weights | line_holds::bytes;
        }
        if (book.byte_lines != nullptr && most <= most_of_byte) {
          reinterpret_cast<uint2*>(book.byte_lines +
                                   (std::size_t{super} * book.descriptors + descriptor[k]) *
                                       line_weights)[lane] =
              make_uint2(__byte_perm(pairs[0], pairs[1], 0x6240),
                         __byte_perm(pairs[2], pairs[3], 0x6240));
        }
      }
      added += at_once;
      if (added == 8) {
        added = 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
          wide[i] += narrow[i];
          narrow[i] = 0;
        }
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
                  &book.square_sums[std::size_t{super} * line_weights + threadIdx.x]),
              sums[threadIdx.x]);
  }
}

/// A warp a descriptor: the unit of its bounds, by the maxima of the supers.
__global__ void unit_kernel(CodebookView book) {
  const std::uint32_t descriptor = blockIdx.x * block_warps + threadIdx.x / 32;
  if (descriptor >= book.descriptors) {
    return;
  }
  std::uint32_t most = 0;
  for (std::uint32_t line = 0; line < book.supers.count; ++line) {
    const std::size_t row = std::size_t{line} * book.descriptors + descriptor;
    most = __vmaxu2(most, most_of(reinterpret_cast<const uint4*>(
                              book.supers.lines + row * line_bytes)[threadIdx.x % 32]));
  }
  most = __reduce_max_sync(0xFFFF'FFFFU, max(most & 0xFFFFU, most >> 16));
  if (threadIdx.x % 32 == 0) {
    book.units[descriptor] = bound_unit(most);
  }
}

/// Grid (blocks over descriptors, lines): a warp makes a line of fine bounds coarse, in its first
/// half.
__global__ void coarsen_kernel(BoundLines table, const std::uint8_t* units,
                               std::uint32_t descriptors) {
  const std::uint32_t descriptor = blockIdx.x * block_warps + threadIdx.x / 32;
  const std::uint32_t lane = threadIdx.x % 32;
  if (descriptor >= descriptors) {
    return;
  }
  const std::uint32_t unit = units[descriptor];
  // n / unit as n * part >> part_bits, which is exact while n * (part * unit - 2^part_bits) stays
  // below 2^part_bits.
  constexpr int part_bits = 21;
  constexpr std::uint32_t one = 1U << part_bits;
  static_assert((weight_one + full_bound_unit) * full_bound_unit < one);
  const std::uint32_t part = (one + unit - 1) / unit;
  const auto bound = [&](std::uint32_t most) { return (most + unit - 1) * part >> part_bits; };
  for (std::uint32_t line = blockIdx.y; line < table.count; line += gridDim.y) {
    std::byte* const at = table.lines + (std::size_t{line} * descriptors + descriptor) * line_bytes;
    const uint4 maxima = reinterpret_cast<const uint4*>(at)[lane];
    __syncwarp();  // all have been read
    const auto pair = [&](std::uint32_t two) {
      return bound(two & 0xFFFFU) | bound(two >> 16) << 8;
    };
    reinterpret_cast<uint2*>(at)[lane] =
        make_uint2(pair(maxima.x) | pair(maxima.y) << 16, pair(maxima.z) | pair(maxima.w) << 16);
  }
}

/// A block a super, a thread a neuron: its norm, and the least of them in its block and super.
__global__ void norm_kernel(CodebookView book, const std::uint8_t* usable) {
  __shared__ std::int32_t least[line_weights / 32];
  const std::size_t place = std::size_t{blockIdx.x} * line_weights + threadIdx.x;
  const std::uint32_t neuron = tree_neuron(book.side, place);
  const std::int32_t norm =
      neuron != no_neuron && usable[neuron] != 0 ? norm_of(book.square_sums[place]) : padded_norm;
  book.neurons.norms[place] = norm;
  const std::uint32_t half = threadIdx.x % 32 < tree_fanout ? 0x0000'FFFFU : 0xFFFF'0000U;
  const std::int32_t of_block = __reduce_min_sync(half, norm);
  const std::int32_t of_warp = __reduce_min_sync(0xFFFF'FFFFU, norm);
  if (threadIdx.x % tree_fanout == 0) {
    book.blocks.norms[place / tree_fanout] = of_block;
  }
  if (threadIdx.x % 32 == 0) {
    least[threadIdx.x / 32] = of_warp;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    std::int32_t of_super = padded_norm;
    for (const std::int32_t part : least) {
      of_super = min(of_super, part);
    }
    book.supers.norms[blockIdx.x] = of_super;
  }
}

/// Grid (lines of supers, words of descriptors): a thread a super.
__global__ void present_kernel(CodebookView book) {
  const std::uint32_t super = blockIdx.x * line_weights + threadIdx.x;
  if (super >= book.super_count) {
    return;
  }
  const std::size_t line = std::size_t{blockIdx.x} * book.descriptors;
  const std::uint32_t first = blockIdx.y * 32;
  const std::uint32_t count = min(32U, book.descriptors - first);
  uint2 bits{};
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t held = book.held[(line + first + i) * line_weights + threadIdx.x];
    bits.x |= (held & line_holds::weights) != 0 ? 1U << i : 0;
    bits.y |= (held & line_holds::bytes) != 0 && book.byte_lines != nullptr ? 1U << i : 0;
  }
  book.present[std::size_t{super} * book.present_words() + blockIdx.y] = bits;
}

/// Grid (blocks over supers, planes): a warp clears one line of a plane.
__global__ void clear_kernel(CodebookView book, const std::uint32_t* planes, std::size_t count) {
  const std::uint32_t super = blockIdx.x * block_warps + threadIdx.x / 32;
  if (super >= book.super_count) {
    return;
  }
  for (std::size_t i = blockIdx.y; i < count; i += gridDim.y) {
    const std::size_t line = std::size_t{super} * book.descriptors + planes[i];
    reinterpret_cast<uint4*>(book.neurons.weights + line * line_weights)[threadIdx.x % 32] =
        make_uint4(0, 0, 0, 0);
  }
}

/// Grid (blocks over supers, planes): a thread a line.
__global__ void mark_kernel(CodebookView book, const std::uint32_t* planes, std::size_t count,
                            std::uint8_t held) {
  const std::size_t super = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (super >= book.super_count) {
    return;
  }
  for (std::size_t i = blockIdx.y; i < count; i += gridDim.y) {
    book.held[(super / line_weights * book.descriptors + planes[i]) * line_weights +
              super % line_weights] = held;
  }
}

template <bool put>
__global__ void plane_kernel(CodebookView book, std::uint32_t first, std::size_t count,
                             std::uint16_t* planes) {
  const std::uint32_t neuron = blockIdx.x * blockDim.x + threadIdx.x;
  if (neuron >= book.neuron_count) {
    return;
  }
  for (std::size_t i = blockIdx.y; i < count; i += gridDim.y) {
    std::uint16_t& inside =
        book.neurons.weights[book.position(first + static_cast<std::uint32_t>(i), neuron)];
    std::uint16_t& outside = planes[i * book.neuron_count + neuron];
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

LineBuffer::LineBuffer(std::size_t lines, std::size_t descriptors, MemoryAccount& account,
                       const char* what, StreamView stream)
    : lines_(account, lines * line_bytes * descriptors, what),
      norms_(account, lines * line_weights, what) {
  clear(stream);
  const std::vector<std::int32_t> vacant(norms_.size(), padded_norm);
  copy_to_device(norms_.data(), vacant.data(), vacant.size(), stream);
  stream.synchronize();
}

std::size_t Codebook::bytes(MapShape shape) {
  const std::size_t supers = PlaneTree::size_of(shape.side).supers;
  return LineBuffer::bytes(supers, shape.descriptors) +
         LineBuffer::bytes(lines_of(supers * tree_fanout), shape.descriptors) +
         LineBuffer::bytes(lines_of(supers), shape.descriptors) +
         shape.descriptors * (1 + lines_of(supers) * line_weights) +
         supers * (line_weights * sizeof(std::uint64_t) + present_words_of(shape) * sizeof(uint2)) +
         byte_count_of(shape);
}

Codebook::Codebook(MapShape shape, MemoryAccount& account, StreamView stream)
    : shape_(shape),
      supers_(PlaneTree::size_of(shape.side).supers),
      neurons_(supers_, shape.descriptors, account, "the codebook", stream),
      block_bounds_(lines_of(supers_ * tree_fanout), shape.descriptors, account,
                    "the bounds of blocks", stream),
      super_bounds_(lines_of(supers_), shape.descriptors, account, "the bounds of supers", stream),
      units_(account, shape.descriptors, "the units of bounds"),
      held_(account, lines_of(supers_) * line_weights * shape.descriptors, "what lines hold"),
      square_sums_(account, supers_ * line_weights, "the square sums"),
      present_(account, supers_ * present_words_of(shape), "the supers with weights"),
      byte_lines_(account, byte_count_of(shape), "the codebook in bytes") {
  units_.fill_bytes(1, stream);
  held_.fill_bytes(0, stream);
  square_sums_.fill_bytes(0, stream);
  present_.fill_bytes(0, stream);
  stream.synchronize();
}

CodebookView Codebook::view() const {
  return {neurons_.view().fine(),
          block_bounds_.view(),
          super_bounds_.view(),
          units_.data(),
          held_.data(),
          square_sums_.data(),
          present_.data(),
          byte_lines_.data(),
          shape_.side,
          shape_.descriptors,
          static_cast<std::uint32_t>(shape_.neurons()),
          static_cast<std::uint32_t>(supers_),
          coarse_,
          version_};
}

void Codebook::clear_planes(const std::uint32_t* planes, std::size_t count, StreamView stream) {
  if (count != 0) {
    const dim3 grid(static_cast<unsigned>((supers_ + block_warps - 1) / block_warps),
                    static_cast<unsigned>(std::min<std::size_t>(count, 65'535)));
    clear_kernel<<<grid, block_threads, 0, stream.value()>>>(view(), planes, count);
    check_launch();
    mark_planes(planes, count, false, stream);
  }
}

void Codebook::mark_planes(const std::uint32_t* planes, std::size_t count, bool hold,
                           StreamView stream) {
  if (count != 0) {
    mark_kernel<<<plane_grid(view().super_count, count), block_threads, 0, stream.value()>>>(
        view(), planes, count, hold ? line_holds::weights : 0);
    check_launch();
  }
}

void Codebook::make_norms(const std::uint8_t* usable, bool marked, bool coarse, StreamView stream) {
  ++version_;
  square_sums_.fill_bytes(0, stream);
  super_bounds_.clear(stream);
  const auto supers = static_cast<unsigned>(supers_);
  if (shape_.descriptors != 0) {
    const dim3 grid(supers, (shape_.descriptors + norm_descriptors - 1) / norm_descriptors);
    square_sum_kernel<<<grid, block_threads, 0, stream.value()>>>(view(), marked);
    check_launch();
    const dim3 words(view().supers.count, static_cast<unsigned>(present_words_of(shape_)));
    present_kernel<<<words, line_weights, 0, stream.value()>>>(view());
    check_launch();
  }
  norm_kernel<<<supers, line_weights, 0, stream.value()>>>(view(), usable);
  check_launch();
  coarse_ = coarse && shape_.descriptors != 0;
  if (coarse_) {
    const unsigned warps = (shape_.descriptors + block_warps - 1) / block_warps;
    unit_kernel<<<warps, block_threads, 0, stream.value()>>>(view());
    check_launch();
    for (const BoundLines& table : {view().blocks, view().supers}) {
      const dim3 lines(warps, std::min(table.count, 65'535U));
      coarsen_kernel<<<lines, block_threads, 0, stream.value()>>>(table, units_.data(),
                                                                  shape_.descriptors);
      check_launch();
    }
  }
  bounded_ = true;
}

void Codebook::put_planes(DescriptorId first, std::size_t count, const std::uint16_t* planes,
                          StreamView stream) {
  bounded_ = false;
  plane_kernel<true><<<plane_grid(view().neuron_count, count), block_threads, 0, stream.value()>>>(
      view(), first, count, const_cast<std::uint16_t*>(planes));
  check_launch();
}

void Codebook::get_planes(DescriptorId first, std::size_t count, std::uint16_t* planes,
                          StreamView stream) const {
  plane_kernel<false><<<plane_grid(view().neuron_count, count), block_threads, 0, stream.value()>>>(
      view(), first, count, planes);
  check_launch();
}

Cells Codebook::read_cells(StreamView stream) const {
  std::vector<std::int32_t> norms(square_sums_.size());
  std::vector<std::uint64_t> square_sums(square_sums_.size());
  copy_to_host(norms.data(), view().neurons.norms, norms.size(), stream);
  copy_to_host(square_sums.data(), square_sums_.data(), square_sums.size(), stream);
  stream.synchronize();
  Cells cells;
  cells.norm.resize(shape_.neurons());
  cells.square_sum.resize(shape_.neurons());
  cells.vacant.resize(shape_.neurons());
  for (std::size_t i = 0; i < cells.norm.size(); ++i) {
    const std::size_t place = tree_place(shape_.side, static_cast<Neuron>(i));
    cells.vacant[i] = norms[place] == padded_norm ? 1 : 0;
    cells.norm[i] = cells.vacant[i] != 0 ? 0 : norms[place];
    cells.square_sum[i] = square_sums[place];
  }
  return cells;
}

}  // namespace somatlas::gpu
