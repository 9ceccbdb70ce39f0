// The line itself: rewritten in place on a terminal, a line each time elsewhere.
#include "tools/progress.h"

#include <unistd.h>

#include <cstdio>

namespace somatlas::tools {

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1), shown_(terminal_) {}

void Progress::show(std::string_view text) {
  if (!shown_ || text == text_) {
    return;
  }
  text_ = text;
  const std::string line = terminal_ ? "\r" + text_ + "\x1b[K" : text_ + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

void Progress::clear() {
  if (terminal_ && !text_.empty()) {
    std::fputs("\r\x1b[K", stderr);
    std::fflush(stderr);
    text_.clear();
  }
}

}  // namespace somatlas::tools
