// From what the user named to the files to take: directories are opened, the same file named twice
// counts once, and what cannot be taken is refused by name before anything is read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/ingest_files.h"
#include "store/file_key.h"

namespace somatlas::pipeline {

struct InputFile {
  std::string path;
  store::FileKey key;
  std::uint64_t bytes = 0;
};

struct InputList {
  std::vector<InputFile> files;  // ascending by key, keys distinct
  std::vector<RefusedFile> refused;
  std::uint64_t copies = 0;  // further copies of a file under the same key, not taken
};

/// Looks the inputs up on disk. A directory gives its *.xml and *.xml.gz, not those of its
/// subdirectories; any other name is taken as it is. Two files of one key and different content are
/// refused from the second on.
[[nodiscard]] InputList list_inputs(const std::vector<std::string>& inputs);

}  // namespace somatlas::pipeline
