// A disk that is full soon: a file system in memory of its own size, which only root can mount.
#pragma once

#include <sys/mount.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

namespace somatlas::store {

class SmallDisk {
 public:
  SmallDisk(std::string at, std::uint64_t bytes) : at_(std::move(at)) {
    std::filesystem::create_directory(at_);
    mounted_ = resize("size=" + std::to_string(bytes), 0);
  }
  ~SmallDisk() {
    if (mounted_)
      ::umount2(at_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  /// False: this process may not mount.
  [[nodiscard]] bool mounted() const { return mounted_; }
  bool grow(std::uint64_t bytes) { return resize("size=" + std::to_string(bytes), MS_REMOUNT); }

 private:
  [[nodiscard]] bool resize(const std::string& options, unsigned long flags) const {
    return ::mount("tmpfs", at_.c_str(), "tmpfs", flags, options.c_str()) == 0;
  }
  std::string at_;
  bool mounted_ = false;
};

}  // namespace somatlas::store
