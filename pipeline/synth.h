// A seeded corpus of MEDLINE's shape at any size: document frequencies, descriptors an article, and
// topics in two levels. Always holds: article i of (seed) is the same whatever the thread count,
// the number of articles and the output form.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

namespace somatlas::pipeline {

struct SynthOptions {
  std::uint64_t articles = 0;
  std::uint64_t seed = 1;
  std::string store_directory;  // one of the two
  std::string xml_directory;
  std::uint32_t articles_per_file = 30'000;
  std::uint32_t update_files = 1;  // after the baseline (XML only): each adds, revises and deletes,
                                   // from the second on it also brings back
  bool full_records =
      true;  // XML with every element a real file has, at real lengths; else headings only
  unsigned threads = 0;
  std::stop_token stop;
};

struct SynthSummary {
  std::uint64_t articles = 0;  // of the baseline
  std::uint64_t descriptor_uses = 0;
  std::uint64_t files = 0;
  std::uint64_t files_there = 0;  // of these, in the store before
  std::uint64_t revised = 0;      // by update files
  std::uint64_t added = 0;
  std::uint64_t brought_back = 0;
  std::uint64_t deleted = 0;
  std::uint64_t xml_bytes = 0;
  bool stopped = false;
};

/// The most articles whose PMIDs fit 32 bits.
inline constexpr std::uint64_t synth_most_articles = 3'900'000'000;

/// Files are named synthetic26n0001.xml.gz and so on, in a store's ledger too. A store may hold
/// such a corpus already, whole or in part: what is there is compared and kept. An XML directory is
/// new or empty; beside the files it gets their .md5 companions and descriptors.tsv.
/// Throws store::StoreError, std::runtime_error (a store with other files, a directory that is not
/// empty, a disk that is full).
SynthSummary synthesize(const SynthOptions& options);

}  // namespace somatlas::pipeline
