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

/// A file of JSON lines, one an epoch; each is complete on disk when add() returns. A file that it
/// made goes again where no line came.
class EpochLog {
 public:
  /// Opens path for appending; an empty path logs nothing. Throws std::runtime_error.
  explicit EpochLog(std::string path);
  ~EpochLog();
  EpochLog(const EpochLog&) = delete;
  EpochLog& operator=(const EpochLog&) = delete;
  /// Throws std::runtime_error where the line cannot be written.
  void add(const pipeline::EpochFigures& figures);

 private:
  std::string path_;
  bool left_new_ = false;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace somatlas::tools
