// Streams and events: an owner type and a view type for each. Always holds: owners destroy what
// they made, on the device that was current when they made it; views are plain values that own
// nothing; events carry no timing unless made for it, and waiting for one does not spin.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "gpu/cuda_check.cuh"

namespace somatlas::gpu {

/// An event that somebody else owns.
class EventView {
 public:
  explicit EventView(cudaEvent_t event) : event_(event) {}
  [[nodiscard]] cudaEvent_t value() const { return event_; }
  /// Blocks this thread until the work recorded before the event is done.
  void synchronize() const { check(cudaEventSynchronize(event_)); }
  /// Whether it is done, without waiting.
  [[nodiscard]] bool happened() const {
    const cudaError_t code = cudaEventQuery(event_);
    if (code != cudaErrorNotReady) {
      check(code);
    }
    return code == cudaSuccess;
  }
  /// Seconds from an earlier event to this one; both have happened and are for timing.
  [[nodiscard]] double seconds_since(EventView earlier) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, earlier.event_, event_));
    return static_cast<double>(milliseconds) / 1000;
  }

 private:
  cudaEvent_t event_;
};

/// A stream that somebody else owns; every asynchronous call takes one.
class StreamView {
 public:
  explicit StreamView(cudaStream_t stream) : stream_(stream) {}
  [[nodiscard]] cudaStream_t value() const { return stream_; }
  void record(EventView event) const { check(cudaEventRecord(event.value(), stream_)); }
  /// Work enqueued after this starts once the event has happened.
  void wait(EventView event) const { check(cudaStreamWaitEvent(stream_, event.value(), 0)); }
  /// Blocks this thread until everything enqueued so far is done.
  void synchronize() const { check(cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_;
};

class Event {
 public:
  enum class Kind { order, timing };
  explicit Event(Kind kind = Kind::order) {
    const unsigned flags = kind == Kind::timing ? cudaEventBlockingSync
                                                : cudaEventBlockingSync | cudaEventDisableTiming;
    check(cudaEventCreateWithFlags(&event_, flags));
  }
  ~Event() {
    if (event_ != nullptr) {
      report(cudaEventDestroy(event_));
    }
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  [[nodiscard]] EventView view() const { return EventView(event_); }

 private:
  cudaEvent_t event_ = nullptr;
};

class Stream {
 public:
  /// first: its blocks are taken before those of usual streams that wait for a multiprocessor.
  enum class Priority { usual, first };
  explicit Stream(Priority priority = Priority::usual) {
    int least = 0;
    int greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking,
                                       priority == Priority::first ? greatest : least));
  }
  ~Stream() {
    if (stream_ != nullptr) {
      report(cudaStreamDestroy(stream_));
    }
  }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream& operator=(Stream&&) = delete;
  [[nodiscard]] StreamView view() const { return StreamView(stream_); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace somatlas::gpu
