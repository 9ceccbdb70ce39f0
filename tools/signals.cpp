// The thread that takes the signals.
#include "tools/signals.h"

#include <pthread.h>
#include <unistd.h>

namespace somatlas::tools {

namespace {

bool ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// Wakes the watcher when the program ends; no one else sends it.
constexpr int wake = SIGUSR1;

}  // namespace

Signals::Signals() {
  ::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of the write, so that all is put away
  ::signal(SIGXFSZ, SIG_IGN);  // so is a file past its limit
  sigemptyset(&set_);
  for (const int signal : {SIGINT, SIGTERM}) {
    if (!ignored(signal)) {
      sigaddset(&set_, signal);
    }
  }
  sigaddset(&set_, wake);
  pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  watcher_ = std::thread([this] { watch(); });
}

Signals::~Signals() {
  ending_ = true;
  pthread_kill(watcher_.native_handle(), wake);
  watcher_.join();
}

void Signals::watch() {
  for (;;) {
    int signal = 0;
    sigwait(&set_, &signal);
    if (signal == wake) {
      if (ending_) {
        return;
      }
      continue;
    }
    const bool second = received_.exchange(signal) != 0;
    if (second || !clean_stop_) {
      _exit(128 + signal);
    }
    source_.request_stop();
  }
}

}  // namespace somatlas::tools
