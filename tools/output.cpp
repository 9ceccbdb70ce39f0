// Writes the buffer out, as often as the system takes a part of it.
#include "tools/output.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace somatlas::tools {

void Output::flush() {
  std::string_view rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      const int error = errno;
      buffer_.clear();
      const std::string text =
          "standard output could not be written: " + std::generic_category().message(error);
      if (error == EPIPE) {
        throw OutputClosed(text);
      }
      throw OutputError(text);
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
}

}  // namespace somatlas::tools
