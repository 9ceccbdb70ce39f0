// One file from disk to deltas and a ledger entry: read, inflated, checked and parsed in one
// stream. Always holds: what a file that is refused or left has said is forgotten; reports are
// bounded.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "ingest/mesh_table.h"
#include "pipeline/delta_builder.h"
#include "pipeline/ingest_inputs.h"
#include "store/store.h"

namespace somatlas::pipeline {

/// What the reading of any file of a run needs; shared by threads, read only.
struct ReadingContext {
  const std::map<store::FileKey, store::LedgerEntry>& ledger;
  const ingest::NameTable& names;
  bool check_md5 = true;
  bool dry_run = false;  // decide only whether the file would be taken
  std::stop_token stop;
  /// From any thread: so many bytes more of XML, and of the file as it is on disk.
  std::function<void(std::uint64_t, std::uint64_t)> bytes_read;
};

enum class Outcome : std::uint8_t {
  taken,
  skipped,  // the ledger has this text of it
  refused,
  left,  // asked to stop before it was read
};

/// A heading that is unknown: how often it was met, and where first.
struct UnknownHeading {
  std::uint64_t times = 0;
  std::string first;  // file:line
};
/// By name, as it can be shown; the empty name is that of headings without one.
using UnknownHeadings = std::map<std::string, UnknownHeading>;
/// Further names are only counted.
inline constexpr std::size_t most_unknown_names = 10'000;

/// Where a worker's time went, in seconds of the clock.
struct ReadingSeconds {
  double inflate = 0;  // reading, MD5 included
  double parse = 0;
  double encode = 0;
};

/// The result of reading one file, and the buffers that it was made in.
struct FileReading {
  Outcome outcome = Outcome::left;
  std::string refusal;                // one sentence
  bool known_before = false;          // the ledger has it, with this or another text
  std::uint64_t file_bytes_read = 0;  // as it is on disk
  store::LedgerEntry entry;
  std::vector<store::Shard> deltas;
  std::vector<store::EncodedDelta> encoded;  // the deltas, for the store
  ReadingSeconds seconds;
  /// Sentences about records left out; their number is in entry.
  std::vector<std::string> left_out_reports;
  UnknownHeadings unknown_headings;  // their number is in entry
  DeltaBuilder builder;
};
inline constexpr std::size_t most_reports = 20;  // a file; the rest is only counted

/// Reads file into reading. A fault of the file is an outcome; what is thrown is no fault of it.
void read_file(const InputFile& file, const ReadingContext& context, FileReading& reading);

}  // namespace somatlas::pipeline
