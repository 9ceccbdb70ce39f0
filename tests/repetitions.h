// How often a random test repeats. SOMATLAS_LONG_TESTS asks for the longer run;
// SOMATLAS_SHORT_TESTS for a quarter of the usual one, for builds that a sanitizer makes slow.
#pragma once

#include <algorithm>
#include <cstdlib>

namespace somatlas {

/// `usual` times, or `in_long` times in the longer run; at least once.
[[nodiscard]] inline int repetitions(int usual, int in_long) {
  if (std::getenv("SOMATLAS_LONG_TESTS") != nullptr) {
    return in_long;
  }
  return std::getenv("SOMATLAS_SHORT_TESTS") != nullptr ? std::max(1, usual / 4) : usual;
}

}  // namespace somatlas
