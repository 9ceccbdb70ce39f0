// SIGINT and SIGTERM, taken by one thread: the first asks the command to stop, the second ends the
// process at once. Always holds: no other thread ever sees them; a signal that the parent had
// ignored stays ignored.
#pragma once

#include <signal.h>

#include <atomic>
#include <stop_token>
#include <thread>

namespace somatlas::tools {

class Signals {
 public:
  /// Blocks the signals in this thread and all it will start; made before any other thread is.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// From here on the first signal asks for a stop; before, it ends the process.
  [[nodiscard]] std::stop_token stop_token() {
    clean_stop_ = true;
    return source_.get_token();
  }
  /// 128 + the number of the signal that came; 0: none.
  [[nodiscard]] int exit_code() const {
    const int signal = received_;
    return signal == 0 ? 0 : 128 + signal;
  }

 private:
  void watch();

  sigset_t set_{};
  std::stop_source source_;
  std::atomic<bool> clean_stop_{false};
  std::atomic<bool> ending_{false};
  std::atomic<int> received_{0};
  std::thread watcher_;
};

}  // namespace somatlas::tools
