// An epoch's figures: as a line of a table for people, and as a JSON line of a log.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "pipeline/training.h"

namespace somatlas::tools {

/// The names of the columns of epoch_line().
[[nodiscard]] std::string epoch_header();
/// One epoch, aligned under the header; "-" where there is no figure.
[[nodiscard]] std::string epoch_line(const pipeline::EpochFigures& figures);

/// A file of JSON lines, one an epoch; each is complete on disk when add() returns.
class EpochLog {
 public:
  /// Opens path for appending; an empty path logs nothing. Throws std::runtime_error.
  explicit EpochLog(std::string path);
  /// Throws std::runtime_error where the line cannot be written.
  void add(const pipeline::EpochFigures& figures);

 private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace somatlas::tools
