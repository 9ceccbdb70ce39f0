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
  std::uint32_t update_files =
      1;  // files that revise, delete and bring back, after the baseline (XML only)
  bool full_records =
      true;  // XML with every element a real file has, at real lengths; else headings only
  unsigned threads = 0;
  std::stop_token stop;
};

struct SynthSummary {
  std::uint64_t articles = 0;
  std::uint64_t descriptor_uses = 0;
  std::uint64_t files = 0;
  std::uint64_t xml_bytes = 0;
  bool stopped = false;
};

/// Throws store::StoreError, std::runtime_error (a directory that is not empty, a disk that is
/// full).
SynthSummary synthesize(const SynthOptions& options);

}  // namespace somatlas::pipeline
