// The end of RocksDB's list of files, which RocksDB believes too easily: a last record that is
// longer than the file counts as one whose writing was cut off, and is passed over without a word.
// Always holds: a record that was really cut off is left to RocksDB.
#pragma once

#include <string>

namespace somatlas::store {

/// Whether the MANIFEST that a RocksDB directory names in CURRENT ends in records that are whole
/// but for a length that has changed: with another length the checksum fits. RocksDB's own opening
/// would lose them, and with them what was committed last. False where there is none to be read.
/// The form is RocksDB's log format: blocks of 32 KiB; a record is a masked CRC-32C of all that is
/// behind the length, the length in 2 bytes, the type in 1, the payload.
[[nodiscard]] bool manifest_ends_in_changed_length(const std::string& directory);

}  // namespace somatlas::store
