// CRC-32C by SSE 4.2's instruction.
#include <nmmintrin.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "store/file_checksum.h"
#include "store/varint.h"

namespace somatlas::store {
namespace {

class HardwareCrc32c : public rocksdb::FileChecksumGenerator {
 public:
  [[gnu::target("sse4.2")]] void Update(const char* data, std::size_t size) override {
    std::uint64_t crc = state_;
    for (; size >= sizeof(std::uint64_t); size -= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, data, sizeof(word));
      crc = _mm_crc32_u64(crc, word);
      data += sizeof(word);
    }
    state_ = static_cast<std::uint32_t>(crc);
    for (; size > 0; --size) {
      state_ = _mm_crc32_u8(state_, static_cast<unsigned char>(*data++));
    }
  }
  void Finalize() override { put_big_endian(checksum_, ~state_, 4); }
  [[nodiscard]] std::string GetChecksum() const override { return checksum_; }
  [[nodiscard]] const char* Name() const override {
    return rocksdb::kStandardDbFileChecksumFuncName;
  }

 private:
  std::uint32_t state_ = 0xFFFF'FFFF;
  std::string checksum_;
};

class Factory : public rocksdb::FileChecksumGenFactory {
 public:
  std::unique_ptr<rocksdb::FileChecksumGenerator> CreateFileChecksumGenerator(
      const rocksdb::FileChecksumGenContext& context) override {
    const std::string& name = context.requested_checksum_func_name;
    if (!name.empty() && name != rocksdb::kStandardDbFileChecksumFuncName) {
      return nullptr;
    }
    return std::make_unique<HardwareCrc32c>();
  }
  [[nodiscard]] const char* Name() const override { return "FileChecksumGenCrc32cFactory"; }
};

}  // namespace

std::shared_ptr<rocksdb::FileChecksumGenFactory> file_checksums() {
  if (__builtin_cpu_supports("sse4.2") == 0) {
    return rocksdb::GetFileChecksumGenCrc32cFactory();
  }
  static const auto factory = std::make_shared<Factory>();
  return factory;
}

}  // namespace somatlas::store
