// Three box passes along each axis, as differences of prefix sums: a warp takes a line of the map
// in shared memory. The first kernel blurs rows and writes them as columns, the second blurs those
// and divides. A batch of planes is in flight between the two, small enough for the L2. Always
// holds: prefix sums wrap at 64 bits and their differences do not, since no cell passes N (2r+1)^4
// < 2^62; so every value is exact.
#include "gpu/cuda_update.cuh"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "gpu/contract.h"

namespace somatlas::gpu {
namespace {

constexpr std::size_t batch_bytes = std::size_t{32} << 20;
constexpr std::size_t shared_bytes = std::size_t{64} << 10;  // wanted a block, so that three fit
constexpr std::uint32_t most_lines = 16;

/// How a block splits the map: lines that it takes and 64-bit words of shared memory for each, two
/// buffers. One past a multiple of 16, so that a walk across the lines meets every bank.
struct LinePlan {
  std::uint32_t lines;
  std::uint32_t words;
  [[nodiscard]] std::size_t bytes() const { return std::size_t{lines} * words * 8; }
};

[[nodiscard]] LinePlan plan_lines(std::uint32_t side) {
  LinePlan plan{most_lines, (2 * side + 15) / 16 * 16 + 1};
  while (plan.lines > 1 && plan.bytes() > shared_bytes) {
    plan.lines /= 2;
  }
  return plan;
}

/// Sum over the window [i - radius, i + radius], clipped, from inclusive prefix sums.
[[nodiscard]] __device__ std::uint64_t window(const std::uint64_t* prefix, std::uint32_t i,
                                              std::uint32_t radius, std::uint32_t side) {
  const std::uint64_t upper = prefix[min(i + radius, side - 1)];
  return i > radius ? upper - prefix[i - radius - 1] : upper;
}

/// One warp: to becomes the inclusive prefix sums of value(0), value(1), ...
template <typename Value>
__device__ void scan(Value value, std::uint64_t* to, std::uint32_t side) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint64_t carry = 0;
  for (std::uint32_t base = 0; base < side; base += 32) {
    const std::uint32_t i = base + lane;
    std::uint64_t sum = i < side ? value(i) : 0;
#pragma unroll
    for (std::uint32_t step = 1; step < 32; step *= 2) {
      const std::uint64_t below = __shfl_up_sync(0xFFFF'FFFFU, sum, step);
      sum += lane >= step ? below : 0;
    }
    sum += carry;
    if (i < side) {
      to[i] = sum;
    }
    carry = __shfl_sync(0xFFFF'FFFFU, sum, 31);
  }
  __syncwarp();
}

/// One warp: the three passes over the line at first, with as much room behind it. Leaves there, at
/// first + side, prefix sums whose windows are the blurred line.
__device__ void blur(std::uint64_t* first, std::uint32_t side, std::uint32_t radius) {
  std::uint64_t* const second = first + side;
  scan([=](std::uint32_t i) { return first[i]; }, second, side);
  scan([=](std::uint32_t i) { return window(second, i, radius, side); }, first, side);
  scan([=](std::uint32_t i) { return window(first, i, radius, side); }, second, side);
}

/// Grid (blocks of lines, planes). Blurs the rows of each plane and writes it with its axes
/// swapped. planes: the descriptors to take, or null for the only plane there is.
template <typename Counts>
__global__ void row_kernel(Counts counts, const std::uint32_t* planes, std::uint32_t side,
                           std::uint32_t radius, LinePlan plan, std::uint64_t* columns) {
  extern __shared__ std::uint64_t shared[];
  const std::uint32_t lines = plan.lines;
  const std::uint32_t first = blockIdx.x * lines;
  const std::uint32_t line = threadIdx.x / 32;
  std::uint64_t* const mine = shared + std::size_t{line} * plan.words;
  if (first + line < side) {
    const std::uint32_t plane = planes == nullptr ? 0 : planes[blockIdx.y];
    if (counts.load_row(plane, first + line, mine)) {
      __syncwarp();
      blur(mine, side, radius);
    } else {
      // Nothing to blur: prefix sums of zero.
      for (std::uint32_t x = threadIdx.x % 32; x < side; x += 32) {
        mine[side + x] = 0;
      }
    }
  }
  __syncthreads();
  std::uint64_t* const plane_columns = columns + std::size_t{blockIdx.y} * side * side;
  const std::uint32_t here = min(lines, side - first);
  for (std::uint32_t i = threadIdx.x; i < lines * side; i += blockDim.x) {
    const std::uint32_t across = i % lines;
    const std::uint32_t x = i / lines;
    if (across < here) {
      plane_columns[std::size_t{x} * side + first + across] =
          window(shared + std::size_t{across} * plan.words + side, x, radius, side);
    }
  }
}

/// Takes the blurred hits: the denominators.
struct HitsSink {
  std::uint64_t* hits;
  float* scales;
  std::uint8_t* usable;

  __device__ void put(std::uint32_t /*plane*/, std::uint32_t neuron, std::uint64_t sum) const {
    hits[neuron] = sum;
    scales[neuron] = sum == 0 ? 0.0F : weight_scale(sum);
    usable[neuron] = sum == 0 ? 0 : 1;
  }
};

/// Takes the blurred counts: divides, and stores the weight.
struct WeightSink {
  CodebookView book;
  const std::uint32_t* planes;
  const std::uint64_t* hits;
  const float* scales;

  __device__ void put(std::uint32_t plane, std::uint32_t neuron, std::uint64_t sum) const {
    // Where there are no hits there are no counts either, so a vacant neuron gets 0.
    std::uint16_t weight = 0;
    if (sum != 0) {
      weight = settle_weight(sum, hits[neuron], estimate_weight(sum, scales[neuron]));
    }
    book.neurons.weights[book.position(planes[plane], neuron)] = weight;
  }
};

/// Grid (blocks of columns, planes). Blurs the columns that row_kernel wrote and hands over each
/// cell.
template <typename Sink>
__global__ void column_kernel(const std::uint64_t* columns, std::uint32_t side,
                              std::uint32_t radius, LinePlan plan, Sink sink) {
  extern __shared__ std::uint64_t shared[];
  const std::uint32_t lines = plan.lines;
  const std::uint32_t first = blockIdx.x * lines;
  const std::uint32_t line = threadIdx.x / 32;
  std::uint64_t* const mine = shared + std::size_t{line} * plan.words;
  if (first + line < side) {
    const std::uint64_t* column = columns + (std::size_t{blockIdx.y} * side + first + line) * side;
    for (std::uint32_t y = threadIdx.x % 32; y < side; y += 32) {
      mine[y] = column[y];
    }
    __syncwarp();
    blur(mine, side, radius);
  }
  __syncthreads();
  const std::uint32_t here = min(lines, side - first);
  for (std::uint32_t i = threadIdx.x; i < lines * side; i += blockDim.x) {
    const std::uint32_t across = i % lines;
    const std::uint32_t y = i / lines;
    if (across < here) {
      sink.put(blockIdx.y, y * side + first + across,
               window(shared + std::size_t{across} * plan.words + side, y, radius, side));
    }
  }
}

template <typename Kernel, typename... Arguments>
void launch_lines(Kernel kernel, std::uint32_t side, std::size_t planes, StreamView stream,
                  Arguments... arguments) {
  const LinePlan plan = plan_lines(side);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(plan.bytes())));
  const dim3 grid((side + plan.lines - 1) / plan.lines, static_cast<unsigned>(planes));
  kernel<<<grid, plan.lines * 32, plan.bytes(), stream.value()>>>(arguments...);
  check_launch();
}

[[nodiscard]] std::size_t batch_of(MapShape shape) {
  return std::clamp<std::size_t>(batch_bytes / (shape.neurons() * sizeof(std::uint64_t)), 1,
                                 std::clamp<std::size_t>(shape.descriptors, 1, 65'535));
}

}  // namespace

std::size_t Updater::bytes(MapShape shape) {
  return batch_of(shape) * shape.neurons() * sizeof(std::uint64_t) +
         shape.neurons() * (sizeof(std::uint64_t) + sizeof(float) + sizeof(std::uint8_t)) +
         shape.descriptors * sizeof(std::uint32_t);
}

Updater::Updater(MapShape shape, MemoryAccount& account)
    : shape_(shape),
      batch_(batch_of(shape)),
      planes_(account, batch_ * shape.neurons(), "the planes in work"),
      hits_(account, shape.neurons(), "the blurred hits"),
      scales_(account, shape.neurons(), "the divisions' scales"),
      usable_(account, shape.neurons(), "the neurons' flags"),
      descriptors_(account, shape.descriptors, "the list of descriptors") {
  int device = 0;
  int most_bytes = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  if (plan_lines(shape.side).bytes() > static_cast<std::size_t>(most_bytes)) {
    throw std::runtime_error("a side of " + std::to_string(shape.side) + " needs " +
                             std::to_string(plan_lines(shape.side).bytes()) +
                             " bytes of the GPU's shared memory a row, and it has " +
                             std::to_string(most_bytes) + "; take a smaller side");
  }
}

void Updater::update(Codebook& book, Statistics& statistics, std::uint32_t radius,
                     StreamView stream) {
  const std::uint32_t side = shape_.side;
  const LinePlan plan = plan_lines(side);
  // Wider than the map is the same as covering it, and keeps i + radius in 32 bits.
  radius = std::min(radius, side);

  launch_lines(row_kernel<DenseCounts>, side, 1, stream, DenseCounts{statistics.hits(), side},
               nullptr, side, radius, plan, planes_.data());
  launch_lines(column_kernel<HitsSink>, side, 1, stream, planes_.data(), side, radius, plan,
               HitsSink{hits_.data(), scales_.data(), usable_.data()});

  std::vector<DescriptorId> order = statistics.settle(stream);
  const std::size_t counted = order.size();
  for (DescriptorId descriptor = 0, next = 0; descriptor < shape_.descriptors; ++descriptor) {
    if (next < counted && order[next] == descriptor) {
      ++next;
    } else {
      order.push_back(descriptor);
    }
  }
  copy_to_device(descriptors_.data(), order.data(), order.size(), stream);
  book.clear_planes(descriptors_.data() + counted, order.size() - counted, stream);
  for (std::size_t begin = 0; begin < counted; begin += batch_) {
    const std::size_t count = std::min(batch_, counted - begin);
    const std::uint32_t* const planes = descriptors_.data() + begin;
    std::visit(
        [&]<typename Counts>(Counts counts) {
          launch_lines(row_kernel<Counts>, side, count, stream, counts, planes, side, radius, plan,
                       planes_.data());
        },
        statistics.counts());
    launch_lines(column_kernel<WeightSink>, side, count, stream, planes_.data(), side, radius, plan,
                 WeightSink{book.view(), planes, hits_.data(), scales_.data()});
  }
  book.make_norms(usable_.data(), stream);
  stream.synchronize();
}

}  // namespace somatlas::gpu
