// A small store and an atlas of it, whose every figure is worked out here from the numerical
// contract by plain loops: what export writes and map finds is held against it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "store/atlas.h"
#include "store/atlas_codec.h"
#include "store/store.h"

namespace somatlas::exports {

/// Side 3; cell 4, the middle one, is vacant. Articles 70,000 and up lie in a second range; 12 has
/// no descriptor that the atlas knows, 13 none at all, 14 was deleted.
class SmallAtlas {
 public:
  static constexpr std::uint32_t side = 3;
  static constexpr std::uint32_t neurons = side * side;
  static constexpr std::uint32_t vacant = 4;
  static constexpr std::uint32_t none = 0xFFFF'FFFF;
  static constexpr store::DescriptorCode animals = store::descriptor_code(818, 6);
  static constexpr store::DescriptorCode humans = store::descriptor_code(6801, 6);
  static constexpr store::DescriptorCode neoplasms = store::descriptor_code(9369, 6);
  static constexpr store::DescriptorCode zebrafish = store::descriptor_code(9370, 9);
  static constexpr store::DescriptorCode unknown = store::descriptor_code(77, 6);

  using Codes = std::vector<store::DescriptorCode>;
  struct Place {
    std::uint32_t neuron = 0;
    std::uint32_t second = 0;
    std::uint32_t distance = 0;
  };

  SmallAtlas() {
    for (std::uint32_t i = 0; i < neurons; ++i) {
      const std::uint32_t row = i / side;
      const std::uint32_t column = i % side;
      planes_[animals].push_back(weight(i, 16383 - 7000 * row));
      planes_[humans].push_back(weight(i, 1000 + 7000 * row));
      planes_[neoplasms].push_back(weight(i, 8000 * column + 10));
      planes_[zebrafish].push_back(weight(i, i == 0 ? 9000 : 0));
    }
    articles_ = {{10, {animals, zebrafish}},
                 {11, {humans, neoplasms}},
                 {12, {unknown}},
                 {13, {}},
                 {70'000, {humans, neoplasms, unknown}},
                 {70'001, {animals}}};
  }

  [[nodiscard]] const std::map<std::uint32_t, Codes>& articles() const { return articles_; }
  /// The same articles under other PMIDs.
  void renumber(std::uint32_t by) {
    std::map<std::uint32_t, Codes> moved;
    for (const auto& [pmid, codes] : articles_) {
      moved.emplace(pmid + by, codes);
    }
    articles_ = std::move(moved);
  }
  /// In the order of the UIs.
  [[nodiscard]] std::vector<store::AtlasDescriptor> descriptors() const {
    return {{zebrafish, "Fishes, \"Zebra\"", {"B01.2"}, 1},
            {animals, "Animals", {"B01.050"}, 3},
            {humans, "Humans", {"B01.050.150.900", "B01.1"}, 2},
            {neoplasms, "Neoplasms", {}, 2}};
  }
  [[nodiscard]] const std::vector<std::uint16_t>& plane(store::DescriptorCode code) const {
    return planes_.at(code);
  }

  /// Section 2 by brute force: k descriptors, of which known are those of codes in the atlas.
  [[nodiscard]] std::optional<Place> place(const Codes& codes, std::size_t unnamed = 0) const {
    std::vector<std::pair<std::int64_t, std::uint32_t>> scores;
    bool any = false;
    for (std::uint32_t i = 0; i < neurons; ++i) {
      std::int64_t sum = 0;
      for (const store::DescriptorCode code : codes) {
        if (const auto found = planes_.find(code); found != planes_.end()) {
          any = true;
          sum += found->second[i];
        }
      }
      if (i != vacant) {
        scores.emplace_back(norm(i) - 128 * sum, i);
      }
    }
    if (!any) {
      return std::nullopt;
    }
    std::sort(scores.begin(), scores.end());
    const auto k = static_cast<std::int64_t>(codes.size() + unnamed);
    const std::int64_t a = std::max<std::int64_t>(0, 1048512 * k + scores[0].first);
    // None of these few lies near a midpoint, where a double's root would err.
    const double distance = 1048576 * std::sqrt(static_cast<double>(a) / 1048512);
    return Place{scores[0].second, scores[1].second,
                 static_cast<std::uint32_t>(std::floor(distance + 0.5))};
  }

  [[nodiscard]] store::AtlasCells cells() const {
    store::AtlasCells cells;
    for (std::uint32_t i = 0; i < neurons; ++i) {
      cells.norm.push_back(static_cast<std::int32_t>(norm(i)));
      cells.square_sum.push_back(square_sum(i));
      cells.vacant.push_back(i == vacant ? 1 : 0);
      cells.hits.push_back(i == vacant ? 0 : 10 * i);
      cells.year_count.push_back(i == vacant || i == 2 ? 0 : 2);
      cells.year_sum.push_back(i == vacant || i == 2 ? 0 : 2 * 1990 + i);
      cells.height.push_back(i == vacant ? 0 : (1U << 20) + i);
      const Codes leading = i == vacant ? Codes{} : Codes{i == 0 ? zebrafish : humans, neoplasms};
      for (std::size_t k = 0; k < store::leading_per_cell; ++k) {
        cells.leading.push_back(k < leading.size() ? leading[k] : none);
        cells.leading_weight.push_back(k < leading.size() ? plane(leading[k])[i] : 0);
      }
      cells.recent_count.push_back(cells.year_count[i] / 2);
      cells.region.push_back(i == 0 ? 1 : 0);
    }
    cells.recent_from = 1990;
    // Cell 0 is a region of its own; all is one area.
    cells.levels[0] = {{"Humans", 0, 8, 7, 350, 14, 27'892, 7, {{humans, 340}, {neoplasms, 90}}},
                       {"Fishes, \"Zebra\"", 0, 1, 0, 0, 2, 3'980, 1, {}}};
    cells.levels[1] = {{"Neoplasms", 0, 9, 7, 350, 16, 31'872, 8, {{neoplasms, 90}}}};
    cells.levels[2] = {{"Diseases", 0, 9, 7, 350, 16, 31'872, 8, {}}};
    return cells;
  }

  /// The store, with one file taken.
  void make_store(const std::string& directory) const {
    const auto store = store::Store::open(directory, store::Store::Access::create);
    const store::FileKey key{26, 1, "pubmed26n0001.xml"};
    store::LedgerEntry entry;
    entry.key = key;
    entry.md5 = std::string(32, '0');
    std::map<std::uint32_t, store::Shard> deltas;
    const auto add = [&](std::uint32_t pmid, store::ArticleState state, const Codes& codes) {
      store::Shard& delta = deltas[pmid / store::pmids_per_shard];
      delta.range = pmid / store::pmids_per_shard;
      delta.keys = {key};
      delta.low.push_back(static_cast<std::uint16_t>(pmid % store::pmids_per_shard));
      delta.version.push_back(1);
      delta.year.push_back(0);
      delta.state.push_back(state);
      delta.key.push_back(0);
      delta.records.push_back(state == store::ArticleState::deleted ? 0 : 1);
      if (delta.offsets.empty()) {
        delta.offsets.push_back(0);
      }
      Codes sorted = codes;
      std::sort(sorted.begin(), sorted.end());
      delta.descriptors.insert(delta.descriptors.end(), sorted.begin(), sorted.end());
      delta.major.resize(delta.descriptors.size(), 0);
      delta.offsets.push_back(static_cast<std::uint32_t>(delta.descriptors.size()));
    };
    auto next = articles_.begin();
    for (; next != articles_.end() && next->first < 14; ++next) {
      add(next->first, state_of(next->second), next->second);
    }
    add(14, store::ArticleState::deleted, {});
    for (; next != articles_.end(); ++next) {
      add(next->first, state_of(next->second), next->second);
    }
    for (const auto& [pmid, codes] : articles_) {
      ++entry.citations;
      entry.with_descriptors += codes.empty() ? 0 : 1;
    }
    entry.deletions = 1;
    std::vector<store::Shard> shards;
    for (auto& [range, shard] : deltas) {
      shards.push_back(std::move(shard));
    }
    store->commit(shards, entry);
  }

  /// The atlas of that store. Articles that have a place are said to have been trained on.
  void make_atlas(const std::string& directory, const std::string& store_id,
                  const std::string& store_state) const {
    const auto atlas = store::Atlas::open(directory, store::Atlas::Access::create);
    fill(*atlas, store_id, store_state);
  }

  void fill(store::Atlas& atlas, const std::string& store_id,
            const std::string& store_state) const {
    std::vector<store::AtlasDescriptor> listed = descriptors();
    std::size_t next_descriptor = 0;
    atlas.put_planes([&](store::AtlasDescriptor& descriptor, std::string& plane) {
      if (next_descriptor == listed.size()) {
        return false;
      }
      descriptor = listed[next_descriptor++];
      plane = store::encode_plane(descriptor.code, planes_.at(descriptor.code));
      return true;
    });
    atlas.put_cells(cells());
    std::map<std::uint32_t, store::AssignmentShard> assigned;
    std::map<std::uint32_t, store::PlaceShard> placed;
    for (const auto& [pmid, codes] : articles_) {
      if (codes.empty()) {
        continue;
      }
      const std::uint32_t range = pmid / store::pmids_per_shard;
      const auto low = static_cast<std::uint16_t>(pmid % store::pmids_per_shard);
      const auto found = place(codes);
      store::PlaceShard& shard = placed[range];
      shard.range = range;
      shard.low.push_back(low);
      shard.neuron.push_back(found ? found->neuron : none);
      shard.second.push_back(found ? found->second : none);
      shard.distance.push_back(found ? found->distance : 0);
      if (found) {
        store::AssignmentShard& training = assigned[range];
        training.range = range;
        training.low.push_back(low);
        training.neuron.push_back((found->neuron + 1) % neurons);
        training.fingerprint.push_back(pmid);
      }
    }
    atlas.put_placement([&](const store::PlacementSink& put) {
      for (const auto& [range, shard] : placed) {
        put.places(store::encoded(shard));
      }
      for (const auto& [range, shard] : assigned) {
        put.assignment(store::encoded(shard));
      }
      return true;
    });
    atlas.put_meta(pipeline::meta_atlas, meta_json(store_id, store_state));
  }

  [[nodiscard]] static std::string meta_json(const std::string& store_id,
                                             const std::string& store_state) {
    pipeline::AtlasMeta meta;
    meta.settings.side = side;
    meta.settings.seed = 7;
    meta.store_id = store_id;
    meta.store_state = store_state;
    meta.radius = 1;
    meta.epochs = 12;
    meta.training_articles = 4;
    meta.placed_articles = 4;
    meta.descriptors = 4;
    meta.quality.qe = 1.25;
    meta.quality.topographic_error = 0.5;
    return pipeline::to_json(meta);
  }

 private:
  static std::uint16_t weight(std::uint32_t neuron, std::uint32_t value) {
    return neuron == vacant ? std::uint16_t{0} : static_cast<std::uint16_t>(value);
  }
  static store::ArticleState state_of(const Codes& codes) {
    return codes.empty() ? store::ArticleState::bare : store::ArticleState::article;
  }
  [[nodiscard]] std::uint64_t square_sum(std::uint32_t neuron) const {
    std::uint64_t sum = 0;
    for (const auto& [code, plane] : planes_) {
      sum += std::uint64_t{plane[neuron]} * plane[neuron];
    }
    return sum;
  }
  [[nodiscard]] std::int64_t norm(std::uint32_t neuron) const {
    return static_cast<std::int64_t>((64 * square_sum(neuron) + 8191) / 16383);
  }

  std::map<store::DescriptorCode, std::vector<std::uint16_t>> planes_;
  std::map<std::uint32_t, Codes> articles_;
};

}  // namespace somatlas::exports
