// The atlas: what training leaves, in a RocksDB directory of its own. While training it is the work
// directory that holds checkpoints; it takes its final name when it is complete. Always holds: each
// put is one atomic, durable step; what is read was checked; a reader needs no write permission.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/descriptor_code.h"
#include "store/entry_words.h"
#include "store/store.h"

namespace somatlas::store {

/// Raised whenever the layout of the atlas's directory changes. An atlas of another number is
/// refused. Its column families; but for meta, each key begins with the generation of its family's
/// index, 4 bytes big-endian:
///
///   assignment   range, 4 bytes big-endian -> an assignment shard (all values but those of
///   places       the same -> a place shard           descriptors: store/atlas_codec.h)
///   planes       UI -> a plane
///   cells        "0" to "9" and "a", a column of AtlasCells in their order; "level 1" to "level
///   3",
///                its regions from the smallest to the largest
///   articles     neuron, 4 bytes big-endian -> its PMIDs
///   descriptors  UI -> name, tree numbers, articles (store/descriptor_codec.h)
///   meta         "format" -> "atlas " and this number; "index/FAMILY" -> its index;
///                "named/NAME" -> sealed (store/frame.h), the text of put_meta(); that of
///                "named/entry_words" is as store/entry_words.h has it
///
/// RocksDB's own family "default" stays empty.
inline constexpr std::uint32_t atlas_format = 2;

/// Training articles of one PMID range, with the neuron each had when the codebook was built.
/// A checkpoint keeps the neurons alone: low and fingerprint are then empty, and the codec keeps
/// them so.
struct AssignmentShard {
  std::uint32_t range = 0;
  std::vector<std::uint16_t> low;  // PMID % 65,536, ascending
  std::vector<std::uint32_t> neuron;
  std::vector<std::uint64_t> fingerprint;  // XXH3 of the descriptors: tells a changed article
  friend bool operator==(const AssignmentShard&, const AssignmentShard&) = default;
};

/// Places of all articles of one PMID range under the final codebook.
struct PlaceShard {
  std::uint32_t range = 0;
  std::vector<std::uint16_t> low;
  std::vector<std::uint32_t> neuron;    // 0xFFFFFFFF: no known descriptor, no place
  std::vector<std::uint32_t> second;    // 0xFFFFFFFF: none
  std::vector<std::uint32_t> distance;  // in units of 2^-20
  friend bool operator==(const PlaceShard&, const PlaceShard&) = default;
};

/// A shard of either kind as encoded() (store/atlas_codec.h) gives it: callers encode, so that they
/// may over several threads.
struct EncodedShard {
  std::uint32_t range = 0;
  std::string value;
};

/// The articles of a cell as encoded() (store/atlas_codec.h) gives them.
struct EncodedArticles {
  std::uint32_t neuron = 0;
  std::string value;
};

/// Takes the shards that put_placement() writes, each kind in ascending range; one thread at a time
/// may call each.
struct PlacementSink {
  std::function<void(const EncodedShard&)> places;
  std::function<void(const EncodedShard&)> assignment;
};

inline constexpr std::uint32_t no_descriptor = 0xFFFF'FFFF;
inline constexpr std::size_t leading_per_cell = 5;
inline constexpr std::size_t leading_per_region = 10;

/// A part of the map that hangs together. Of its articles' share with a descriptor and of that
/// among all training articles (AtlasDescriptor) a reader makes the lift.
struct AtlasRegion {
  std::string name;
  std::uint32_t parent = 0;  // number of the region of the next level that it lies in; 0: none
  std::uint32_t cells = 0;
  std::uint32_t centre = 0;        // a neuron of it, far from its border
  std::uint64_t hits = 0;          // training articles placed here
  std::uint64_t year_count = 0;    // as the columns of AtlasCells of the same names
  std::uint64_t year_sum = 0;      //
  std::uint64_t recent_count = 0;  //
  struct Leading {
    DescriptorCode code = 0;
    std::uint64_t articles = 0;  // of hits, that carry it
    friend bool operator==(const Leading&, const Leading&) = default;
  };
  std::vector<Leading> leading;  // at most leading_per_region, best first
  friend bool operator==(const AtlasRegion&, const AtlasRegion&) = default;
};

/// Regions, areas of regions, continents of areas: each level tiles the map.
inline constexpr std::size_t region_levels = 3;

/// One value a neuron, row-major.
struct AtlasCells {
  std::vector<std::int32_t> norm;
  std::vector<std::uint64_t> square_sum;
  std::vector<std::uint8_t> vacant;
  std::vector<std::uint32_t> hits;        // training articles placed here
  std::vector<std::uint32_t> year_count;  // articles placed here that have a year
  std::vector<std::uint64_t> year_sum;
  std::vector<std::uint32_t>
      height;  // U-matrix, mean distance to usable neighbours, units of 2^-20
  std::vector<std::uint32_t> leading;  // 5 a neuron: descriptor codes, best first; no_descriptor
  std::vector<std::uint32_t> recent_count;    // of year_count, those of recent_from or later
  std::vector<std::uint16_t> leading_weight;  // as leading: the weight there, 0 where none
  std::vector<std::uint32_t> region;          // number in levels[0]
  std::uint32_t recent_from = 0;              // the first of the corpus's last five years; 0: none
  std::array<std::vector<AtlasRegion>, region_levels> levels;
  friend bool operator==(const AtlasCells&, const AtlasCells&) = default;
};

struct AtlasDescriptor {
  DescriptorCode code = 0;
  std::string name;
  std::vector<std::string> tree_numbers;
  std::uint64_t articles = 0;  // training articles that carry it
  friend bool operator==(const AtlasDescriptor&, const AtlasDescriptor&) = default;
};

/// The named value that put_entry_words() puts.
inline constexpr const char* entry_words_name = "entry_words";

class Atlas {
 public:
  enum class Access : std::uint8_t { read, write, create };

  /// Throws StoreError (missing, another format, in use).
  [[nodiscard]] static std::unique_ptr<Atlas> open(const std::string& directory, Access access);
  virtual ~Atlas() = default;

  [[nodiscard]] virtual const std::string& directory() const = 0;

  /// Named values: settings, schedule state, quality figures, as text (JSON where structured).
  [[nodiscard]] virtual std::optional<std::string> meta(const std::string& name) = 0;
  virtual void put_meta(const std::string& name, const std::string& value) = 0;

  /// Entry words of its descriptors, by ascending code; they are a named value of their own. None
  /// where its store had none.
  void put_entry_words(std::span<const EntryWords> words);
  [[nodiscard]] std::vector<EntryWords> entry_words();

  /// A checkpoint: every assignment shard and one meta value replace the earlier ones, atomically
  /// and durably. next yields shards in ascending range until it returns nothing.
  virtual void put_checkpoint(const std::function<std::optional<EncodedShard>()>& next,
                              const std::string& meta_name, const std::string& meta_value) = 0;
  /// Every place shard and every assignment shard that write gives replace the earlier ones; where
  /// it returns false or throws, nothing changes.
  virtual void put_placement(const std::function<bool(const PlacementSink&)>& write) = 0;
  /// next fills one descriptor and its plane as encode_plane() (store/atlas_codec.h) gives it, UI
  /// ascending, and returns false at the end; where it throws, nothing changes.
  virtual void put_planes(const std::function<bool(AtlasDescriptor&, std::string&)>& next) = 0;
  virtual void put_cells(const AtlasCells& cells) = 0;
  /// next yields the articles of cells in ascending order of neurons until it returns nothing.
  virtual void put_articles(const std::function<std::optional<EncodedArticles>()>& next) = 0;

  [[nodiscard]] virtual std::vector<std::uint32_t> assignment_ranges() = 0;
  [[nodiscard]] virtual std::optional<AssignmentShard> assignment(std::uint32_t range) = 0;
  [[nodiscard]] virtual std::vector<std::uint32_t> place_ranges() = 0;
  [[nodiscard]] virtual std::optional<PlaceShard> places(std::uint32_t range) = 0;
  /// Descriptors in UI order.
  [[nodiscard]] virtual std::vector<AtlasDescriptor> descriptors() = 0;
  /// One plane; nothing where the atlas has no such descriptor.
  [[nodiscard]] virtual std::optional<std::vector<std::uint16_t>> plane(DescriptorCode code) = 0;
  [[nodiscard]] virtual AtlasCells cells() = 0;
  [[nodiscard]] virtual std::vector<std::uint32_t> articles(std::uint32_t neuron) = 0;

  [[nodiscard]] virtual std::uint64_t disk_bytes() = 0;
  virtual void verify(const std::function<void(const Fault&)>& fault) = 0;
};

}  // namespace somatlas::store
