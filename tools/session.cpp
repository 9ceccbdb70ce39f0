// Lines on standard error: a sentence takes the progress line away before it is written.
#include "tools/session.h"

#include <cstdio>
#include <string>

namespace somatlas::tools {

void Session::say(std::string_view sentence) {
  std::string line(sentence);
  line += '\n';
  const std::lock_guard lock(mutex_);
  progress_.clear();
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void Session::progress(std::string_view text) {
  const std::lock_guard lock(mutex_);
  progress_.show(text);
}

}  // namespace somatlas::tools
