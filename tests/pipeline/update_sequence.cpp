#include "tests/pipeline/update_sequence.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

#include "ingest/byte_source.h"

namespace somatlas::plain {

const std::vector<std::string>& all_events() {
  static const std::vector<std::string> events{"revised to fewer descriptors",
                                               "revised to none",
                                               "deleted",
                                               "brought back",
                                               "given twice",
                                               "a copy given too",
                                               "changed since it was taken",
                                               "several versions",
                                               "taken after a later file",
                                               "nothing new"};
  return events;
}

UpdateSequence::UpdateSequence(std::mt19937_64& random, std::string folder, Events& events)
    : random_(random), folder_(std::move(folder)), events_(events) {
  std::filesystem::create_directory(folder_ + "/copies");
}

void UpdateSequence::write(const File& file, const std::string& text) {
  const std::string path = folder_ + "/" + file_name(file);
  std::ofstream(path, std::ios::binary) << text;
  std::filesystem::remove(path + ".md5");
  if (chance(3)) {
    std::ofstream(path + ".md5") << "MD5(" << file_name(file) << ")= " << ingest::md5_of_file(path)
                                 << "\n";
  }
}

void UpdateSequence::take(const File& file) {
  std::map<std::uint32_t, std::set<std::uint16_t>> versions;
  for (const Record& record : file.records) {
    versions[record.pmid].insert(record.version);
  }
  events_["several versions"] += static_cast<int>(std::ranges::count_if(
      versions, [](const auto& of_pmid) { return of_pmid.second.size() > 1; }));
  const Model before = model_;
  add_to_model(model_, file);
  for (const auto& [pmid, was] : before) {
    const Record& old_record = was.record;
    const Record& new_record = model_.at(pmid).record;
    const std::size_t had = old_record.descriptors.size();
    const std::size_t has = new_record.descriptors.size();
    ++events_[had == 0 && has > 0 && old_record.deletion ? "brought back"
              : had > 0 && new_record.deletion           ? "deleted"
              : had > 0 && has == 0                      ? "revised to none"
              : has < had                                ? "revised to fewer descriptors"
                                                         : "other"];
  }
}

std::vector<std::string> UpdateSequence::next_call() {
  std::map<std::uint32_t, std::string> given;  // number to text
  std::vector<std::string> paths;
  for (std::size_t count = 1 + random_() % 4; count > 0; --count) {
    const auto number = static_cast<std::uint32_t>(1 + random_() % 6);
    if (!given.contains(number) && (!files_.contains(number) || chance(4))) {
      files_[number] = random_file(random_, number);
      write(files_[number], xml_of(files_[number]));
    }
    const File& file = files_.at(number);
    const std::string path = folder_ + "/" + file_name(file);
    events_["given twice"] += given.contains(number) ? 1 : 0;
    given[number] = xml_of(file);
    paths.push_back(path);
    if (chance(6)) {
      const std::string copy = folder_ + "/copies/" + file_name(file);
      std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
      paths.push_back(copy);
      ++events_["a copy given too"];
    }
  }
  std::ranges::shuffle(paths, random_);
  bool anything = false;
  for (const auto& [number, text] : given) {
    const auto known = taken_.find(number);
    if (known != taken_.end() && known->second == text) {
      continue;
    }
    events_["changed since it was taken"] += known != taken_.end() ? 1 : 0;
    events_["taken after a later file"] +=
        !taken_.empty() && taken_.rbegin()->first > number ? 1 : 0;
    taken_[number] = text;
    take(files_.at(number));
    anything = true;
  }
  events_["nothing new"] += anything ? 0 : 1;
  return paths;
}

}  // namespace somatlas::plain
