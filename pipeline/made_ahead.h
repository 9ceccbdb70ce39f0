// Values that are made over all threads, a batch ahead of their use, and handed out in order: for
// what is written one after the other and costs more to make than to write. Always holds: while one
// batch is handed out the next is made, and no more than these two are there.
#pragma once

#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_group.h>

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
  /// throws comes out of next(). at_once: values of a batch; 1: one call of make() at a time.
  MadeAhead(std::size_t count, std::function<Value(std::size_t)> make, std::size_t at_once = 16)
      : count_(count), at_once_(at_once), make_(std::move(make)) {
    begin_batch(0);
  }

  ~MadeAhead() {
    try {
      making_.cancel();
      making_.wait();
    } catch (...) {
      // What making threw: nobody asks for it any more.
    }
  }
  MadeAhead(const MadeAhead&) = delete;
  MadeAhead& operator=(const MadeAhead&) = delete;

  /// The next value; nothing behind the last.
  [[nodiscard]] std::optional<Value> next() {
    if (next_ == count_) {
      return std::nullopt;
    }
    if (next_ % at_once_ == 0) {
      making_.wait();
      values_.swap(coming_);
      begin_batch(next_ + at_once_);
    }
    return std::move(values_[next_++ % at_once_]);
  }

 private:
  void begin_batch(std::size_t first) {
    if (first >= count_) {
      return;
    }
    coming_.clear();
    coming_.resize(std::min(at_once_, count_ - first));
    making_.run([this, first] {
      tbb::parallel_for(std::size_t{0}, coming_.size(),
                        [&](std::size_t i) { coming_[i] = make_(first + i); });
    });
  }

  std::size_t count_;
  std::size_t at_once_;
  std::function<Value(std::size_t)> make_;
  std::size_t next_ = 0;
  std::vector<Value> values_;
  std::vector<Value> coming_;
  tbb::task_group making_;
};

}  // namespace somatlas::pipeline
