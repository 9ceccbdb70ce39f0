// The seed of the random tests: from SOMATLAS_TEST_SEED, else a fresh one. Always printed, so that
// a failure can be run again.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace somatlas::pipeline {

/// The seed to use, printed on stdout.
inline std::uint64_t test_seed() {
  const char* text = std::getenv("SOMATLAS_TEST_SEED");
  const std::uint64_t seed = text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
  std::cout << "SOMATLAS_TEST_SEED=" << seed << '\n';
  return seed;
}

}  // namespace somatlas::pipeline
