// A checkpoint's description: what is written comes back, and nothing else is taken for one.
#include "pipeline/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

using Json = nlohmann::ordered_json;

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "somatlas-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
    work_ = store::Atlas::open(name + "/atlas", store::Atlas::Access::create);
  }
  void TearDown() override {
    work_.reset();
    std::filesystem::remove_all(directory_);
  }

  /// What stands in the work directory for a checkpoint in the midst of a training.
  [[nodiscard]] std::string written() {
    Checkpoint checkpoint;
    checkpoint.next_epoch = 3;
    checkpoint.first_radius = 12;
    checkpoint.stop.last_sum = std::uint64_t{1} << 60;
    checkpoint.stop.small_falls = 1;
    checkpoint.changes = ArticleChanges{1, 2, 3, 4, 0};
    write_checkpoint(*work_, {}, {}, checkpoint);
    return work_->meta(meta_checkpoint).value();
  }
  [[nodiscard]] std::string refusal(const std::string& text) {
    work_->put_meta(meta_checkpoint, text);
    try {
      (void)read_checkpoint(*work_);
    } catch (const store::StoreError& error) {
      return error.what();
    }
    return "";
  }
  [[nodiscard]] std::string damaged() const {
    return work_->directory() +
           ": the checkpoint's description is damaged; start again with --overwrite";
  }

  std::filesystem::path directory_;
  std::unique_ptr<store::Atlas> work_;
};

TEST_F(CheckpointTest, ComesBackEqual) {
  EXPECT_FALSE(read_checkpoint(*work_).has_value());
  const std::string text = written();
  const auto back = read_checkpoint(*work_);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->next_epoch, 3U);
  EXPECT_EQ(back->first_radius, 12U);
  EXPECT_EQ(back->stop.last_sum, std::uint64_t{1} << 60);
  write_checkpoint(*work_, {}, {}, *back);
  EXPECT_EQ(work_->meta(meta_checkpoint), text);
}

TEST_F(CheckpointTest, NumbersAreNeverTakenForOthers) {
  const std::string text = written();
  EXPECT_EQ(refusal(text), "");
  for (const char* const key :
       {"/next_epoch", "/first_radius", "/small_falls", "/last_sum", "/changes/unchanged",
        "/changes/added", "/changes/changed", "/changes/gone"}) {
    for (const Json& wrong : {Json(-1), Json(1.5), Json(1e300), Json("3"), Json(nullptr)}) {
      Json json = Json::parse(text);
      json[Json::json_pointer(key)] = wrong;
      EXPECT_EQ(refusal(json.dump()), damaged()) << key << " " << wrong;
    }
  }
  Json json = Json::parse(text);
  json["next_epoch"] = std::uint64_t{1} << 32;
  EXPECT_EQ(refusal(json.dump()), damaged());
}

TEST_F(CheckpointTest, WhatSaysMoreThanIsKnownIsRefused) {
  for (const char* const key : {"/more", "/changes/more", "/last_sums"}) {
    Json json = Json::parse(written());
    json[Json::json_pointer(key)] = 1;
    EXPECT_EQ(refusal(json.dump()), damaged()) << key;
  }
}

TEST_F(CheckpointTest, WhatIsNoDescriptionIsRefused) {
  Json json = Json::parse(written());
  json["training"]["settings"]["side"] = "48";
  EXPECT_EQ(refusal(json.dump()), damaged());
  json.erase("training");
  EXPECT_EQ(refusal(json.dump()), damaged());
  EXPECT_EQ(refusal(""), damaged());
  EXPECT_EQ(refusal("{"), damaged());
  EXPECT_EQ(refusal("{\"training\":" + std::string(1'000'000, '[')), damaged());
  const std::string nested = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_EQ(refusal("{\"training\":" + nested + "}"), damaged());
}

}  // namespace
}  // namespace somatlas::pipeline
