// The descriptions of a checkpoint and of an atlas, as JSON: the first byte chooses which.
// Promises: what is read says what it is written as again; anything else is a StoreError.
#include <cstdint>
#include <nlohmann/json.hpp>

#include "pipeline/checkpoint.h"
#include "store/store_error.h"
#include "tests/fuzz/expect.h"

namespace somatlas::pipeline {
namespace {

using fuzz::expect;
using Shards = std::function<std::optional<store::EncodedShard>()>;

/// An atlas that holds one named value and nothing else.
class OneValue final : public store::Atlas {
 public:
  explicit OneValue(std::string value) : value_(std::move(value)) {}

  [[nodiscard]] const std::string& directory() const override { return directory_; }
  [[nodiscard]] std::optional<std::string> meta(const std::string&) override { return value_; }
  void put_meta(const std::string&, const std::string& value) override { value_ = value; }
  void put_checkpoint(const Shards&, const std::string&, const std::string& value) override {
    value_ = value;
  }
  void put_placement(const std::function<bool(const store::PlacementSink&)>&) override {}
  void put_planes(const std::function<bool(store::AtlasDescriptor&, std::string&)>&) override {}
  void put_cells(const store::AtlasCells&) override {}
  void put_articles(const std::function<std::optional<store::EncodedArticles>()>&) override {}
  [[nodiscard]] std::vector<std::uint32_t> assignment_ranges() override { return {}; }
  [[nodiscard]] std::optional<store::AssignmentShard> assignment(std::uint32_t) override {
    return {};
  }
  [[nodiscard]] std::vector<std::uint32_t> place_ranges() override { return {}; }
  [[nodiscard]] std::optional<store::PlaceShard> places(std::uint32_t) override { return {}; }
  [[nodiscard]] std::vector<store::AtlasDescriptor> descriptors() override { return {}; }
  [[nodiscard]] std::optional<std::vector<std::uint16_t>> plane(store::DescriptorCode) override {
    return {};
  }
  [[nodiscard]] store::AtlasCells cells() override { return {}; }
  [[nodiscard]] std::vector<std::uint32_t> articles(std::uint32_t) override { return {}; }
  [[nodiscard]] std::uint64_t disk_bytes() override { return 0; }
  void verify(const std::function<void(const store::Fault&)>&) override {}

 private:
  std::string directory_ = "atlas";
  std::string value_;
};

using Json = nlohmann::json;

std::string written_again(const std::string& text) {
  OneValue work(text);
  const auto checkpoint = read_checkpoint(work);
  write_checkpoint(work, {}, {}, *checkpoint);
  return *work.meta(meta_checkpoint);
}

void check_checkpoint(const std::string& text) {
  const std::string again = written_again(text);
  // The figures of an atlas in it are no part of a checkpoint.
  Json json = Json::parse(text);
  const Json wrote = Json::parse(again);
  json["training"] = wrote.at("training");
  for (const auto& [key, value] : wrote.items()) {
    expect(json.at(key) == value, "a checkpoint says what it was read as", again);
  }
  expect(written_again(again) == again, "a checkpoint comes back", again);
}

void check_atlas(const std::string& text) {
  const std::string again = to_json(atlas_meta_from_json(text));
  Json json = Json::parse(text);
  json.emplace("earlier_epochs", 0U);  // atlases of before it was kept lack it
  expect(json == Json::parse(again), "an atlas's description says what it was read as", again);
}

}  // namespace
}  // namespace somatlas::pipeline

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace somatlas::pipeline;
  if (size == 0) {
    return 0;
  }
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    (*data % 2 == 0 ? check_checkpoint : check_atlas)(text);
  } catch (const somatlas::store::StoreError&) {
  }
  return 0;
}
