// What a running subcommand has of the outside world: standard output, sentences and a progress
// line on standard error, and the wish to stop. Always holds: data goes to standard output only,
// everything else to standard error; lines of several threads never mix.
#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string_view>

#include "tools/output.h"
#include "tools/progress.h"
#include "tools/signals.h"

namespace somatlas::tools {

class Session {
 public:
  explicit Session(Signals& signals) : signals_(signals) {}

  /// Standard output; main flushes it and checks it when the command has ended.
  [[nodiscard]] Output& out() { return out_; }
  /// Asked to stop at SIGINT or SIGTERM. Taking it promises that the command ends soon and cleanly
  /// once asked; a command that never takes it is ended at once by the first signal.
  [[nodiscard]] std::stop_token stop_token() { return signals_.stop_token(); }

  /// Writes a line on standard error: a summary, a warning. From any thread.
  void say(std::string_view sentence);
  /// Shows progress on a standard error that is no terminal too; before the first progress().
  void want_progress() { progress_.want(); }
  /// Whether anyone looks at the progress line.
  [[nodiscard]] bool progress_shown() const { return progress_.shown(); }
  /// Replaces the progress line. From any thread.
  void progress(std::string_view text);
  /// The same with how many of a pass's rows are done. From any thread.
  void pass_progress(std::uint64_t rows, std::uint64_t of);

 private:
  Signals& signals_;
  Output out_;
  std::mutex mutex_;
  Progress progress_;
};

}  // namespace somatlas::tools
