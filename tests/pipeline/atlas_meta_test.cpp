// The JSON of an atlas comes back equal, to the last bit of a double, and anything else is refused.
#include "pipeline/atlas_meta.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "store/store_error.h"
#include "tests/seed.h"

namespace somatlas::pipeline {
namespace {

AtlasMeta full_meta() {
  AtlasMeta meta;
  meta.settings = {.side = 33,
                   .seed = std::numeric_limits<std::uint64_t>::max(),
                   .holdout = 0.1,
                   .min_descriptors = 3,
                   .start = Start::random,
                   .radius_start = 0,
                   .radius_end = 2,
                   .epoch_limit = 7};
  meta.store_id = "0123abcd";
  meta.store_state = "ffeeddcc";
  meta.radius = 2;
  meta.epochs = 5;
  meta.training_articles = std::uint64_t{1} << 53;
  meta.heldout_articles = 17;
  meta.placed_articles = (std::uint64_t{1} << 53) + 1;
  meta.descriptors = 30'000;
  meta.quality = {.qe = 2.718281828459045,
                  .heldout_qe = 1.0 / 3,
                  .cosine_qe = 0.1 + 0.2,
                  .topographic_error = 5e-324,
                  .vacant_share = 0,
                  .unhit_share = 1};
  meta.incremental_from = "0011";
  meta.earlier_epochs = 23;
  return meta;
}

void expect_equal(const AtlasMeta& a, const AtlasMeta& b) {
  EXPECT_EQ(a.settings, b.settings);
  EXPECT_EQ(a.store_id, b.store_id);
  EXPECT_EQ(a.store_state, b.store_state);
  EXPECT_EQ(a.radius, b.radius);
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_EQ(a.training_articles, b.training_articles);
  EXPECT_EQ(a.heldout_articles, b.heldout_articles);
  EXPECT_EQ(a.placed_articles, b.placed_articles);
  EXPECT_EQ(a.descriptors, b.descriptors);
  EXPECT_EQ(a.quality.qe, b.quality.qe);
  EXPECT_EQ(a.quality.heldout_qe, b.quality.heldout_qe);
  EXPECT_EQ(a.quality.cosine_qe, b.quality.cosine_qe);
  EXPECT_EQ(a.quality.topographic_error, b.quality.topographic_error);
  EXPECT_EQ(a.quality.vacant_share, b.quality.vacant_share);
  EXPECT_EQ(a.quality.unhit_share, b.quality.unhit_share);
  EXPECT_EQ(a.incremental_from, b.incremental_from);
  EXPECT_EQ(a.earlier_epochs, b.earlier_epochs);
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(atlas_meta_from_json(text));
  } catch (const store::StoreError& error) {
    return error.what();
  }
  return "";
}

/// full_meta's text with the member at a JSON pointer replaced.
std::string altered(const char* where, const nlohmann::ordered_json& value) {
  auto json = nlohmann::ordered_json::parse(to_json(full_meta()));
  json[nlohmann::ordered_json::json_pointer(where)] = value;
  return json.dump();
}

TEST(AtlasMeta, ComesBackEqual) {
  expect_equal(atlas_meta_from_json(to_json(full_meta())), full_meta());
  expect_equal(atlas_meta_from_json(to_json(AtlasMeta{})), AtlasMeta{});
}

TEST(AtlasMeta, NothingStaysNothing) {
  const AtlasMeta meta = atlas_meta_from_json(to_json(AtlasMeta{}));
  EXPECT_FALSE(meta.settings.radius_start.has_value());
  EXPECT_FALSE(meta.quality.heldout_qe.has_value());
  EXPECT_FALSE(meta.quality.cosine_qe.has_value());
  EXPECT_FALSE(meta.quality.topographic_error.has_value());
}

TEST(AtlasMeta, DoublesComeBackToTheLastBit) {
  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 500; ++i) {
    const auto value = std::bit_cast<double>(random() & 0x7FEF'FFFF'FFFF'FFFF);
    AtlasMeta meta;
    meta.quality.qe = value;
    meta.quality.cosine_qe = value;
    meta.settings.seed = random();
    const AtlasMeta back = atlas_meta_from_json(to_json(meta));
    ASSERT_EQ(back.quality.qe, value);
    ASSERT_EQ(back.quality.cosine_qe, value);
    ASSERT_EQ(back.settings, meta.settings);
  }
}

TEST(AtlasMeta, RefusesWhatItDidNotWrite) {
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("{"), "");
  EXPECT_NE(refusal("[]"), "");
  EXPECT_NE(refusal("7"), "");
  EXPECT_NE(refusal("{\"settings\": 3}"), "");
  EXPECT_NE(refusal(to_json(full_meta()) + "x"), "");
  EXPECT_EQ(refusal(to_json(full_meta())), "");
  EXPECT_NE(refusal(altered("/settings/side", -1)), "");
  EXPECT_NE(refusal(altered("/settings/side", 4'294'967'296)), "");
  EXPECT_NE(refusal(altered("/settings/side", 1.5)), "");
  EXPECT_NE(refusal(altered("/settings/side", "64")), "");
  EXPECT_NE(refusal(altered("/settings/start", "PCA")), "");
  EXPECT_NE(refusal(altered("/settings/radius_start", "none")), "");
  EXPECT_NE(refusal(altered("/store_id", 3)), "");
  EXPECT_NE(refusal(altered("/quality/qe", nullptr)), "");
  EXPECT_NE(refusal(altered("/quality/cosine_qe", "0.5")), "");
  EXPECT_NE(refusal(altered("/later", 1)), "");
  EXPECT_EQ(refusal(altered("/quality/cosine_qe", nullptr)), "");
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(
      refusal("{\"settings\":" + deep),
      "the description of the atlas is damaged (it is nested too deep); train the atlas again");
}

TEST(AtlasMeta, AnAtlasOfBeforeEarlierEpochsWereKeptIsRead) {
  auto json = nlohmann::ordered_json::parse(to_json(full_meta()));
  json.erase("earlier_epochs");
  AtlasMeta expected = full_meta();
  expected.earlier_epochs = 0;
  expect_equal(atlas_meta_from_json(json.dump()), expected);
}

TEST(AtlasMeta, NamesWhatIsMissing) {
  auto json = nlohmann::ordered_json::parse(to_json(full_meta()));
  json.erase("epochs");
  EXPECT_EQ(refusal(json.dump()),
            "the description of the atlas is damaged (epochs is missing); train the atlas again");
}

}  // namespace
}  // namespace somatlas::pipeline
