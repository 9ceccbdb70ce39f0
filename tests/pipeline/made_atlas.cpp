#include "tests/pipeline/made_atlas.h"

#include <algorithm>
#include <set>

#include "tests/seed.h"

namespace somatlas::pipeline {

std::optional<store::PlaceShard> MadeAtlas::places(std::uint32_t range) {
  store::PlaceShard shard;
  for (const auto& [pmid, article] : articles_) {
    if (pmid >> 16U == range) {
      shard.low.push_back(static_cast<std::uint16_t>(pmid));
      shard.neuron.push_back(article.neuron);
    }
  }
  return shard.low.empty() ? std::nullopt : std::optional(shard);
}

std::optional<store::AssignmentShard> MadeAtlas::assignment(std::uint32_t range) {
  store::AssignmentShard shard;
  for (const auto& [pmid, article] : articles_) {
    if (pmid >> 16U == range && article.trained) {
      shard.low.push_back(static_cast<std::uint16_t>(pmid));
      shard.neuron.push_back(article.neuron);
      shard.fingerprint.push_back(article.descriptors);
    }
  }
  return shard.low.empty() ? std::nullopt : std::optional(shard);
}

std::vector<store::AtlasDescriptor> MadeAtlas::descriptors() {
  std::vector<store::AtlasDescriptor> all;
  for (const auto& [code, plane] : planes_) {
    all.push_back({code, "", {}, frequency_.at(code)});
  }
  std::ranges::sort(all, {}, [](const auto& one) { return store::descriptor_ui(one.code); });
  return all;
}

std::optional<std::vector<std::uint16_t>> MadeAtlas::plane(store::DescriptorCode code) {
  const auto found = planes_.find(code);
  return found == planes_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint32_t> MadeAtlas::ranges(bool trained) const {
  std::set<std::uint32_t> all;
  for (const auto& [pmid, article] : articles_) {
    if (!trained || article.trained) {
      all.insert(pmid >> 16U);
    }
  }
  return {all.begin(), all.end()};
}

void AtlasDiffs::fill(MadeAtlas& atlas, std::uint32_t side, std::uint32_t regions) {
  const std::uint32_t cells = side * side;
  atlas.meta_.settings.side = side;
  atlas.cells_.levels[0].resize(regions);
  for (std::uint32_t i = 0; i < cells; ++i) {
    atlas.cells_.region.push_back(i < regions ? i : static_cast<std::uint32_t>(below(regions)));
    atlas.cells_.vacant.push_back(i >= regions && below(7) == 0 ? 1 : 0);
    atlas.cells_.hits.push_back(
        atlas.cells_.vacant[i] != 0 ? 0 : static_cast<std::uint32_t>(below(20)));
  }
  // Three ranges of PMIDs, with others of each atlas; some have no place.
  for (int n = 0; n < 600; ++n) {
    const auto pmid = static_cast<std::uint32_t>(below(3) * 65'536 * (1 + below(2)) + below(300));
    atlas.articles_[pmid] = {
        below(12) == 0 ? MadeArticle::no_place : static_cast<std::uint32_t>(below(cells)), below(3),
        below(4) != 0};
  }
  for (int n = 0; n < 25; ++n) {
    // UIs of both widths, whose order by text is not that of their codes.
    const auto number = static_cast<std::uint32_t>(1 + below(12));
    const store::DescriptorCode code = store::descriptor_code(number, below(2) == 0 ? 6 : 9);
    atlas.frequency_[code] = below(30);
    std::vector<std::uint16_t>& plane = atlas.planes_[code];
    plane.clear();
    for (std::uint32_t i = 0; i < cells; ++i) {
      plane.push_back(static_cast<std::uint16_t>(
          atlas.cells_.vacant[i] != 0 || below(3) == 0 ? 0 : below(16'384)));
    }
  }
}

void AtlasDiffs::SetUp() {
  random_.seed(test_seed());
  fill(before_, 7, 9);
  fill(after_, 8, 12);
}

}  // namespace somatlas::pipeline
