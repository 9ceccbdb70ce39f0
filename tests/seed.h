// The seed of every random test: SOMATLAS_TEST_SEED where it is set, else a fresh one.
// Always holds: a process has one seed, and prints it when it is first asked for, so that a failure
// can be run again.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>

namespace somatlas {

/// The seed to use, printed once on standard output.
[[nodiscard]] inline std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const char* const given = std::getenv("SOMATLAS_TEST_SEED");
    const std::uint64_t value =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    std::cout << "SOMATLAS_TEST_SEED=" << value << std::endl;
    return value;
  }();
  return seed;
}

}  // namespace somatlas
