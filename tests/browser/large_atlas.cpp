// Writes an atlas as large as real ones, for timing the viewer without hours of training:
// large_atlas DIRECTORY SIDE DESCRIPTORS. Planes are hills, most of them small and few wide as in
// MEDLINE; regions are squares. The same words give the same atlas.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "store/atlas.h"
#include "store/atlas_codec.h"

namespace somatlas {
namespace {

constexpr std::uint32_t articles_a_cell = 2;
// Edges of regions, areas and continents.
constexpr std::uint32_t edges[store::region_levels] = {16, 64, 256};

/// Mixes a number's bits (SplitMix64).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EB;
  return x ^ (x >> 31U);
}

store::DescriptorCode code_of(std::uint32_t number) {
  return store::descriptor_code(number + 1, 6);
}

/// Descriptor number of count: the first are wide, the last a few cells.
std::vector<std::uint16_t> plane_of(std::uint32_t number, std::uint32_t side) {
  std::vector<std::uint16_t> plane(std::size_t{side} * side, 0);
  for (std::uint32_t hill = 0; hill < 3; ++hill) {
    const std::uint64_t bits = mixed(3 * number + hill);
    const auto row = static_cast<std::int64_t>(bits % side);
    const auto column = static_cast<std::int64_t>((bits >> 20U) % side);
    const std::int64_t reach = 3 + side / (2 + number / 4);
    const auto most = static_cast<std::int64_t>(2000 + (bits >> 40U) % 14'000);
    for (std::int64_t r = std::max<std::int64_t>(0, row - reach);
         r < std::min<std::int64_t>(side, row + reach); ++r) {
      for (std::int64_t c = std::max<std::int64_t>(0, column - reach);
           c < std::min<std::int64_t>(side, column + reach); ++c) {
        const std::int64_t away = (r - row) * (r - row) + (c - column) * (c - column);
        const std::int64_t weight = most - most * away / (reach * reach);
        std::uint16_t& cell = plane[static_cast<std::size_t>(r * side + c)];
        cell = static_cast<std::uint16_t>(std::max<std::int64_t>(cell, weight));
      }
    }
  }
  return plane;
}

store::AtlasCells cells_of(std::uint32_t side, std::uint32_t descriptors) {
  store::AtlasCells cells;
  cells.recent_from = 2021;
  for (std::size_t level = 0; level < store::region_levels; ++level) {
    const std::uint32_t across = (side + edges[level] - 1) / edges[level];
    for (std::uint32_t number = 0; number < across * across; ++number) {
      const std::uint32_t row = number / across * edges[level];
      const std::uint32_t column = number % across * edges[level];
      store::AtlasRegion region;
      region.name = "Region " + std::to_string(number) + " of level " + std::to_string(level + 1);
      if (level + 1 < store::region_levels) {
        const std::uint32_t above = (side + edges[level + 1] - 1) / edges[level + 1];
        region.parent = row / edges[level + 1] * above + column / edges[level + 1];
      }
      region.cells = edges[level] * edges[level];
      region.centre = std::min(row + edges[level] / 2, side - 1) * side +
                      std::min(column + edges[level] / 2, side - 1);
      region.hits = articles_a_cell * region.cells;
      cells.levels[level].push_back(region);
    }
  }
  const std::uint32_t across = (side + edges[0] - 1) / edges[0];
  for (std::uint32_t i = 0; i < side * side; ++i) {
    const std::uint64_t bits = mixed(i);
    cells.norm.push_back(1000);
    cells.square_sum.push_back(1000);
    cells.vacant.push_back(0);
    cells.hits.push_back(static_cast<std::uint32_t>(bits % 60));
    cells.year_count.push_back(articles_a_cell);
    cells.year_sum.push_back(articles_a_cell * (1990 + bits % 35));
    cells.recent_count.push_back(bits % 3 == 0 ? 1 : 0);
    cells.height.push_back(static_cast<std::uint32_t>(bits % (1U << 20U)));
    const std::uint32_t block = i / side / 4 * side + i % side / 4;
    for (std::size_t k = 0; k < store::leading_per_cell; ++k) {
      cells.leading.push_back(code_of(static_cast<std::uint32_t>(mixed(block + k) % descriptors)));
      cells.leading_weight.push_back(static_cast<std::uint16_t>(9000 - 1000 * k));
    }
    cells.region.push_back(i / side / edges[0] * across + i % side / edges[0]);
  }
  return cells;
}

void write_articles(store::Atlas& atlas, std::uint32_t neurons) {
  const std::uint32_t pmids = neurons * articles_a_cell;  // from 0; 0 is none
  atlas.put_placement([&](const store::PlacementSink& put) {
    for (std::uint32_t first = 0; first < pmids; first += store::pmids_per_shard) {
      store::PlaceShard shard;
      shard.range = first / store::pmids_per_shard;
      for (std::uint32_t i = 0; i < store::pmids_per_shard && first + i < pmids; ++i) {
        shard.low.push_back(static_cast<std::uint16_t>(i));
        shard.neuron.push_back((first + i) % neurons);
        shard.second.push_back((first + i + 1) % neurons);
        shard.distance.push_back(1U << 20U);
      }
      put.places(store::encoded(shard));
    }
    return true;
  });
  std::uint32_t next = 0;
  atlas.put_articles([&]() -> std::optional<store::EncodedArticles> {
    if (next == neurons) {
      return std::nullopt;
    }
    const std::uint32_t neuron = next++;
    const std::vector<std::uint32_t> list{neuron, neuron + neurons};
    return store::encoded(neuron, list);
  });
}

void write(const std::string& directory, std::uint32_t side, std::uint32_t descriptors) {
  const auto atlas = store::Atlas::open(directory, store::Atlas::Access::create);
  std::uint32_t next = 0;
  atlas->put_planes([&](store::AtlasDescriptor& descriptor, std::string& plane) {
    if (next == descriptors) {
      return false;
    }
    const std::uint32_t number = next++;
    descriptor = {.code = code_of(number),
                  .name = "Topic " + std::to_string(number + 1),
                  .tree_numbers = {},
                  .articles = 1 + articles_a_cell * std::uint64_t{side} * side / (1 + number)};
    plane = store::encode_plane(descriptor.code, plane_of(number, side));
    return true;
  });
  atlas->put_cells(cells_of(side, descriptors));
  write_articles(*atlas, side * side);
  pipeline::AtlasMeta meta;
  meta.settings.side = side;
  meta.store_id = "none";
  meta.store_state = "none";
  meta.radius = 1;
  meta.epochs = 1;
  meta.training_articles = articles_a_cell * std::uint64_t{side} * side;
  meta.placed_articles = meta.training_articles;
  meta.descriptors = descriptors;
  atlas->put_meta(pipeline::meta_atlas, pipeline::to_json(meta));
}

}  // namespace
}  // namespace somatlas

int main(int count, char** words) {
  try {
    if (count != 4) {
      throw std::runtime_error("large_atlas DIRECTORY SIDE DESCRIPTORS");
    }
    somatlas::write(words[1], static_cast<std::uint32_t>(std::stoul(words[2])),
                    static_cast<std::uint32_t>(std::stoul(words[3])));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
