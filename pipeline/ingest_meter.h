// How far an ingest is, told to its observer as files are read. Always holds: what is told never
// goes back, but the bytes that are still to be read can, as files turn out to be known or refused.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>

#include "pipeline/file_reading.h"
#include "pipeline/ingest_files.h"
#include "pipeline/stopwatch.h"

namespace somatlas::pipeline {

class Meter {
 public:
  Meter(IngestObserver& observer, const std::vector<InputFile>& files) : observer_(observer) {
    now_.files = files.size();
    for (const InputFile& file : files) {
      now_.file_bytes += file.bytes;
    }
  }

  /// So many bytes more, from any thread.
  void bytes(std::uint64_t xml, std::uint64_t of_file) {
    const std::lock_guard lock(mutex_);
    now_.xml_bytes += xml;
    now_.file_bytes_read += of_file;
    if (now_.xml_bytes - shown_ >= step) {
      show();
    }
  }
  /// A file is through, whatever its outcome.
  void file_done(const InputFile& file, const FileReading& reading) {
    const std::lock_guard lock(mutex_);
    ++now_.files_done;
    now_.file_bytes -= file.bytes - std::min(file.bytes, reading.file_bytes_read);
    if (reading.outcome == Outcome::taken) {
      now_.citations += reading.entry.citations;
    }
    show();
  }

 private:
  static constexpr std::uint64_t step = 8U << 20U;
  void show() {
    shown_ = now_.xml_bytes;
    now_.seconds = watch_.seconds();
    observer_.progress(now_);
  }
  IngestObserver& observer_;
  const Stopwatch watch_;
  std::mutex mutex_;
  IngestProgress now_;
  std::uint64_t shown_ = 0;
};

}  // namespace somatlas::pipeline
