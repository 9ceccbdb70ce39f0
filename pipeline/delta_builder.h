// Gathers what one file says and turns it into shard deltas: one row a PMID, the file's last word
// on it. Always holds: the winner is the maximum of (version, place), a deletion standing after all
// of its file's records; memory is the file's rows, 20 bytes each and 4 a descriptor, and bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ingest/citation.h"
#include "store/shard.h"

namespace somatlas::pipeline {

/// Of one file, deletions included. A file of NLM's has 30,000 records and half a million
/// descriptors; all that a file says is held until it is taken whole.
inline constexpr std::size_t most_records = std::size_t{1} << 20;
inline constexpr std::size_t most_descriptors = std::size_t{1} << 24;

class DeltaBuilder {
 public:
  /// Whether one more record, of so many descriptors, stays within the bounds.
  [[nodiscard]] bool has_room(std::size_t descriptors) const {
    return records_.size() < most_records && descriptors <= most_descriptors - descriptors_.size();
  }
  /// Forgets everything; keeps its memory for the next file.
  void clear();
  /// There is room for what is added.
  void add_citation(const ingest::CitationView& citation);
  void add_deletion(std::uint32_t pmid, std::uint16_t version);

  /// One delta a PMID range, ascending; every row is decided by key.
  [[nodiscard]] std::vector<store::Shard> build(const store::FileKey& key);

 private:
  struct Record {
    std::uint32_t pmid;
    std::uint16_t version;
    std::uint16_t year;
    std::uint32_t first;  // in descriptors_
    std::uint16_t count;
    bool deletion;
    std::uint32_t place;
  };
  void append(store::Shard& shard, const Record& winner, std::uint32_t records) const;

  std::vector<Record> records_;
  std::vector<std::uint32_t> descriptors_;  // code, the top bit set where a major topic
};

}  // namespace somatlas::pipeline
