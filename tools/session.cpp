// Lines on standard error: a sentence takes the progress line away before it is written.
#include "tools/session.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace somatlas::tools {

void Session::say(std::string_view sentence) {
  std::string line(sentence);
  // Names of files are in it, and a terminal would do what their control characters say.
  std::replace_if(
      line.begin(), line.end(),
      [](unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F; }, '?');
  line += '\n';
  const std::lock_guard lock(mutex_);
  progress_.clear();
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void Session::progress(std::string_view text) {
  const std::lock_guard lock(mutex_);
  progress_.show(text);
}

void Session::pass_progress(std::uint64_t rows, std::uint64_t of) {
  if (progress_shown() && of != 0) {
    progress("this pass: " + std::to_string(rows * 100 / of) + " %");
  }
}

}  // namespace somatlas::tools
