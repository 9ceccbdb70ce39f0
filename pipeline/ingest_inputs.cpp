// Looking inputs up on disk, in an order that does not depend on the disk.
#include "pipeline/ingest_inputs.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "ingest/byte_source.h"
#include "ingest/input_error.h"

namespace somatlas::pipeline {

namespace {

namespace fs = std::filesystem;

bool is_medline_name(const std::string& name) {
  return name.ends_with(".xml") || name.ends_with(".xml.gz");
}

class Lister {
 public:
  void add(const std::string& input) {
    std::error_code error;
    const fs::file_status status = fs::status(input, error);
    if (status.type() == fs::file_type::not_found) {
      refuse(input, "there is no such file or directory; check the name");
    } else if (status.type() == fs::file_type::none) {
      refuse(input, "cannot be looked at: " + error.message());
    } else if (fs::is_directory(status)) {
      add_directory(input);
    } else {
      add_file(input, status);
    }
  }

  InputList take() {
    std::ranges::stable_sort(list_.files, {}, &InputFile::key);
    drop_second_of_key();
    return std::move(list_);
  }

 private:
  void refuse(const std::string& path, const std::string& why) {
    list_.refused.push_back({path, ingest::InputError(path, 0, why).what()});
  }

  void add_directory(const std::string& directory) {
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      std::error_code unreadable;
      if (is_medline_name(name) && !fs::is_directory(entry->path(), unreadable)) {
        names.push_back(name);
      }
    }
    if (error) {
      refuse(directory, "the directory cannot be read: " + error.message());
      return;
    }
    if (names.empty()) {
      refuse(directory, "the directory holds no *.xml or *.xml.gz file; name one that does");
      return;
    }
    std::ranges::sort(names);
    for (const std::string& name : names) {
      add((fs::path(directory) / name).string());
    }
  }

  void add_file(const std::string& path, const fs::file_status& status) {
    std::error_code error;
    if (!fs::is_regular_file(status)) {
      refuse(path, "is neither a file nor a directory; only those can be taken");
      return;
    }
    const std::uintmax_t bytes = fs::file_size(path, error);
    if (error) {
      refuse(path, "its size cannot be found: " + error.message());
      return;
    }
    const std::string canonical = fs::canonical(path, error).string();
    InputFile file{path, store::file_key(path), bytes};
    // A link of another name is another file, as a copy would be: the name decides the key.
    if (seen_.emplace(error ? path : canonical, file.key.name).second) {
      list_.files.push_back(std::move(file));
    }
  }

  // Files of one key would overwrite each other in the ledger: the first stays.
  void drop_second_of_key() {
    std::vector<InputFile> distinct;
    for (InputFile& file : list_.files) {
      if (distinct.empty() || distinct.back().key != file.key) {
        distinct.push_back(std::move(file));
      } else if (same_content(distinct.back(), file)) {
        ++list_.copies;
      } else {
        refuse(file.path, "has the name of " + distinct.back().path +
                              " but other content; ingest it in a run of its own if it is to "
                              "replace that file");
      }
    }
    list_.files = std::move(distinct);
  }

  static bool same_content(const InputFile& a, const InputFile& b) {
    try {
      return a.bytes == b.bytes && ingest::md5_of_file(a.path) == ingest::md5_of_file(b.path);
    } catch (const ingest::InputError&) {
      return false;  // the one that cannot be read is named when it is taken, or here
    }
  }

  InputList list_;
  std::set<std::pair<std::string, std::string>> seen_;  // the file itself, and its name here
};

}  // namespace

InputList list_inputs(const std::vector<std::string>& inputs) {
  Lister lister;
  for (const std::string& input : inputs) {
    lister.add(input);
  }
  return lister.take();
}

}  // namespace somatlas::pipeline
