// Joining tables by UI and trees by name.
#include "pipeline/mesh_tables.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace somatlas::pipeline {

namespace {

void store_descriptors(store::Store& store, const std::vector<ingest::MeshFile>& tables,
                       MeshCounts& counts) {
  std::map<store::DescriptorCode, store::DescriptorEntry> entries;
  for (const ingest::MeshFile& table : tables) {
    counts.descriptors += table.descriptors.size();
    for (const ingest::MeshDescriptor& descriptor : table.descriptors) {
      const auto code = store::descriptor_code(descriptor.ui.number, descriptor.ui.digits);
      entries[code] = {code, descriptor.name, descriptor.tree_numbers};
    }
  }
  if (entries.empty()) {
    return;
  }
  std::vector<store::DescriptorEntry> list;
  list.reserve(entries.size());
  for (auto& [code, entry] : entries) {
    list.push_back(std::move(entry));
  }
  store.put_descriptors(list);
}

void store_trees(store::Store& store, const std::vector<ingest::MeshFile>& tables,
                 MeshCounts& counts) {
  std::map<std::string_view, std::vector<std::string_view>> trees;
  for (const ingest::MeshFile& table : tables) {
    for (const ingest::MeshTree& tree : table.trees) {
      trees[tree.name].push_back(tree.tree_number);
    }
  }
  if (trees.empty()) {
    return;
  }
  std::vector<store::DescriptorEntry> changed;
  std::set<std::string_view> known;
  for (store::DescriptorEntry& entry : store.descriptors()) {
    const auto found = trees.find(entry.name);
    if (found == trees.end()) {
      continue;
    }
    known.insert(found->first);
    const std::size_t before = entry.tree_numbers.size();
    for (const std::string_view number : found->second) {
      if (std::ranges::find(entry.tree_numbers, number) == entry.tree_numbers.end()) {
        entry.tree_numbers.emplace_back(number);
      }
    }
    if (entry.tree_numbers.size() != before) {
      counts.tree_numbers += entry.tree_numbers.size() - before;
      std::ranges::sort(entry.tree_numbers);
      changed.push_back(std::move(entry));
    }
  }
  counts.unknown_names = trees.size() - known.size();
  if (!changed.empty()) {
    store.put_descriptors(changed);
  }
}

}  // namespace

std::vector<ingest::MeshFile> read_mesh_tables(const std::vector<std::string>& paths) {
  std::vector<ingest::MeshFile> tables;
  tables.reserve(paths.size());
  for (const std::string& path : paths) {
    tables.push_back(ingest::read_mesh_file(path));
  }
  return tables;
}

MeshCounts store_mesh_tables(store::Store& store, const std::vector<ingest::MeshFile>& tables) {
  MeshCounts counts;
  store_descriptors(store, tables, counts);
  store_trees(store, tables, counts);
  return counts;
}

ingest::NameTable name_table(store::Store& store) {
  ingest::NameTable names;
  for (store::DescriptorEntry& entry : store.descriptors()) {
    names.add(std::move(entry.name),
              {store::descriptor_number(entry.code),
               static_cast<std::uint8_t>(store::descriptor_digits(entry.code))});
  }
  return names;
}

}  // namespace somatlas::pipeline
