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
  std::function<void(std::uint64_t)> bytes_read;  // from any thread: further bytes of XML
};

enum class Outcome : std::uint8_t {
  taken,
  skipped,  // the ledger has this text of it
  refused,
  left,  // asked to stop before it was read
};

/// The result of reading one file, and the buffers that it was made in.
struct FileReading {
  Outcome outcome = Outcome::left;
  std::string refusal;  // one sentence
  store::LedgerEntry entry;
  std::vector<store::Shard> deltas;
  /// Sentences about records left out and headings unknown; the counts are in entry.
  std::vector<std::string> left_out_reports;
  std::vector<std::string> unknown_reports;
  DeltaBuilder builder;
};
inline constexpr std::size_t most_reports = 20;  // of each kind a file; the rest is only counted

/// Reads file into reading. A fault of the file is an outcome; what is thrown is no fault of it.
void read_file(const InputFile& file, const ReadingContext& context, FileReading& reading);

}  // namespace somatlas::pipeline
