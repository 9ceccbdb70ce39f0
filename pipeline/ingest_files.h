// Takes MEDLINE files into a store: one flow graph from file to commit, several files at a time,
// committed in order. Always holds: a file is taken whole or not at all; a refused file does not
// stop the others; tokens bound the memory.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "pipeline/mesh_change_lists.h"
#include "pipeline/mesh_tables.h"
#include "store/store.h"

namespace somatlas::pipeline {

struct IngestOptions {
  std::string store_directory;
  std::vector<std::string> inputs;  // files, and directories whose *.xml and *.xml.gz are taken
  std::vector<std::string> mesh;    // descriptor tables, read before the files
  std::vector<std::string> mesh_changes;  // lists of changed descriptors, or "none", in order
  bool check_md5 = true;                  // compare with companions FILE.md5 where there are any
  bool dry_run = false;                   // say what would be done
  unsigned threads = 0;                   // 0: one a core
  std::stop_token stop;  // asked to stop: files already parsed are committed, the rest left
};

/// Where a run's time went, in seconds of the clock; those of the workers are summed over them.
struct IngestSeconds {
  unsigned workers = 0;
  double inflate = 0;  // reading and MD5 included
  double parse = 0;
  double encode = 0;
  double commit = 0;   // in one thread, in the order of the files
  double graph = 0;    // from the first file's begin to the last one's commit
  double compact = 0;  // afterwards
  /// The share of the workers' time that no stage worked in: too few files, or waiting for the
  /// disk.
  [[nodiscard]] double idle_share() const {
    const double all = graph * workers;
    return all > 0 ? 1 - (inflate + parse + encode + commit) / all : 0;
  }
};

struct RefusedFile {
  std::string path;
  std::string reason;  // one sentence, with file and line
};

/// One run's figures. citations = the sum over its files of what the ledger says.
struct IngestSummary {
  std::uint64_t files_taken = 0;
  std::uint64_t files_changed = 0;  // of them: the ledger had them with another text
  std::uint64_t files_skipped = 0;  // the ledger has them already
  std::uint64_t citations = 0;
  std::uint64_t with_descriptors = 0;
  std::uint64_t deletions = 0;
  std::uint64_t books = 0;
  std::array<std::uint64_t, 3> left_out{};
  std::uint64_t unknown_headings = 0;
  std::uint64_t xml_bytes = 0;
  std::uint64_t descriptors_added = 0;  // entries read from tables
  MeshCounts mesh;
  MeshChangeCounts mesh_changes;
  std::vector<store::FileKey> keys_taken;  // ascending
  std::vector<RefusedFile> refused;
  bool stopped = false;
  IngestSeconds seconds;
};

/// What the store as a whole holds; records = kept + bare + superseded + deleted + left_out.
struct StoreCensus {
  std::uint64_t records = 0;   // citation records read over all files, earlier texts included
  std::uint64_t articles = 0;  // kept, with descriptors
  std::uint64_t bare = 0;      // kept, without
  std::uint64_t superseded = 0;
  std::uint64_t deleted = 0;     // articles that were there and are gone
  std::uint64_t tombstones = 0;  // deletions kept, those of articles never seen included
  std::uint64_t left_out = 0;
  std::uint64_t descriptor_uses = 0;
  std::uint64_t unknown_headings = 0;  // given by a name that was unknown when the file was taken
  // Of the files that take_census() was given; a file that was taken again counts with all rows
  // that it ever decided:
  std::uint64_t revised = 0;  // articles whose record is theirs and took an earlier one's place
  std::uint64_t deleted_here = 0;  // articles that they deleted
};

/// How far a run is.
struct IngestProgress {
  std::uint64_t files_done = 0;
  std::uint64_t files = 0;
  std::uint64_t citations = 0;        // of the files that are committed
  std::uint64_t xml_bytes = 0;        // read so far
  std::uint64_t file_bytes_read = 0;  // as they are on disk, compressed
  std::uint64_t file_bytes = 0;       // to be read in all: files known or refused do not count
  double seconds = 0;                 // since the first file was begun
};

/// What a dry run would do with a file.
enum class FilePlan : std::uint8_t {
  take,
  take_again,  // the ledger has it with another text
  skip,        // the ledger has it
};

/// progress() comes from any thread, one call at a time; so do the others, beside it.
class IngestObserver {
 public:
  virtual ~IngestObserver() = default;
  /// A file committed, in commit order.
  virtual void committed(const store::LedgerEntry& entry) = 0;
  virtual void refused(const RefusedFile& file) = 0;
  /// For the user: a sentence on a record left out or a file taken again; at the end one on the
  /// unknown headings, with a line each for the most frequent.
  virtual void warning(const std::string& text) = 0;
  virtual void progress(const IngestProgress& progress) = 0;
  /// Of a dry run, a file after the other.
  virtual void planned(const std::string& path, FilePlan plan) = 0;
};

/// Throws store::StoreError where the store cannot be used. Refused files are in the summary, not
/// thrown.
IngestSummary ingest_files(const IngestOptions& options, IngestObserver& observer);

/// Reads every shard once. files: those of a run, ascending.
[[nodiscard]] StoreCensus take_census(store::Store& store,
                                      std::span<const store::FileKey> files = {});

}  // namespace somatlas::pipeline
