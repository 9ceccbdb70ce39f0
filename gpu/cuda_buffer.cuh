// Memory: arrays on the device, counted against a cap, and pinned arrays on the host. Always holds:
// the account is the exact sum of the bytes of all living device arrays, and what would pass the
// cap is refused with the numbers before it is asked of the driver.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "gpu/cuda_check.cuh"
#include "gpu/cuda_stream.cuh"
#include "gpu/tile.h"

namespace somatlas::gpu {

/// Counts the device memory of one backend; outlives its buffers.
class MemoryAccount {
 public:
  explicit MemoryAccount(std::size_t cap_bytes) : cap_bytes_(cap_bytes) {}
  [[nodiscard]] std::size_t cap_bytes() const { return cap_bytes_; }
  [[nodiscard]] std::size_t used_bytes() const { return used_bytes_; }
  [[nodiscard]] std::size_t left_bytes() const { return cap_bytes_ - used_bytes_; }

  /// Throws std::runtime_error with the numbers when bytes more pass the cap.
  void take(std::size_t bytes, const char* what) {
    std::size_t used = used_bytes_;
    do {
      if (bytes > cap_bytes_ - used) {
        throw std::runtime_error(
            "the device memory does not hold " + std::string(what) + ": " + std::to_string(bytes) +
            " bytes are needed beside " + std::to_string(used) + " in use, and " +
            std::to_string(cap_bytes_) +
            " may be used; take a smaller side, smaller tiles or a larger cap");
      }
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
  }
  void give(std::size_t bytes) noexcept { used_bytes_ -= bytes; }

 private:
  std::size_t cap_bytes_;
  std::atomic<std::size_t> used_bytes_{0};
};

/// Owner of count values of T on the device; not initialised.
template <typename T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// what: the noun for the message when it does not fit.
  DeviceBuffer(MemoryAccount& account, std::size_t count, const char* what)
      : account_(&account), count_(count) {
    account.take(bytes(), what);
    if (count == 0) {
      return;
    }
    void* block = nullptr;
    if (const cudaError_t code = cudaMalloc(&block, bytes()); code != cudaSuccess) {
      account.give(bytes());
      check(code);
    }
    data_ = static_cast<T*>(block);
  }
  ~DeviceBuffer() { release(); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer(std::move(other)).swap(*this);
    return *this;
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }
  /// Sets every byte, in the stream's order.
  void fill_bytes(int value, StreamView stream) const {
    if (count_ != 0) {
      check(cudaMemsetAsync(data_, value, bytes(), stream.value()));
    }
  }

 private:
  void swap(DeviceBuffer& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
  }
  void release() noexcept {
    if (data_ != nullptr) {
      report(cudaFree(data_));
    }
    if (account_ != nullptr) {
      account_->give(bytes());
    }
  }

  MemoryAccount* account_ = nullptr;
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

/// Pinned host memory, for copies that overlap with work.
[[nodiscard]] inline HostBlock pinned_block(std::size_t bytes) {
  void* block = nullptr;
  check(cudaMallocHost(&block, bytes));
  return HostBlock(static_cast<std::byte*>(block),
                   [](std::byte* memory) { report(cudaFreeHost(memory)); });
}

/// Enqueues a copy of count values; the host side must be pinned to overlap.
template <typename T>
void copy_to_device(T* to, const T* from, std::size_t count, StreamView stream) {
  if (count != 0) {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyHostToDevice, stream.value()));
  }
}
template <typename T>
void copy_to_host(T* to, const T* from, std::size_t count, StreamView stream) {
  if (count != 0) {
    check(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, stream.value()));
  }
}

}  // namespace somatlas::gpu
