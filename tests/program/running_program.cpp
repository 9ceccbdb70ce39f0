// Pipes, posix_spawn and poll.
#include "tests/program/running_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace somatlas::program_test {

namespace {

using Clock = std::chrono::steady_clock;

void check(bool good, const char* what) {
  if (!good) {
    throw std::system_error(errno, std::generic_category(), what);
  }
}

struct Pipe {
  int read = -1;
  int write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  check(::pipe2(ends.data(), O_CLOEXEC) == 0, "pipe2");
  return {ends[0], ends[1]};
}

void close_end(int& end) {
  if (end >= 0) {
    ::close(end);
    end = -1;
  }
}

/// As exec wants them: a null pointer at the end.
std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

RunningProgram::RunningProgram(const std::vector<std::string>& arguments,
                               const Surroundings& surroundings)
    : deadline_(Clock::now() + surroundings.limit) {
  Pipe out = make_pipe();
  Pipe err = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (!surroundings.directory.empty()) {
    posix_spawn_file_actions_addchdir_np(&actions, surroundings.directory.c_str());
  }
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  if (surroundings.stdout_path.empty()) {
    posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  } else {
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, surroundings.stdout_path.c_str(),
                                     O_WRONLY | O_CREAT | O_TRUNC, 0666);
  }
  posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
  // A test runner may ignore or block signals; a user's shell does not.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t set;
  sigemptyset(&set);
  posix_spawnattr_setsigmask(&attributes, &set);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) {
    sigaddset(&set, signal);
  }
  posix_spawnattr_setsigdefault(&attributes, &set);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  const std::string program =
      surroundings.program.empty() ? SOMATLAS_PROGRAM : surroundings.program;
  std::vector<std::string> words = surroundings.wrapper;
  words.push_back(words.empty() ? "somatlas" : program);
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv = pointers_to(words);
  std::vector<std::string> variables = surroundings.environment;
  std::vector<char*> environment = pointers_to(variables);
  environment.pop_back();
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.push_back(*variable);  // the first of a name counts
  }
  environment.push_back(nullptr);
  if (surroundings.close_stdout_early) {
    close_end(out.read);
  }
  const char* const file = surroundings.wrapper.empty() ? program.c_str() : argv.front();
  const int error =
      ::posix_spawnp(&pid_, file, &actions, &attributes, argv.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close_end(out.write);
  close_end(err.write);
  out_ = out.read;
  err_ = err.read;
  if (error != 0) {
    close_end(out_);
    close_end(err_);
    throw std::system_error(error, std::generic_category(), file);
  }
}

RunningProgram::~RunningProgram() {
  close_end(out_);
  close_end(err_);
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

void RunningProgram::send(int signal) const {
  check(::kill(pid_, signal) == 0, "kill");
}

void RunningProgram::wait_until_halted() const {
  siginfo_t info{};
  check(::waitid(P_PID, static_cast<id_t>(pid_), &info, WSTOPPED | WEXITED | WNOWAIT) == 0,
        "waitid");
  if (info.si_code != CLD_STOPPED) {
    throw std::runtime_error("somatlas ended before it was halted");
  }
}

bool RunningProgram::read_some() {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now()).count();
  if (left <= 0) {
    throw std::runtime_error("somatlas took too long; it had written: " + ending_.err);
  }
  std::array<pollfd, 2> streams{pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) {
    return false;
  }
  if (::poll(streams.data(), streams.size(), static_cast<int>(left)) < 0) {
    check(errno == EINTR, "poll");
    return true;
  }
  std::array<char, 1 << 16> bytes{};
  const auto take = [&bytes](const pollfd& stream, int& end, std::string& text) {
    if (stream.fd < 0 || stream.revents == 0) {
      return;
    }
    const ssize_t count = ::read(end, bytes.data(), bytes.size());
    if (count > 0) {
      text.append(bytes.data(), static_cast<std::size_t>(count));
    } else {
      close_end(end);
    }
  };
  take(streams[0], out_, ending_.out);
  take(streams[1], err_, ending_.err);
  return true;
}

bool RunningProgram::wait_for_error_text(const std::string& text) {
  while (ending_.err.find(text) == std::string::npos) {
    if (!read_some()) {
      return false;
    }
  }
  return true;
}

Ending RunningProgram::wait() {
  while (read_some()) {
  }
  int status = 0;
  rusage usage{};
  check(::wait4(pid_, &status, 0, &usage) == pid_, "wait4");
  pid_ = -1;
  ending_.peak_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) << 10U;
  ending_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ending_;
}

Ending run_somatlas(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  return RunningProgram(arguments, surroundings).wait();
}

ScratchDirectory::ScratchDirectory() {
  std::string name = std::filesystem::temp_directory_path() / "somatlas-test-XXXXXX";
  check(::mkdtemp(name.data()) != nullptr, "mkdtemp");
  path_ = name;
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::string data(const std::string& name) {
  return std::filesystem::path(SOMATLAS_TEST_DATA) / name;
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw std::runtime_error(path + " cannot be written");
  }
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace somatlas::program_test
