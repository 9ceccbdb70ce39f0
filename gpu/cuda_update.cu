// Planes are blurred a batch at a time, columns then rows. Descriptors are taken by what their
// counts need: bytes, 32-bit columns and 32-bit sums for most, 64-bit sums where the radius is
// large, 64 bits throughout for the few that nearly every article has.
#include "gpu/cuda_update.cuh"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "gpu/cuda_blur.cuh"

namespace somatlas::gpu {
namespace {

constexpr std::size_t batch_bytes = std::size_t{256} << 20;
/// Shared memory wanted a block of one warp, so that some fit a multiprocessor.
constexpr std::size_t wanted_shared_bytes = std::size_t{72} << 10;
constexpr std::uint32_t most_columns = 32;
constexpr std::uint32_t fewest_columns = 4;

/// What the numbers of a plane need.
enum Width : std::uint8_t { narrow, narrow_columns, wide, uncounted, widths };

/// A pass multiplies a sum by at most the window's width, and the first pass makes at most the
/// total of it: so three passes an axis by no more than the width squared.
[[nodiscard]] Width width_of(const PlaneSummary& plane, std::uint32_t side, std::uint32_t radius) {
  constexpr std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t width = std::min(2 * radius + 1, side);
  if (plane.total == 0) {
    return uncounted;
  }
  if (plane.large != 0 || plane.total > limit / (width * width)) {
    return wide;
  }
  return plane.total * width * width > limit / (width * width) ? narrow_columns : narrow;
}

/// Columns that a block of down_kernel takes: as many as let several blocks run side by side.
template <typename Cell, typename Sum>
[[nodiscard]] std::uint32_t columns_a_block(std::uint32_t side) {
  std::uint32_t columns = most_columns;
  while (columns > fewest_columns && down_bytes<Cell, Sum>(side, columns) > wanted_shared_bytes) {
    columns /= 2;
  }
  return columns;
}

[[nodiscard]] std::size_t room_words(MapShape shape) {
  const std::size_t plane = ColumnLayout::of(shape.side).plane();
  const std::size_t batch = batch_bytes / sizeof(std::uint64_t);
  // Every plane at once in 32 bits, or what the constant holds, and at least one in 64.
  return std::max(plane, std::min(batch, (plane * shape.descriptors + 1) / 2));
}

[[nodiscard]] std::size_t hits_places(MapShape shape) {
  return std::size_t{shape.side} * ColumnLayout::of(shape.side).pitch;
}

}  // namespace

std::size_t Updater::bytes(MapShape shape) {
  return room_words(shape) * sizeof(std::uint64_t) +
         hits_places(shape) * (sizeof(std::uint64_t) + sizeof(float)) + shape.neurons() +
         shape.descriptors * sizeof(std::uint32_t);
}

Updater::Updater(MapShape shape, MemoryAccount& account)
    : shape_(shape),
      planes_(account, room_words(shape), "the planes in work"),
      hits_(account, hits_places(shape), "the blurred hits"),
      scales_(account, hits_places(shape), "the divisions' scales"),
      usable_(account, shape.neurons(), "the neurons' flags"),
      descriptors_(account, shape.descriptors, "the list of descriptors") {
  int device = 0;
  int most_bytes = 0;
  check(cudaGetDevice(&device));
  check(cudaDeviceGetAttribute(&most_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const std::size_t needed = down_bytes<std::uint32_t, std::uint64_t>(shape.side, fewest_columns);
  if (needed > static_cast<std::size_t>(most_bytes)) {
    throw std::runtime_error("a side of " + std::to_string(shape.side) + " needs " +
                             std::to_string(needed) +
                             " bytes of the GPU's shared memory a block, and it has " +
                             std::to_string(most_bytes) + "; take a smaller side");
  }
}

template <typename Cell, typename Column, typename Sum, typename Counts, typename Sink>
void Updater::blur(Counts counts, const std::uint32_t* planes, std::size_t count,
                   std::uint32_t radius, Sink sink, StreamView stream) {
  const ColumnLayout layout = ColumnLayout::of(shape_.side);
  auto* const room = reinterpret_cast<Column*>(planes_.data());
  const std::uint32_t columns = columns_a_block<Cell, Column>(shape_.side);
  const std::size_t shared = down_bytes<Cell, Column>(shape_.side, columns);
  const auto down = down_kernel<Cell, Column, Counts>;
  check(cudaFuncSetAttribute(down, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)));
  const dim3 down_grid((shape_.side + columns - 1) / columns, static_cast<unsigned>(count));
  down<<<down_grid, 32, shared, stream.value()>>>(counts, planes, layout, static_cast<int>(radius),
                                                  columns, room);
  check_launch();
  const dim3 across_grid(layout.pitch / 32,
                         static_cast<unsigned>((count + across_warps - 1) / across_warps));
  across_kernel<Sum><<<across_grid, across_warps * 32, 0, stream.value()>>>(
      room, static_cast<std::uint32_t>(count), layout, static_cast<int>(radius), sink);
  check_launch();
}

template <typename Cell, typename Column, typename Sum>
void Updater::make_planes(const Codebook& book, const Statistics& statistics,
                          std::span<const DescriptorId> planes, std::size_t first,
                          std::uint32_t radius, StreamView stream) {
  const ColumnLayout layout = ColumnLayout::of(shape_.side);
  const std::size_t batch =
      std::clamp<std::size_t>(planes_.bytes() / (layout.plane() * sizeof(Column)), 1, 65'535);
  for (std::size_t begin = 0; begin < planes.size(); begin += batch) {
    const std::size_t count = std::min(batch, planes.size() - begin);
    const std::uint32_t* const here = descriptors_.data() + first + begin;
    std::visit(
        [&](auto counts) {
          blur<Cell, Column, Sum>(
              counts, here, count, radius,
              WeightSink{book.view(), here, layout, hits_.data(), scales_.data()}, stream);
        },
        statistics.counts());
  }
}

void Updater::update(Codebook& book, Statistics& statistics, std::uint32_t radius,
                     StreamView stream) {
  // Wider than the map is the same as covering it.
  radius = std::min(radius, shape_.side - 1);
  blur<std::uint32_t, std::uint64_t, std::uint64_t>(
      DenseCounts{statistics.hits(), shape_.side}, nullptr, 1, radius,
      HitsSink{ColumnLayout::of(shape_.side), hits_.data(), scales_.data(), usable_.data()},
      stream);

  const std::vector<PlaneSummary> planes = statistics.settle(stream);
  std::array<std::vector<DescriptorId>, widths> by_width;
  for (DescriptorId descriptor = 0; descriptor < planes.size(); ++descriptor) {
    by_width[width_of(planes[descriptor], shape_.side, radius)].push_back(descriptor);
  }
  std::array<std::size_t, widths> firsts{};
  std::vector<DescriptorId> order;
  for (std::size_t width = 0; width < widths; ++width) {
    firsts[width] = order.size();
    order.insert(order.end(), by_width[width].begin(), by_width[width].end());
  }
  copy_to_device(descriptors_.data(), order.data(), order.size(), stream);
  book.clear_planes(descriptors_.data() + firsts[uncounted], by_width[uncounted].size(), stream);
  make_planes<std::uint8_t, std::uint32_t, std::uint32_t>(book, statistics, by_width[narrow],
                                                          firsts[narrow], radius, stream);
  make_planes<std::uint8_t, std::uint32_t, std::uint64_t>(
      book, statistics, by_width[narrow_columns], firsts[narrow_columns], radius, stream);
  make_planes<std::uint32_t, std::uint64_t, std::uint64_t>(book, statistics, by_width[wide],
                                                           firsts[wide], radius, stream);
  book.make_norms(usable_.data(), stream);
  stream.synchronize();
}

}  // namespace somatlas::gpu
