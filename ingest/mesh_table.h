// The MeSH descriptor table as NLM and others publish it: UI, name, tree numbers, entry words.
// Three forms are read: descYYYY.xml (plain or gzip), the TSV "ui name tree_numbers", and
// mtreesYYYY.bin, which has names and tree numbers only. Entry words are in the first alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingest/citation.h"

namespace somatlas::ingest {

struct MeshDescriptor {
  DescriptorUi ui;
  std::string name;
  std::vector<std::string> tree_numbers;
  /// Its other names, as the table orders them, each once without regard to case, permuted ones
  /// left out; nothing where the table says nothing of them.
  std::optional<std::vector<std::string>> entry_words;
};

struct MeshTree {
  std::string name;
  std::string tree_number;
};

/// What a file held: descriptors, or (mtrees) tree numbers by name. One of the two is empty.
struct MeshFile {
  std::vector<MeshDescriptor> descriptors;
  std::vector<MeshTree> trees;
};

/// Reads a table, its form told by its content. Throws InputError with the line.
[[nodiscard]] MeshFile read_mesh_file(const std::string& path);

/// Descriptor names to UIs, for headings that carry no UI. Names are compared exactly.
class NameTable {
 public:
  void add(std::string name, DescriptorUi ui);
  [[nodiscard]] std::optional<DescriptorUi> find(std::string_view name) const;
  [[nodiscard]] std::size_t size() const { return by_name_.size(); }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, DescriptorUi, Hash, std::equal_to<>> by_name_;
};

}  // namespace somatlas::ingest
