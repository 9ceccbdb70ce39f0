// The table of subcommands: a new one is a file of its own and a line here.
#include <array>

#include "tools/command.h"

namespace somatlas::tools {

std::span<const Registration> registrations() {
  static const std::vector<Registration> all{};
  return all;
}

}  // namespace somatlas::tools
