// Whether a process that gave up its rights still finds the way to a folder: a test that gives them
// up is of use only there. Systems that keep a folder of temporary files for each person bar it to
// the others.
#pragma once

#include <filesystem>

namespace somatlas {

/// Whether each folder on the way to `folder`, not counting itself, may be entered by everybody.
inline bool others_may_reach(const std::filesystem::path& folder) {
  for (std::filesystem::path way = std::filesystem::absolute(folder).parent_path();
       way != way.root_path(); way = way.parent_path()) {
    if ((std::filesystem::status(way).permissions() & std::filesystem::perms::others_exec) ==
        std::filesystem::perms::none) {
      return false;
    }
  }
  return true;
}

}  // namespace somatlas
