// An atlas in memory, and two of them filled at random, for comparisons against plain loops.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "pipeline/atlas_meta.h"
#include "pipeline/atlas_overlap.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

struct MadeArticle {
  static constexpr std::uint32_t no_place = 0xFFFF'FFFF;
  std::uint32_t neuron = no_place;
  std::uint64_t descriptors = 0;  // stands for them
  bool trained = false;
};

class MadeAtlas : public store::Atlas {
 public:
  std::map<std::uint32_t, MadeArticle> articles_;
  std::map<store::DescriptorCode, std::vector<std::uint16_t>> planes_;
  std::map<store::DescriptorCode, std::uint64_t> frequency_;
  store::AtlasCells cells_;
  AtlasMeta meta_;
  std::string name_ = "made";

  [[nodiscard]] const std::string& directory() const override { return name_; }
  [[nodiscard]] std::optional<std::string> meta(const std::string& name) override {
    return name == meta_atlas ? std::optional(to_json(meta_)) : std::nullopt;
  }
  [[nodiscard]] std::vector<std::uint32_t> place_ranges() override { return ranges(false); }
  [[nodiscard]] std::vector<std::uint32_t> assignment_ranges() override { return ranges(true); }
  [[nodiscard]] std::optional<store::PlaceShard> places(std::uint32_t range) override;
  [[nodiscard]] std::optional<store::AssignmentShard> assignment(std::uint32_t range) override;
  [[nodiscard]] std::vector<store::AtlasDescriptor> descriptors() override;
  [[nodiscard]] std::optional<std::vector<std::uint16_t>> plane(
      store::DescriptorCode code) override;
  [[nodiscard]] store::AtlasCells cells() override { return cells_; }

  void put_meta(const std::string& /*name*/, const std::string& /*value*/) override {}
  void put_checkpoint(const std::function<std::optional<store::EncodedShard>()>& /*next*/,
                      const std::string& /*name*/, const std::string& /*value*/) override {}
  void put_placement(const std::function<bool(const store::PlacementSink&)>& /*write*/) override {}
  void put_planes(
      const std::function<bool(store::AtlasDescriptor&, std::string&)>& /*next*/) override {}
  void put_cells(const store::AtlasCells& /*cells*/) override {}
  void put_articles(
      const std::function<std::optional<store::EncodedArticles>()>& /*next*/) override {}
  [[nodiscard]] std::vector<std::uint32_t> articles(std::uint32_t /*neuron*/) override {
    return {};
  }
  [[nodiscard]] std::uint64_t disk_bytes() override { return 0; }
  void verify(const std::function<void(const store::Fault&)>& /*fault*/) override {}

 private:
  [[nodiscard]] std::vector<std::uint32_t> ranges(bool trained) const;
};

/// Two atlases of sides 7 and 8, with 9 and 12 regions.
class AtlasDiffs : public ::testing::Test {
 protected:
  void SetUp() override;
  std::size_t below(std::size_t limit) { return random_() % limit; }
  [[nodiscard]] MapParts old_map() { return {before_, before_.cells_.region, 9}; }
  [[nodiscard]] MapParts new_map() { return {after_, after_.cells_.region, 12}; }

  std::mt19937_64 random_;
  MadeAtlas before_;
  MadeAtlas after_;

 private:
  void fill(MadeAtlas& atlas, std::uint32_t side, std::uint32_t regions);
};

}  // namespace somatlas::pipeline
