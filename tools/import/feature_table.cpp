#include "tools/import/feature_table.h"

#include <unordered_set>

#include "tools/import/text_file.h"
#include "tools/lookup/clean_text.h"

namespace somatlas::imports {

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t tab = line.find('\t');
    fields.push_back(line.substr(0, tab));
    if (tab == std::string_view::npos) {
      return fields;
    }
    line.remove_prefix(tab + 1);
  }
}

std::vector<Feature> read_features(const std::string& path) {
  constexpr std::size_t longest_line = 4096;
  std::vector<Feature> features;
  std::unordered_set<store::DescriptorCode> seen;
  TextFile table(path, longest_line, "give one feature a line");
  std::string_view line;
  bool with_uis = false;
  for (bool first = true; table.next(line); first = false) {
    if (first && line.starts_with("ui\tname")) {
      with_uis = true;
      continue;
    }
    if (features.size() == most_features) {
      table.refuse("there are more than " + std::to_string(most_features) + " features");
    }
    Feature& feature = features.emplace_back();
    const std::vector<std::string_view> fields = fields_of(line);
    feature.name = fields[0];
    if (with_uis) {
      feature.code = store::descriptor_code_of(fields[0]);
      if (!feature.code || fields.size() < 2) {
        table.refuse(quoted(fields[0]) + " is no UI of a descriptor with its name");
      }
      if (!seen.insert(*feature.code).second) {
        table.refuse(quoted(fields[0]) + " stands here twice");
      }
      feature.name = fields[1];
    }
    if (feature.name.empty()) {
      table.refuse("the feature has no name");
    }
    if (!lookup::is_clean_utf8(feature.name)) {
      table.refuse("the feature's name is no UTF-8, or holds control characters: convert the file");
    }
  }
  return features;
}

}  // namespace somatlas::imports
