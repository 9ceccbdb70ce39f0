// MeSH tables in their three forms, and lists of changes, as one file. Promises: every descriptor
// has a name and a UI of its own, well-formed tree numbers and entry words that differ; every
// refusal names a line.
#include <cstdint>
#include <set>

#include "ingest/mesh_change_file.h"
#include "ingest/mesh_table.h"
#include "ingest/mesh_xml.h"
#include "tests/fuzz/foreign_file.h"

namespace somatlas::fuzz {
namespace {

void check_table(const std::string& path) {
  const ingest::MeshFile table = ingest::read_mesh_file(path);
  expect(table.descriptors.empty() != table.trees.empty(), "a table holds one of the two");
  ingest::DescriptorUiSet uis;
  for (const ingest::MeshDescriptor& descriptor : table.descriptors) {
    expect(!descriptor.name.empty(), "a descriptor has a name");
    expect(uis.insert(descriptor.ui), "a UI stands once");
    for (const std::string& number : descriptor.tree_numbers) {
      expect(ingest::is_tree_number(number), "a tree number is one", number);
    }
    std::set<std::string> words;
    for (const std::string& word : descriptor.entry_words.value_or(std::vector<std::string>())) {
      expect(!word.empty() && word != descriptor.name && words.insert(word).second,
             "an entry word is another name, and stands once", word);
    }
  }
  std::set<std::string> numbers;
  for (const ingest::MeshTree& tree : table.trees) {
    expect(!tree.name.empty() && ingest::is_tree_number(tree.tree_number),
           "a line of a tree file has a name and a tree number");
    expect(numbers.insert(tree.tree_number).second, "a tree number stands once");
  }
}

void check_changes(const std::string& path) {
  ingest::DescriptorUiSet uis;
  for (const ingest::DescriptorChange& change : ingest::read_mesh_change_file(path).changes) {
    expect(uis.insert(change.before), "a descriptor is changed once");
    expect(!change.name_before.empty() && change.name_after.empty() != change.after.has_value(),
           "a descriptor has a name, before and after");
  }
}

}  // namespace
}  // namespace somatlas::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace somatlas;
  const std::string_view bytes = fuzz::text_of(data, size);
  static fuzz::ForeignFile file;
  const std::string& path = file.put(bytes);
  try {
    (bytes.starts_with("change") ? fuzz::check_changes : fuzz::check_table)(path);
  } catch (const ingest::InputError& error) {
    if (!bytes.starts_with("\x1f\x8b")) {
      fuzz::check_refusal(error, path, bytes);
    }
  }
  return 0;
}
