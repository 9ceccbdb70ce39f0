// Grows with what is asked for, so that one article takes the memory of its planes alone.
#include "pipeline/plane_cache.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <utility>

#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

constexpr std::size_t first_planes = 32;

gpu::MapShape shape_of(std::uint32_t side, std::size_t planes) {
  return {.side = side, .descriptors = static_cast<std::uint32_t>(planes)};
}

}  // namespace

PlaneCache::PlaneCache(store::Atlas& atlas, const store::AtlasCells& cells, std::uint32_t side,
                       std::size_t planes, std::size_t bytes)
    : atlas_(atlas), cells_(cells), side_(side) {
  const std::size_t empty = gpu::codebook_bytes(shape_of(side, 0));
  const std::size_t plane = gpu::codebook_bytes(shape_of(side, 1)) - empty;
  room_ = std::max<std::size_t>(1, std::min(planes, bytes < empty ? 0 : (bytes - empty) / plane));
  make(std::min(room_, first_planes));
}

std::vector<gpu::DescriptorId> PlaneCache::hold(std::span<const store::DescriptorCode> codes) {
  ++calls_;
  std::vector<store::DescriptorCode> missing = missing_of(codes);
  if (missing.size() > free_.size() && held_.size() < std::max(room_, codes.size())) {
    grow(number_.size() + missing.size(), codes.size());
    missing = missing_of(codes);
  }
  if (missing.size() > free_.size()) {
    give_up(missing.size() - free_.size());
  }
  const std::vector<gpu::DescriptorId> numbers(
      free_.end() - static_cast<std::ptrdiff_t>(missing.size()), free_.end());
  tbb::parallel_for(std::size_t{0}, missing.size(),
                    [&](std::size_t i) { read(numbers[i], missing[i]); });
  free_.resize(free_.size() - missing.size());
  for (std::size_t i = 0; i < missing.size(); ++i) {
    held_[numbers[i]] = {missing[i], calls_};
    number_.emplace(missing[i], numbers[i]);
  }
  std::vector<gpu::DescriptorId> out(codes.size());
  std::transform(codes.begin(), codes.end(), out.begin(),
                 [this](store::DescriptorCode code) { return number_.at(code); });
  return out;
}

/// Those that are not held; marks the others as asked for.
std::vector<store::DescriptorCode> PlaneCache::missing_of(
    std::span<const store::DescriptorCode> codes) {
  std::vector<store::DescriptorCode> missing;
  for (const store::DescriptorCode code : codes) {
    if (const auto found = number_.find(code); found != number_.end()) {
      held_[found->second].asked_for = calls_;
    } else {
      missing.push_back(code);
    }
  }
  return missing;
}

/// Makes place for so many planes as far as there is room, and for the least in any case. While
/// planes move there are two codebooks: a new one of more than half the room takes all of it, and
/// what was held is given up before it is made.
void PlaneCache::grow(std::size_t wanted, std::size_t least) {
  const std::size_t planes = std::max(wanted, 4 * held_.size());
  if (planes <= room_ / 2) {
    make(planes);
    return;
  }
  codebook_.reset();
  number_.clear();
  free_.clear();
  held_.clear();
  make(std::max(room_, least));
}

/// Makes a codebook for so many planes, more than there are, and moves what is held.
void PlaneCache::make(std::size_t planes) {
  auto codebook = std::make_unique<gpu::CpuCodebook>(shape_of(side_, planes));
  codebook->vacant = cells_.vacant;
  codebook->square_sum = cells_.square_sum;
  gpu::make_norms(*codebook);
  std::vector<std::uint16_t> plane(codebook->shape.neurons());
  for (const auto& [code, number] : number_) {
    gpu::fetch_plane(*codebook_, number, plane);
    gpu::store_plane(*codebook, number, plane);
  }
  for (std::size_t number = planes; number-- > held_.size();) {
    free_.push_back(static_cast<gpu::DescriptorId>(number));
  }
  held_.resize(planes);
  codebook_ = std::move(codebook);
}

/// Frees the numbers of so many planes, those that were asked for longest ago.
void PlaneCache::give_up(std::size_t planes) {
  std::vector<gpu::DescriptorId> oldest;
  for (const auto& [code, number] : number_) {
    oldest.push_back(number);
  }
  const auto last = oldest.begin() + static_cast<std::ptrdiff_t>(planes);
  std::nth_element(oldest.begin(), last - 1, oldest.end(),
                   [this](gpu::DescriptorId a, gpu::DescriptorId b) {
                     return held_[a].asked_for < held_[b].asked_for;
                   });
  for (auto number = oldest.begin(); number != last; ++number) {
    number_.erase(held_[*number].code);
    held_[*number] = {};
    free_.push_back(*number);
  }
}

void PlaneCache::read(gpu::DescriptorId number, store::DescriptorCode code) {
  std::optional<std::vector<std::uint16_t>> plane = atlas_.plane(code);
  if (!plane || plane->size() != codebook_->shape.neurons()) {
    throw store::StoreError(atlas_.directory() + " lists " + store::descriptor_ui(code) +
                            " but has no whole plane of it; train it again");
  }
  for (std::size_t i = 0; i < plane->size(); ++i) {
    (*plane)[i] = cells_.vacant[i] != 0 ? std::uint16_t{0} : (*plane)[i];
  }
  gpu::store_plane(*codebook_, number, *plane);
}

}  // namespace somatlas::pipeline
