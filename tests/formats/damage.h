// A file as a bad disk or a hasty hand leaves it.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace somatlas::exports {

/// The bytes with one to four of them or stretches of them changed, taken out, doubled or cut off.
inline std::string damaged(std::string bytes, std::mt19937_64& random) {
  for (std::uint64_t blows = 1 + random() % 4; blows > 0 && !bytes.empty(); --blows) {
    const std::size_t at = random() % bytes.size();
    switch (random() % 4) {
      case 0:
        bytes[at] = static_cast<char>(random());
        break;
      case 1:
        bytes.erase(at, 1 + random() % 20);
        break;
      case 2:
        bytes.insert(at, bytes.substr(random() % bytes.size(), random() % 30));
        break;
      default:
        bytes.resize(at + 1);
    }
  }
  return bytes;
}

}  // namespace somatlas::exports
