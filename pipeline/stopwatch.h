// Seconds of the clock since a moment; for figures alone, nothing else depends on them.
#pragma once

#include <chrono>

namespace somatlas::pipeline {

class Stopwatch {
 public:
  /// Seconds since it was made.
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace somatlas::pipeline
