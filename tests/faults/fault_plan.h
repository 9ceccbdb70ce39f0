// What the preloaded library (injector/fault_injector.cpp) is to do to a run of the program, and
// what it wrote down of one.
#pragma once

#include <signal.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace somatlas::fault_test {

/// Names of calls, a blank around each. `end` is a read that finds the end of the file.
inline constexpr std::string_view changing_calls =
    " create write sync rename link unlink mkdir truncate allocate ";
inline constexpr std::string_view all_calls =
    " open read end create write sync rename link unlink mkdir truncate allocate ";
/// Those that need room on the disk.
inline constexpr std::string_view growing_calls = " create write sync rename link mkdir allocate ";

struct Fault {
  std::string root;              // calls on paths that begin so are seen
  std::string trace{};           // file to write them into
  std::string calls{all_calls};  // those that count
  std::string path{};            // and of these, those whose path has this in it
  std::size_t number = 0;        // the n-th of them is struck; 0: none
  int error = 0;                 // it fails with this errno; 0: it gets the signal
  int signal = SIGKILL;
  bool lasting = false;  // so do all that follow
};

/// Variables for the program's environment.
[[nodiscard]] std::vector<std::string> environment_of(const Fault& fault);

struct Call {
  std::string name;
  std::string path;
};
/// The calls of a run, in order; a struck one too.
[[nodiscard]] std::vector<Call> read_trace(const std::string& path);

}  // namespace somatlas::fault_test
