// What a store holds, counted for info. Always holds: every figure is counted from the store
// itself, in one pass over its shards, through the view of changed descriptors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"

namespace somatlas::tools {

struct DescriptorFrequency {
  store::DescriptorCode code = 0;
  std::uint64_t articles = 0;
  std::uint64_t major_topics = 0;  // articles that have it as a major topic
  std::string name;                // empty: the table does not know it
};

/// Sums over files.
struct FileFigures {
  std::uint64_t files = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t xml_bytes = 0;
  std::uint64_t citations = 0;
  std::uint64_t deletions = 0;
  std::uint64_t books = 0;
  std::uint64_t left_out = 0;
  std::uint64_t unknown_headings = 0;
  void add(const store::LedgerEntry& entry);
};

struct StoreFigures {
  std::uint64_t articles = 0;
  std::uint64_t bare = 0;
  std::uint64_t tombstones = 0;
  std::uint64_t uses = 0;
  std::map<std::uint16_t, std::uint64_t> years;  // articles by year; 0: none
  std::vector<DescriptorFrequency> descriptors;  // most frequent first, ties by UI
  FileFigures total;
  std::map<std::uint32_t, FileFigures> of_year;  // by year of production; 0: the name has none
  store::MeshView::Effect effect;                // of the view

  /// Of publication, those without a year left out.
  [[nodiscard]] std::map<unsigned, std::uint64_t> decades() const;
  /// First and last year of any article; nothing where none has a year.
  [[nodiscard]] std::optional<std::pair<unsigned, unsigned>> year_range() const;
  [[nodiscard]] std::uint64_t without_year() const;
};

[[nodiscard]] StoreFigures count_store(store::Store& store);

}  // namespace somatlas::tools
