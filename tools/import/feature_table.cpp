#include "tools/import/feature_table.h"

#include <algorithm>
#include <unordered_set>

#include "ingest/mesh_xml.h"
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

namespace {

void add_tree_numbers(std::string_view joined, Feature& feature, const TextFile& table) {
  while (!joined.empty()) {
    const std::string_view number = joined.substr(0, joined.find(';'));
    if (!ingest::is_tree_number(number)) {
      table.refuse(quoted(number) + " is no tree number; they are joined by ;");
    }
    feature.tree_numbers.emplace_back(number);
    joined.remove_prefix(std::min(number.size() + 1, joined.size()));
  }
}

}  // namespace

std::vector<Feature> read_features(const std::string& path) {
  constexpr std::size_t longest_line = 4096;
  std::vector<Feature> features;
  std::unordered_set<store::DescriptorCode> seen;
  TextFile table(path, longest_line, "give one feature a line");
  std::string_view line;
  bool with_uis = false;
  std::size_t trees = 0;  // the column of tree numbers; 0: there is none
  for (bool first = true; table.next(line); first = false) {
    if (first && line.starts_with("ui\tname")) {
      with_uis = true;
      const std::vector<std::string_view> columns = fields_of(line);
      const auto found = std::ranges::find(columns, "tree_numbers");
      trees = found == columns.end() ? 0 : static_cast<std::size_t>(found - columns.begin());
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
      if (trees != 0 && trees < fields.size()) {
        add_tree_numbers(fields[trees], feature, table);
      }
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
