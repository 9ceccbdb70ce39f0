// Gathers what one file says and turns it into shard deltas: one row a PMID, the file's last word
// on it. Always holds: the winner is the maximum of (version, place), a deletion standing after all
// of its file's records; memory is the file's rows, 20 bytes each and 4 a descriptor.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/citation.h"
#include "store/shard.h"

namespace somatlas::pipeline {

class DeltaBuilder {
 public:
  /// Forgets everything; keeps its memory for the next file.
  void clear();
  void add_citation(const ingest::CitationView& citation);
  void add_deletion(std::uint32_t pmid, std::uint16_t version);

  /// One delta a PMID range, ascending; every row is decided by key. Throws std::length_error past
  /// 2^32 descriptors.
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
