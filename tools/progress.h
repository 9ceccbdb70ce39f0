// A line of progress on standard error, only where someone looks: on a terminal, or when asked for.
// Always holds: it is written only when the shown text changes. Session makes it safe for threads.
#pragma once

#include <string>
#include <string_view>

namespace somatlas::tools {

class Progress {
 public:
  Progress();
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows it also where standard error is no terminal.
  void want() { shown_ = true; }
  [[nodiscard]] bool shown() const { return shown_; }
  /// Replaces the line.
  void show(std::string_view text);
  /// Takes the line away, before another line is written.
  void clear();

 private:
  bool terminal_;
  bool shown_;
  std::string text_;
};

}  // namespace somatlas::tools
