// Which descriptor is made in which way: from jumps where the counts are few, else whole planes,
// columns then rows; a batch at a time. Numbers are as wide as a descriptor's counts need: 32-bit
// sums where the radius is small, else 64-bit ones; in whole planes bytes and 32-bit columns for
// most, 64 bits throughout for the few that nearly every article has.
#include "gpu/cuda_update.cuh"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "gpu/cuda_axis.cuh"
#include "gpu/cuda_blur.cuh"
#include "gpu/cuda_jump.cuh"
#include "gpu/cuda_jump_list.cuh"

namespace somatlas::gpu {
namespace {

constexpr std::size_t batch_bytes = std::size_t{256} << 20;
/// Shared memory wanted a block of one warp, so that some fit a multiprocessor.
constexpr std::size_t wanted_shared_bytes = std::size_t{72} << 10;
constexpr std::uint32_t most_columns = 32;
constexpr std::uint32_t fewest_columns = 4;

/// Up to so many counts a row of the map jumps are faster than whole planes.
constexpr std::uint64_t most_jump_counts = 5;
/// Where the box is wider, the neurons of a block differ by less than what coarse bounds leave out.
constexpr std::uint32_t most_coarse_radius = 12;

/// How a plane is made.
enum Way : std::uint8_t {
  narrow_jumps,
  wide_jumps,
  narrow_plane,
  narrow_columns,
  wide_plane,
  no_counts,
  ways
};

/// At most so many.
[[nodiscard]] std::uint64_t jumps_of(const PlaneSummary& plane) {
  return plane.total * most_jumps;
}

/// A blurred count is at most the total of them times the largest factor of each axis. room: jumps
/// that fit at once, 0 where the counts are no list of pairs.
[[nodiscard]] Way way_of(const PlaneSummary& plane, MapShape shape, std::uint32_t radius,
                         std::uint64_t room) {
  constexpr std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t factor = most_factor(shape.side, radius);
  if (plane.total == 0) {
    return no_counts;
  }
  const bool narrow_column = plane.total <= limit / factor;
  const bool narrow = narrow_column && plane.total * factor <= limit / factor;
  if (JumpCode::holds(shape.side) && plane.total <= most_jump_counts * shape.side &&
      jumps_of(plane) <= room / 2) {
    return narrow ? narrow_jumps : wide_jumps;
  }
  if (plane.large != 0 || !narrow_column) {
    return wide_plane;
  }
  return narrow ? narrow_plane : narrow_columns;
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

/// Planes dealt into batches of at most room jumps, so that every batch has some of all sizes, the
/// largest first. No plane has more than half of room.
[[nodiscard]] std::vector<std::vector<JumpPlane>> batches_of(
    std::vector<DescriptorId> descriptors, const std::vector<PlaneSummary>& planes,
    std::uint64_t room) {
  std::sort(descriptors.begin(), descriptors.end(),
            [&](DescriptorId a, DescriptorId b) { return planes[a].total > planes[b].total; });
  std::uint64_t all = 0;
  std::uint64_t largest = 0;
  for (const DescriptorId descriptor : descriptors) {
    all += jumps_of(planes[descriptor]);
    largest = std::max(largest, jumps_of(planes[descriptor]));
  }
  // A plane is no larger than the mean of those dealt since its batch's last one: so a batch holds
  // no more than its share of all and the largest.
  const std::uint64_t share = room - largest;
  std::vector<std::vector<JumpPlane>> batches((all + share - 1) / share);
  std::vector<std::uint64_t> used(batches.size());
  for (std::size_t i = 0; i < descriptors.size(); ++i) {
    const std::size_t batch = i % batches.size();
    batches[batch].push_back({descriptors[i], static_cast<std::uint32_t>(used[batch]), 0});
    used[batch] += jumps_of(planes[descriptors[i]]);
  }
  return batches;
}

[[nodiscard]] std::size_t room_words(MapShape shape) {
  const std::size_t plane = LineLayout::of(shape.side).plane();
  const std::size_t batch = batch_bytes / sizeof(std::uint64_t);
  // Every plane at once in 32 bits, or what the constant holds, and at least one in 64.
  return std::max(plane, std::min(batch, (plane * shape.descriptors + 1) / 2));
}

[[nodiscard]] std::size_t hits_places(MapShape shape) {
  return LineLayout::of(shape.side).places();
}

/// Rows up to a multiple of four, and what a strip may read past them.
[[nodiscard]] std::size_t plain_places(MapShape shape) {
  const std::size_t quads = LineLayout::of(shape.side).quads();
  return quads * quads * 16 + JumpQueue::columns;
}

/// Enough for the largest radius.
[[nodiscard]] std::size_t factor_count(MapShape shape) {
  return AxisTables{shape.side, shape.side, nullptr, nullptr}.factor_count();
}

}  // namespace

std::size_t Updater::bytes(MapShape shape) {
  return room_words(shape) * sizeof(std::uint64_t) +
         hits_places(shape) * (sizeof(std::uint64_t) + sizeof(float)) +
         plain_places(shape) * sizeof(float) + shape.neurons() +
         (factor_count(shape) + shape.descriptors) * sizeof(std::uint32_t) +
         std::size_t{shape.side} * most_jumps * sizeof(Jump) +
         shape.descriptors * sizeof(JumpPlane);
}

Updater::Updater(MapShape shape, MemoryAccount& account)
    : shape_(shape),
      planes_(account, room_words(shape), "the planes in work"),
      hits_(account, hits_places(shape), "the blurred hits"),
      scales_(account, hits_places(shape), "the divisions' scales"),
      plain_scales_(account, plain_places(shape), "the scales row by row"),
      usable_(account, shape.neurons(), "the neurons' flags"),
      factors_(account, factor_count(shape), "the factors of an axis"),
      jumps_(account, std::size_t{shape.side} * most_jumps, "the jumps of an axis"),
      jump_planes_(account, shape.descriptors, "the planes with few counts"),
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
  const LineLayout layout = LineLayout::of(shape_.side);
  auto* const room = reinterpret_cast<Column*>(planes_.data());
  const std::uint32_t columns = columns_a_block<Cell, Column>(shape_.side);
  const std::size_t shared = down_bytes<Cell, Column>(shape_.side, columns);
  const auto down = columns == most_columns ? down_kernel<Cell, Column, most_columns, Counts>
                                            : down_kernel<Cell, Column, 0, Counts>;
  check(cudaFuncSetAttribute(down, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared)));
  const dim3 down_grid((shape_.side + columns - 1) / columns, static_cast<unsigned>(count));
  down<<<down_grid, 32, shared, stream.value()>>>(counts, planes, layout, static_cast<int>(radius),
                                                  columns, room);
  check_launch();
  const dim3 across_grid(layout.pitch / 32,
                         static_cast<unsigned>((count + across_warps - 1) / across_warps));
  constexpr std::array across{
      across_kernel<Sum, 0, Column, Sink>, across_kernel<Sum, 1, Column, Sink>,
      across_kernel<Sum, 2, Column, Sink>, across_kernel<Sum, 3, Column, Sink>};
  across[radius % across.size()]<<<across_grid, across_warps * 32, 0, stream.value()>>>(
      room, static_cast<std::uint32_t>(count), layout, static_cast<int>(radius), sink);
  check_launch();
}

template <typename Cell, typename Column, typename Sum>
void Updater::make_planes(const Codebook& book, const Statistics& statistics,
                          const std::uint32_t* planes, std::size_t count, std::uint32_t radius,
                          StreamView stream) {
  const LineLayout layout = LineLayout::of(shape_.side);
  const std::size_t batch =
      std::clamp<std::size_t>(planes_.bytes() / (layout.plane() * sizeof(Column)), 1, 65'535);
  for (std::size_t begin = 0; begin < count; begin += batch) {
    const std::uint32_t* const here = planes + begin;
    std::visit(
        [&](auto counts) {
          blur<Cell, Column, Sum>(
              counts, here, std::min(batch, count - begin), radius,
              WeightSink{book.view(), here, layout, {hits_.data(), scales_.data()}}, stream);
        },
        statistics.counts());
  }
}

AxisTables Updater::tables(std::uint32_t radius) const {
  return {shape_.side, radius, factors_.data(), jumps_.data()};
}

void Updater::make_tables(std::uint32_t radius, StreamView stream) {
  constexpr unsigned threads = 64;
  const AxisTables axis = tables(radius);
  axis_kernel<<<(shape_.side + threads - 1) / threads, threads, 0, stream.value()>>>(axis);
  check_launch();
  shifted_kernel<<<(4 * axis.shifted_length() + threads - 1) / threads, threads, 0,
                   stream.value()>>>(axis);
  check_launch();
}

std::uint64_t Updater::room_for_jumps() const {
  return std::min<std::uint64_t>(planes_.bytes() / sizeof(std::uint32_t),
                                 std::numeric_limits<std::uint32_t>::max());
}

template <typename Sum>
void Updater::make_jumps(const Codebook& book, const Statistics& statistics,
                         const std::vector<PlaneSummary>& planes,
                         const std::vector<DescriptorId>& descriptors, std::uint32_t radius,
                         StreamView stream) {
  const auto code = JumpCode::of(shape_.side);
  const auto strips = (shape_.side + JumpQueue::columns - 1) / JumpQueue::columns;
  check(cudaFuncSetAttribute(list_jumps_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(list_bytes(shape_.side))));
  const auto batches = batches_of(descriptors, planes, room_for_jumps());
  std::vector<JumpPlane> all;
  for (const std::vector<JumpPlane>& batch : batches) {
    all.insert(all.end(), batch.begin(), batch.end());
  }
  copy_to_device(jump_planes_.data(), all.data(), all.size(), stream);
  auto* const list = reinterpret_cast<std::uint32_t*>(planes_.data());
  JumpPlane* here = jump_planes_.data();
  for (const std::vector<JumpPlane>& batch : batches) {
    const auto count = static_cast<unsigned>(batch.size());
    list_jumps_kernel<<<count, list_threads, list_bytes(shape_.side), stream.value()>>>(
        std::get<PairCounts>(statistics.counts()), jumps_.data(), code, here, list);
    check_launch();
    jump_kernel<Sum><<<count * strips, 32, JumpQueue::bytes, stream.value()>>>(
        tables(radius), code, here, list, plain_scales_.data(),
        Divisors{hits_.data(), scales_.data()}, LineLayout::of(shape_.side), book.view(),
        book.bounded());
    check_launch();
    here += batch.size();
  }
}

void Updater::update(Codebook& book, Statistics& statistics, std::uint32_t radius,
                     StreamView stream) {
  // Wider than the map is the same as covering it.
  radius = std::min(radius, shape_.side - 1);
  const LineLayout layout = LineLayout::of(shape_.side);
  const HitsSink sink{
      {layout, {hits_.data(), scales_.data()}, plain_scales_.data(), usable_.data()}};
  blur<std::uint32_t, std::uint64_t, std::uint64_t>(DenseCounts{statistics.hits(), shape_.side},
                                                    nullptr, 1, radius, sink, stream);
  const bool pairs = std::holds_alternative<PairCounts>(statistics.counts());
  if (pairs) {
    make_tables(radius, stream);
  }

  const std::vector<PlaneSummary> planes = statistics.settle(stream);
  std::array<std::vector<DescriptorId>, ways> by_way;
  for (DescriptorId descriptor = 0; descriptor < planes.size(); ++descriptor) {
    by_way[way_of(planes[descriptor], shape_, radius, pairs ? room_for_jumps() : 0)].push_back(
        descriptor);
  }
  std::array<const std::uint32_t*, ways> lists{};
  std::vector<DescriptorId> order;
  for (std::size_t way = 0; way < ways; ++way) {
    lists[way] = descriptors_.data() + order.size();
    order.insert(order.end(), by_way[way].begin(), by_way[way].end());
  }
  copy_to_device(descriptors_.data(), order.data(), order.size(), stream);

  book.clear_planes(lists[no_counts], by_way[no_counts].size(), stream);
  make_jumps<std::uint32_t>(book, statistics, planes, by_way[narrow_jumps], radius, stream);
  make_jumps<std::uint64_t>(book, statistics, planes, by_way[wide_jumps], radius, stream);
  make_planes<std::uint8_t, std::uint32_t, std::uint32_t>(
      book, statistics, lists[narrow_plane], by_way[narrow_plane].size(), radius, stream);
  make_planes<std::uint8_t, std::uint32_t, std::uint64_t>(
      book, statistics, lists[narrow_columns], by_way[narrow_columns].size(), radius, stream);
  make_planes<std::uint32_t, std::uint64_t, std::uint64_t>(
      book, statistics, lists[wide_plane], by_way[wide_plane].size(), radius, stream);
  for (const Way way : {narrow_plane, narrow_columns, wide_plane}) {
    book.mark_planes(lists[way], by_way[way].size(), true, stream);
  }
  book.make_norms(usable_.data(), true, radius <= most_coarse_radius, stream);
  stream.synchronize();
}

}  // namespace somatlas::gpu
