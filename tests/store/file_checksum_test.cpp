// The checksum of whole files is RocksDB's own, however the bytes come in pieces.
#include "store/file_checksum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/store/random_shards.h"

namespace somatlas::store {
namespace {

TEST(FileChecksum, IsThatOfRocksDB) {
  Random random(test_seed());
  const auto of_rocksdb = rocksdb::GetFileChecksumGenCrc32cFactory();
  for (int run = 0; run < 200; ++run) {
    const auto theirs = of_rocksdb->CreateFileChecksumGenerator({});
    const auto ours = file_checksums()->CreateFileChecksumGenerator({});
    std::string bytes(draw(random, 5'000), '\0');
    for (char& byte : bytes)
      byte = static_cast<char>(random());
    theirs->Update(bytes.data(), bytes.size());
    for (std::size_t done = 0; done < bytes.size();) {
      const std::size_t piece = std::min(bytes.size() - done, 1 + draw(random, 100));
      ours->Update(bytes.data() + done, piece);
      done += piece;
    }
    theirs->Finalize();
    ours->Finalize();
    ASSERT_EQ(ours->GetChecksum(), theirs->GetChecksum()) << bytes.size();
    ASSERT_STREQ(ours->Name(), theirs->Name());
  }
}

TEST(FileChecksum, IsNoOther) {
  rocksdb::FileChecksumGenContext context;
  context.requested_checksum_func_name = "another";
  EXPECT_EQ(file_checksums()->CreateFileChecksumGenerator(context), nullptr);
}

}  // namespace
}  // namespace somatlas::store
