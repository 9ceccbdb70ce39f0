// The files of the page, compiled into the program: none is read when it runs.
#pragma once

#include <span>
#include <string_view>

namespace somatlas::serve {

struct Asset {
  std::string_view name;  // "" is the page itself
  std::string_view type;
  std::string_view bytes;
};

/// All of them; the build writes the list from tools/serve/assets and Debian's Leaflet.
[[nodiscard]] std::span<const Asset> assets();

}  // namespace somatlas::serve
