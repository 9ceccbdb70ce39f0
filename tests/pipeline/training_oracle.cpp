#include "tests/pipeline/training_oracle.h"

#include <algorithm>
#include <cmath>

namespace somatlas::oracle {
namespace {

__extension__ using Wide = unsigned __int128;
using Plane = std::vector<std::uint64_t>;

/// One pass of the box along an axis: stride 1 for columns, side for rows.
Plane box(const Plane& plane, std::int64_t side, std::int64_t radius, bool along_row) {
  Plane out(plane.size(), 0);
  for (std::int64_t row = 0; row < side; ++row) {
    for (std::int64_t column = 0; column < side; ++column) {
      for (std::int64_t shift = -radius; shift <= radius; ++shift) {
        const std::int64_t r = along_row ? row : row + shift;
        const std::int64_t c = along_row ? column + shift : column;
        if (r >= 0 && r < side && c >= 0 && c < side) {
          out[static_cast<std::size_t>(row * side + column)] +=
              plane[static_cast<std::size_t>(r * side + c)];
        }
      }
    }
  }
  return out;
}

Plane spread(Plane plane, std::uint32_t side, std::uint32_t radius) {
  const std::int64_t r = std::min<std::int64_t>(radius, side);
  for (int pass = 0; pass < 3; ++pass) {
    plane = box(plane, side, r, true);
    plane = box(plane, side, r, false);
  }
  return plane;
}

std::uint32_t distance(std::int64_t score, std::size_t k) {
  const std::int64_t a = std::max<std::int64_t>(0, 1048512 * static_cast<std::int64_t>(k) + score);
  const Wide target = Wide{static_cast<std::uint64_t>(a)} << 42;
  std::uint64_t low = 0;
  std::uint64_t high = std::uint64_t{1} << 32;
  while (low + 1 < high) {  // the largest d with (2d - 1)^2 * 1048512 <= 2^42 a
    const std::uint64_t middle = (low + high) / 2;
    const Wide odd = 2 * Wide{middle} - 1;
    (odd * odd * 1048512 <= target ? low : high) = middle;
  }
  return static_cast<std::uint32_t>(low);
}

}  // namespace

Map update(const std::vector<Article>& articles, const std::vector<std::uint32_t>& assignment,
           std::uint32_t side, std::uint32_t radius) {
  const std::size_t neurons = std::size_t{side} * side;
  Plane hits(neurons, 0);
  std::map<std::uint32_t, Plane> counts;
  for (std::size_t i = 0; i < articles.size(); ++i) {
    ++hits[assignment[i]];
    for (const std::uint32_t code : articles[i].codes) {
      ++counts.try_emplace(code, Plane(neurons, 0)).first->second[assignment[i]];
    }
  }
  hits = spread(hits, side, radius);
  Map map;
  map.side = side;
  for (const std::uint64_t h : hits) {
    map.vacant.push_back(h == 0);
  }
  std::vector<Wide> squares(neurons, 0);
  for (auto& [code, plane] : counts) {
    plane = spread(plane, side, radius);
    auto& weights = map.planes[code];
    for (std::size_t i = 0; i < neurons; ++i) {
      const Wide q =
          hits[i] == 0 ? 0 : (2 * Wide{16383} * plane[i] + hits[i]) / (2 * Wide{hits[i]});
      weights.push_back(static_cast<std::uint32_t>(q));
      squares[i] += q * q;
    }
  }
  for (const Wide square : squares) {
    map.norm.push_back(static_cast<std::int64_t>((64 * square + 8191) / 16383));
  }
  return map;
}

Place place(const Map& map, const Article& article) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> ranked;
  for (std::uint32_t i = 0; i < map.norm.size(); ++i) {
    if (map.vacant[i]) {
      continue;
    }
    std::int64_t sum = 0;
    for (const std::uint32_t code : article.codes) {
      const auto found = map.planes.find(code);
      sum += found == map.planes.end() ? 0 : found->second[i];
    }
    ranked.emplace_back(map.norm[i] - 128 * sum, i);
  }
  std::sort(ranked.begin(), ranked.end());
  return {ranked[0].second, ranked.size() > 1 ? ranked[1].second : 0xFFFFFFFFU,
          distance(ranked[0].first, article.codes.size())};
}

std::uint64_t cosine_distance(const Map& map, const Article& article, std::uint32_t neuron) {
  std::uint64_t product = 0;
  std::uint64_t squares = 0;
  for (const auto& [code, plane] : map.planes) {
    const std::uint64_t q = plane[neuron];
    squares += q * q;
    product += std::count(article.codes.begin(), article.codes.end(), code) != 0 ? q : 0;
  }
  if (squares == 0) {
    return std::uint64_t{1} << 30;
  }
  const double lengths = std::sqrt(static_cast<double>(article.codes.size())) *
                         std::sqrt(static_cast<double>(squares));
  const double distance = 1 - static_cast<double>(product) / lengths;
  return static_cast<std::uint64_t>(std::llround(std::max(0.0, distance) * 1073741824.0));
}

Training train(const std::vector<Article>& articles, std::vector<std::uint32_t> start,
               std::uint32_t side, const std::vector<std::uint32_t>& radii,
               std::uint32_t radius_end, std::uint32_t epoch_limit) {
  Training result;
  result.assignment = std::move(start);
  std::uint32_t small_falls = 0;
  for (std::uint32_t e = 0;; ++e) {
    const std::uint32_t radius = radii[std::min<std::size_t>(e, radii.size() - 1)];
    result.map = update(articles, result.assignment, side, radius);
    Epoch epoch;
    epoch.radius = radius;
    result.bmus.clear();
    std::vector<bool> idle = result.map.vacant;
    idle.flip();
    epoch.unhit = static_cast<std::uint64_t>(std::count(idle.begin(), idle.end(), true));
    epoch.vacant = idle.size() - epoch.unhit;
    for (std::size_t i = 0; i < articles.size(); ++i) {
      const Place found = place(result.map, articles[i]);
      result.bmus.push_back(found.neuron);
      epoch.unhit -= idle[found.neuron] ? 1 : 0;
      idle[found.neuron] = false;
      epoch.distance_sum += found.distance;
      epoch.moved += found.neuron != result.assignment[i] ? 1 : 0;
    }
    if (radius == radius_end && e > 0) {
      const std::uint64_t before = result.epochs.back().distance_sum;
      const bool small =
          epoch.distance_sum >= before || before - epoch.distance_sum < before / 1000;
      small_falls = small ? small_falls + 1 : 0;
    } else {
      small_falls = 0;
    }
    result.epochs.push_back(epoch);
    if (small_falls == 3 || e + 1 == epoch_limit) {
      return result;
    }
    result.assignment = result.bmus;
  }
}

}  // namespace somatlas::oracle
