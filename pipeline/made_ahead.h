// Values that are made over all threads, a batch ahead of their use, and handed out in order: for
// what is written one after the other and costs more to make than to write.
#pragma once

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace somatlas::pipeline {

template <class Value>
class MadeAhead {
 public:
  /// make(i) gives value i of count; it is called from several threads at a time, and what it
  /// throws comes out of next().
  MadeAhead(std::size_t count, std::function<Value(std::size_t)> make)
      : count_(count), make_(std::move(make)) {}

  /// The next value; nothing behind the last.
  [[nodiscard]] std::optional<Value> next() {
    if (next_ == count_) {
      return std::nullopt;
    }
    if (next_ % at_once == 0) {
      values_.resize(std::min(at_once, count_ - next_));
      tbb::parallel_for(std::size_t{0}, values_.size(),
                        [&](std::size_t i) { values_[i] = make_(next_ + i); });
    }
    return std::move(values_[next_++ % at_once]);
  }

 private:
  /// Values that wait at most: a final assignment's are a megabyte each.
  static constexpr std::size_t at_once = 32;

  std::size_t count_;
  std::function<Value(std::size_t)> make_;
  std::size_t next_ = 0;
  std::vector<Value> values_;
};

}  // namespace somatlas::pipeline
