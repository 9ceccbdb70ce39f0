// Preloaded into the program under test: sees what it does with the files of one folder, writes
// that down, and lets the n-th such call fail, or kills or halts the process there.
// Always holds: it allocates nothing and calls the kernel itself; a call that is to fail or before
// which the process is killed is not carried out; without SOMATLAS_FAULT_ROOT nothing is changed.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

using Path = std::array<char, 4096>;

std::string_view given(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

long number_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? 0 : std::strtol(value, nullptr, 10);
}

// What tests/faults/fault_plan.h asks for.
struct Plan {
  std::string_view root = given("SOMATLAS_FAULT_ROOT");
  std::string_view calls = given("SOMATLAS_FAULT_CALLS");             // with a blank around each
  std::string_view path = given("SOMATLAS_FAULT_PATH");               // a part of the path
  long number = number_of("SOMATLAS_FAULT_NUMBER");                   // 0: none
  int error = static_cast<int>(number_of("SOMATLAS_FAULT_ERROR"));    // 0: none, the signal
  int signal = static_cast<int>(number_of("SOMATLAS_FAULT_SIGNAL"));  // to itself
  bool lasting = !given("SOMATLAS_FAULT_LASTING").empty();
  int trace = -1;

  Plan() {
    if (const std::string_view name = given("SOMATLAS_FAULT_TRACE"); !name.empty())
      trace = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, name.data(),
                                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  }
};

const Plan& plan() {
  static const Plan the_plan;
  return the_plan;
}

void write_down(std::string_view call, std::string_view path) {
  std::array<char, 4200> line{};
  const int size =
      std::snprintf(line.data(), line.size(), "%.*s %.*s\n", static_cast<int>(call.size()),
                    call.data(), static_cast<int>(path.size()), path.data());
  ::syscall(SYS_write, plan().trace, line.data(), static_cast<std::size_t>(size));
}

/// Whether this call is to fail, with errno set. Does not return where the process is killed.
bool fails(std::string_view call, std::string_view path) {
  const int error = errno;
  const Plan& asked = plan();
  if (asked.root.empty() || !path.starts_with(asked.root))
    return false;
  if (asked.trace >= 0)
    write_down(call, path);
  std::array<char, 32> word{};
  std::snprintf(word.data(), word.size(), " %.*s ", static_cast<int>(call.size()), call.data());
  errno = error;
  if (asked.number == 0 || path.find(asked.path) == std::string_view::npos ||
      asked.calls.find(word.data()) == std::string_view::npos)
    return false;
  static std::atomic<long> count{0};
  const long number = ++count;
  if (number != asked.number && !(asked.lasting && number > asked.number))
    return false;
  if (asked.error == 0) {
    ::syscall(SYS_kill, ::getpid(), asked.signal);
    return false;
  }
  errno = asked.error;
  return true;
}

/// The path that a descriptor was opened by; empty for what is no file.
std::string_view path_of(int file, Path& path) {
  const int error = errno;
  std::array<char, 40> link{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
  const ssize_t size = ::readlink(link.data(), path.data(), path.size());
  errno = error;
  return {path.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
}

/// The path of a name below an open folder.
std::string_view path_at(int folder, const char* name, Path& path) {
  if (folder == AT_FDCWD || name[0] == '/')
    return name;
  const std::size_t length = path_of(folder, path).size();
  const int size = std::snprintf(path.data() + length, path.size() - length, "/%s", name);
  return {path.data(), length + static_cast<std::size_t>(size)};
}

template <class Function>
Function* real(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool fails_at(std::string_view call, int file) {
  Path path;
  return fails(call, path_of(file, path));
}

bool opening_fails(int folder, const char* name, int flags) {
  Path path;
  return fails((flags & O_CREAT) != 0 ? "create" : "open", path_at(folder, name, path));
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

// NOLINTBEGIN(cert-dcl50-cpp): these are the C library's, which takes the mode so.
extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  static auto* const next = real(&open, "open");
  return opening_fails(AT_FDCWD, path, flags) ? -1 : next(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  static auto* const next = real(&open64, "open64");
  return opening_fails(AT_FDCWD, path, flags) ? -1 : next(path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  static auto* const next = real(&openat, "openat");
  return opening_fails(folder, path, flags) ? -1 : next(folder, path, flags, mode);
}

ssize_t read(int file, void* bytes, std::size_t size) {
  static auto* const next = real(&read, "read");
  if (fails_at("read", file))
    return -1;
  const ssize_t got = next(file, bytes, size);
  return got == 0 && fails_at("end", file) ? -1 : got;
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  static auto* const next = real(&write, "write");
  return fails_at("write", file) ? -1 : next(file, bytes, size);
}

ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t at) {
  static auto* const next = real(&pwrite, "pwrite");
  return fails_at("write", file) ? -1 : next(file, bytes, size, at);
}

ssize_t pwrite64(int file, const void* bytes, std::size_t size, off64_t at) {
  static auto* const next = real(&pwrite64, "pwrite64");
  return fails_at("write", file) ? -1 : next(file, bytes, size, at);
}

int fsync(int file) {
  static auto* const next = real(&fsync, "fsync");
  return fails_at("sync", file) ? -1 : next(file);
}

int fdatasync(int file) {
  static auto* const next = real(&fdatasync, "fdatasync");
  return fails_at("sync", file) ? -1 : next(file);
}

int rename(const char* from, const char* to) noexcept {
  static auto* const next = real(&rename, "rename");
  return fails("rename", to) ? -1 : next(from, to);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  static auto* const next = real(&renameat2, "renameat2");
  Path path;
  return fails("rename", path_at(to_folder, to, path))
             ? -1
             : next(from_folder, from, to_folder, to, flags);
}

int link(const char* from, const char* to) noexcept {
  static auto* const next = real(&link, "link");
  return fails("link", to) ? -1 : next(from, to);
}

int unlink(const char* path) noexcept {
  static auto* const next = real(&unlink, "unlink");
  return fails("unlink", path) ? -1 : next(path);
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  static auto* const next = real(&unlinkat, "unlinkat");
  Path path;
  return fails("unlink", path_at(folder, name, path)) ? -1 : next(folder, name, flags);
}

int remove(const char* path) noexcept {
  static auto* const next = real(&remove, "remove");
  return fails("unlink", path) ? -1 : next(path);
}

int rmdir(const char* path) noexcept {
  static auto* const next = real(&rmdir, "rmdir");
  return fails("unlink", path) ? -1 : next(path);
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const next = real(&mkdir, "mkdir");
  return fails("mkdir", path) ? -1 : next(path, mode);
}

int ftruncate(int file, off_t size) noexcept {
  static auto* const next = real(&ftruncate, "ftruncate");
  return fails_at("truncate", file) ? -1 : next(file, size);
}

int fallocate(int file, int mode, off_t at, off_t size) {
  static auto* const next = real(&fallocate, "fallocate");
  return fails_at("allocate", file) ? -1 : next(file, mode, at, size);
}

}  // extern "C"
// NOLINTEND(cert-dcl50-cpp)
