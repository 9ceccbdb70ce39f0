// How a target says that a promise was broken: libFuzzer takes the abort for a crash and keeps the
// input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace somatlas::fuzz {

inline void expect(bool holds, const char* promise, const std::string& seen = {}) {
  if (!holds) {
    std::fprintf(stderr, "broken promise: %s [%s]\n", promise, seen.c_str());
    std::abort();
  }
}

}  // namespace somatlas::fuzz
