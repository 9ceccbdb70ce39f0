// For processors of which nothing is known.
#include "store/file_checksum.h"

namespace somatlas::store {

std::shared_ptr<rocksdb::FileChecksumGenFactory> file_checksums() {
  return rocksdb::GetFileChecksumGenCrc32cFactory();
}

}  // namespace somatlas::store
