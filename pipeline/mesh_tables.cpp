// Joining tables by UI and trees by name.
#include "pipeline/mesh_tables.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string_view>

namespace somatlas::pipeline {

namespace {

/// What of them the store does not have so.
std::vector<store::EntryWords> changed_words(
    store::Store& store, std::map<store::DescriptorCode, std::vector<std::string>> words) {
  if (words.empty()) {
    return {};
  }
  std::vector<store::EntryWords> changed;
  const std::vector<store::EntryWords> known = store.entry_words_as_filed();
  for (auto& [code, of_one] : words) {
    const auto entry = std::ranges::lower_bound(known, code, {}, &store::EntryWords::code);
    const bool has_some = entry != known.end() && entry->code == code;
    if (has_some ? entry->words != of_one : !of_one.empty()) {
      changed.push_back({code, std::move(of_one)});
    }
  }
  return changed;
}

void store_descriptors(store::Store* store, const std::vector<ingest::MeshFile>& tables,
                       bool dry_run, MeshCounts& counts) {
  std::map<store::DescriptorCode, store::DescriptorEntry> entries;
  std::map<store::DescriptorCode, std::vector<std::string>> words;
  for (const ingest::MeshFile& table : tables) {
    for (const ingest::MeshDescriptor& descriptor : table.descriptors) {
      const auto code = store::descriptor_code(descriptor.ui.number, descriptor.ui.digits);
      entries[code] = {code, descriptor.name, descriptor.tree_numbers};
      if (descriptor.entry_words) {
        words[code] = *descriptor.entry_words;
      }
    }
  }
  counts.descriptors = counts.added = entries.size();
  for (const auto& [code, of_one] : words) {
    counts.entry_words += of_one.size();
  }
  std::vector<store::DescriptorEntry> table;
  if (store != nullptr) {
    table = store->descriptors_as_filed();
  }
  for (const store::DescriptorEntry& known : table) {
    const auto entry = entries.find(known.code);
    if (entry == entries.end()) {
      continue;
    }
    --counts.added;
    if (entry->second.name != known.name) {
      ++counts.renamed;
    } else if (entry->second.tree_numbers != known.tree_numbers) {
      ++counts.moved;
    } else {
      ++counts.unchanged;
      entries.erase(entry);
    }
  }
  if (dry_run) {
    return;
  }
  const std::vector<store::EntryWords> changed = changed_words(*store, std::move(words));
  if (entries.empty() && changed.empty()) {
    return;
  }
  std::vector<store::DescriptorEntry> list;
  list.reserve(entries.size());
  for (auto& [code, entry] : entries) {
    list.push_back(std::move(entry));
  }
  store->put_descriptors(list, changed);
}

void store_trees(store::Store& store, const std::vector<ingest::MeshFile>& tables,
                 MeshCounts& counts) {
  std::map<std::string_view, std::vector<std::string_view>> trees;
  for (const ingest::MeshFile& table : tables) {
    for (const ingest::MeshTree& tree : table.trees) {
      trees[tree.name].push_back(tree.tree_number);
    }
  }
  counts.tree_names = trees.size();
  if (trees.empty()) {
    return;
  }
  std::vector<store::DescriptorEntry> changed;
  std::set<std::string_view> known;
  for (store::DescriptorEntry& entry : store.descriptors_as_filed()) {
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

MeshCounts store_mesh_tables(store::Store* store, const std::vector<ingest::MeshFile>& tables,
                             bool dry_run) {
  MeshCounts counts;
  store_descriptors(store, tables, dry_run, counts);
  if (!dry_run) {
    store_trees(*store, tables, counts);
  }
  return counts;
}

ingest::NameTable name_table(store::Store& store) {
  ingest::NameTable names;
  const auto add = [&names](std::string name, store::DescriptorCode code) {
    if (!name.empty()) {
      names.add(std::move(name), {store::descriptor_number(code),
                                  static_cast<std::uint8_t>(store::descriptor_digits(code))});
    }
  };
  // A name that is added later counts.
  const std::shared_ptr<const store::MeshView> view = store.mesh_view();
  for (const store::MeshChangeList& list : view->lists()) {
    for (const store::MeshChange& change : list.changes) {
      add(change.new_name, change.to);
    }
    for (const store::MeshChange& change : list.changes) {
      add(change.old_name, change.from);
    }
  }
  std::vector<store::DescriptorEntry> table = store.descriptors_as_filed();
  std::stable_partition(table.begin(), table.end(), [&view](const store::DescriptorEntry& entry) {
    return view->current(entry.code) != entry.code;
  });
  for (store::DescriptorEntry& entry : table) {
    add(std::move(entry.name), entry.code);
  }
  return names;
}

}  // namespace somatlas::pipeline
