// The atlas over RocksDB; made by Atlas::open.
// A family is replaced by writing its entries under a new generation number, the first four bytes
// of every key, and naming that generation in meta in the same atomic step; the old one's table
// files are dropped whole afterwards. So a replacement never merges with, rewrites or mixes with
// what it replaces, and one that was cut short is invisible.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "store/atlas.h"
#include "store/atlas_codec.h"
#include "store/rocks_directory.h"

namespace somatlas::store {

class RocksAtlas : public Atlas {
 public:
  explicit RocksAtlas(std::unique_ptr<RocksDirectory> rocks) : rocks_(std::move(rocks)) {}

  static RocksLayout layout();

  [[nodiscard]] const std::string& directory() const override { return rocks_->directory(); }
  [[nodiscard]] std::optional<std::string> meta(const std::string& name) override;
  void put_meta(const std::string& name, const std::string& value) override;
  void put_checkpoint(const std::function<std::optional<EncodedShard>()>& next,
                      const std::string& meta_name, const std::string& meta_value) override;
  void put_placement(const std::function<bool(const PlacementSink&)>& write) override;
  void put_planes(const std::function<bool(AtlasDescriptor&, std::string&)>& next) override;
  void put_cells(const AtlasCells& cells) override;
  void put_articles(const std::function<std::optional<EncodedArticles>()>& next) override;
  [[nodiscard]] std::vector<std::uint32_t> assignment_ranges() override;
  [[nodiscard]] std::optional<AssignmentShard> assignment(std::uint32_t range) override;
  [[nodiscard]] std::vector<std::uint32_t> place_ranges() override;
  [[nodiscard]] std::optional<PlaceShard> places(std::uint32_t range) override;
  [[nodiscard]] std::vector<AtlasDescriptor> descriptors() override;
  [[nodiscard]] std::optional<std::vector<std::uint16_t>> plane(DescriptorCode code) override;
  [[nodiscard]] AtlasCells cells() override;
  [[nodiscard]] std::vector<std::uint32_t> articles(std::uint32_t neuron) override;
  [[nodiscard]] std::uint64_t disk_bytes() override { return sum_of(rocks_->disk_parts()); }
  void verify(const std::function<void(const Fault&)>& fault) override;

 private:
  /// The new generation of a family, while it is being written.
  class Replacement {
   public:
    Replacement(RocksAtlas& atlas, RocksIngestion& ingestion, const std::string& family);
    /// Keys in ascending order; throws StoreError where they are not.
    void put(const std::string& key, std::string_view value);
    /// Puts the index into meta: families in the order of their names, before named values.
    void put_index();
    /// After the commit: what is read from now on, and the old generation's files go.
    void publish();

   private:
    RocksAtlas& atlas_;
    RocksIngestion& ingestion_;
    std::string family_;
    std::string prefix_;
    FamilyIndex index_;
  };

  using Index = std::shared_ptr<const FamilyIndex>;
  [[nodiscard]] Index index(const std::string& family);
  /// Files of every generation but the current one.
  void drop_other_generations(const std::string& family, std::uint32_t current);
  /// The value under a key of the current generation; nothing where the index has no such key.
  [[nodiscard]] std::optional<std::string> value(const std::string& family,
                                                 const FamilyIndex& current,
                                                 const std::string& key);
  [[nodiscard]] std::vector<std::uint32_t> numbers(const std::string& family);

  std::unique_ptr<RocksDirectory> rocks_;
  std::mutex mutex_;
  std::map<std::string, Index> indexes_;
};

}  // namespace somatlas::store
