// Runs the built somatlas as a user would and keeps what it wrote and how it ended.
// Always holds: nothing of the test's own standard streams reaches it; it never outlives its time.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace somatlas::program_test {

struct Ending {
  int exit_code = -1;  // 128 + signal where a signal ended it
  std::string out;
  std::string err;
  std::uint64_t peak_bytes = 0;  // of memory at once
};

struct Surroundings {
  std::string stdout_path{};        // standard output goes to this file instead of into Ending::out
  bool close_stdout_early = false;  // its reader goes away before the first byte
  std::filesystem::path directory{};       // to run in; empty: the test's own
  std::vector<std::string> environment{};  // NAME=VALUE each, on top of the test's own
  std::vector<std::string> wrapper{};      // words before the program, such as prlimit's
  std::string program{};                   // another copy of it
  std::chrono::seconds limit{120};
};

/// A started program; its streams are read by wait().
class RunningProgram {
 public:
  explicit RunningProgram(const std::vector<std::string>& arguments,
                          const Surroundings& surroundings = {});
  ~RunningProgram();
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  void send(int signal) const;
  /// Until a signal has halted it.
  void wait_until_halted() const;
  /// Reads standard error until text has come, or the program has ended. Whether it came.
  bool wait_for_error_text(const std::string& text);
  /// Of standard error, what was read so far.
  [[nodiscard]] const std::string& error_text() const { return ending_.err; }
  /// Throws std::runtime_error past the time limit.
  Ending wait();

 private:
  bool read_some();  // false: both streams have ended

  pid_t pid_ = -1;
  int out_ = -1;
  int err_ = -1;
  std::chrono::steady_clock::time_point deadline_;
  Ending ending_;
};

/// Starts somatlas with the arguments and waits for its end.
[[nodiscard]] Ending run_somatlas(const std::vector<std::string>& arguments,
                                  const Surroundings& surroundings = {});

/// A new empty directory that goes away with the object.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Path of a name in it.
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// A file of tests/data.
[[nodiscard]] std::string data(const std::string& name);
/// Writes a file whole.
void write_file(const std::string& path, const std::string& text);
[[nodiscard]] std::string read_file(const std::string& path);

}  // namespace somatlas::program_test
