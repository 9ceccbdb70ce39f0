// A whole training as section 2 of the design says it, by the shortest means: maps, literal window
// sums, 128-bit divisions, no tiles, no threads, no dense ids. The start is the caller's.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace somatlas::oracle {

struct Article {
  std::uint32_t pmid = 0;
  std::vector<std::uint32_t> codes;
  friend bool operator==(const Article&, const Article&) = default;
};

struct Place {
  std::uint32_t neuron = 0;
  std::uint32_t second = 0;  // 0xFFFFFFFF: none
  std::uint32_t distance = 0;
  friend bool operator==(const Place&, const Place&) = default;
};

/// A codebook: planes by descriptor, M weights each, and what follows from them.
struct Map {
  std::uint32_t side = 0;
  std::map<std::uint32_t, std::vector<std::uint32_t>> planes;
  std::vector<std::int64_t> norm;
  std::vector<bool> vacant;
};

struct Epoch {
  std::uint32_t radius = 0;
  std::uint64_t distance_sum = 0;
  std::uint64_t moved = 0;
  std::uint64_t vacant = 0;  // neurons
  std::uint64_t unhit = 0;   // neurons that are not vacant and no article's BMU
  friend bool operator==(const Epoch&, const Epoch&) = default;
};

struct Training {
  std::vector<Epoch> epochs;
  std::vector<std::uint32_t> assignment;  // that the last codebook was made from
  std::vector<std::uint32_t> bmus;        // under it
  Map map;
};

/// W = update(assignment, radius).
[[nodiscard]] Map update(const std::vector<Article>& articles,
                         const std::vector<std::uint32_t>& assignment, std::uint32_t side,
                         std::uint32_t radius);

[[nodiscard]] Place place(const Map& map, const Article& article);

/// 2^30 (1 - x.w / (sqrt(k) |w|)) at a neuron, to the nearest integer; 2^30 where |w| is 0. The
/// mean over articles at their BMUs is the cosine QE.
[[nodiscard]] std::uint64_t cosine_distance(const Map& map, const Article& article,
                                            std::uint32_t neuron);

/// radii[e] for e below radii.size(), the last one after that.
[[nodiscard]] Training train(const std::vector<Article>& articles, std::vector<std::uint32_t> start,
                             std::uint32_t side, const std::vector<std::uint32_t>& radii,
                             std::uint32_t radius_end, std::uint32_t epoch_limit);

}  // namespace somatlas::oracle
