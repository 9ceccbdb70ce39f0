// Reads the three forms of a MeSH table, told apart by the first bytes: "<" is NLM's descriptor
// XML, a tab in the first line the TSV, a semicolon the tree file.
// Always holds: a table is read whole or refused with the line; a descriptor that stands twice, or
// in a tree file a tree number, is a fault, because then one of the two is wrong.
#include "ingest/mesh_table.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_set>
#include <utility>

#include "ingest/byte_source.h"
#include "ingest/input_error.h"
#include "ingest/mesh_xml.h"
#include "ingest/table_lines.h"

namespace somatlas::ingest {
namespace {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// A source whose first bytes have been looked at.
class LookedAtSource final : public ByteSource {
 public:
  explicit LookedAtSource(const std::string& path)
      : source_(open_byte_source(path)), head_(std::size_t{1} << 12U) {
    std::size_t size = 0;
    while (size < head_.size()) {
      const std::size_t got = source_->read(std::span(head_).subspan(size));
      if (got == 0) {
        break;
      }
      size += got;
    }
    head_.resize(size);
  }

  [[nodiscard]] std::string_view head() const {
    return {reinterpret_cast<const char*>(head_.data()), head_.size()};
  }
  [[nodiscard]] std::size_t read(std::span<std::byte> out) override {
    if (taken_ == head_.size()) {
      return source_->read(out);
    }
    const std::size_t size = std::min(out.size(), head_.size() - taken_);
    std::memcpy(out.data(), head_.data() + taken_, size);
    taken_ += size;
    return size;
  }
  [[nodiscard]] const std::string& path() const override { return source_->path(); }
  [[nodiscard]] std::uint64_t file_bytes() const override { return source_->file_bytes(); }
  [[nodiscard]] Md5Hex md5() const override { return source_->md5(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<std::byte> head_;
  std::size_t taken_ = 0;
};

void add_tree_numbers(std::string_view joined, MeshDescriptor& descriptor, const std::string& path,
                      std::uint64_t line) {
  while (!joined.empty()) {
    const std::size_t end = std::min(joined.find(';'), joined.size());
    const std::string_view number = joined.substr(0, end);
    if (!is_tree_number(number)) {
      throw InputError(path, line,
                       "'" + std::string(number.substr(0, 64)) +
                           "' is no tree number; the third column is numbers joined by ;");
    }
    descriptor.tree_numbers.emplace_back(number);
    joined.remove_prefix(std::min(end + 1, joined.size()));
  }
}

MeshFile read_tsv(ByteSource& source) {
  MeshFile file;
  DescriptorUiSet seen;
  TableLines lines(source, "give desc XML, a TSV or an mtrees file");
  std::string line;
  while (lines.next(line)) {
    if (line.empty()) {
      continue;
    }
    if (std::count(line.begin(), line.end(), '\t') != 2) {
      throw InputError(source.path(), lines.number(),
                       "has not three columns (UI, name, tree numbers) parted by tabs");
    }
    const std::size_t first = line.find('\t');
    const std::size_t second = line.rfind('\t');
    const std::string_view ui_text = std::string_view(line).substr(0, first);
    const auto ui = parse_descriptor_ui(ui_text);
    if (!ui && lines.number() == 1 && (ui_text == "ui" || ui_text == "UI")) {
      continue;  // the header
    }
    if (!ui) {
      throw InputError(source.path(), lines.number(),
                       "'" + std::string(ui_text.substr(0, 64)) +
                           "' is no descriptor UI; the first column is D and six or nine digits");
    }
    if (second == first + 1) {
      throw InputError(source.path(), lines.number(),
                       std::string(ui_text) + " has no name; the second column is the name");
    }
    if (!seen.insert(*ui)) {
      throw InputError(source.path(), lines.number(),
                       std::string(ui_text) + " stands here for the second time; remove one");
    }
    MeshDescriptor descriptor{*ui, line.substr(first + 1, second - first - 1), {}, {}};
    add_tree_numbers(std::string_view(line).substr(second + 1), descriptor, source.path(),
                     lines.number());
    file.descriptors.push_back(std::move(descriptor));
  }
  return file;
}

MeshFile read_mtrees(ByteSource& source) {
  MeshFile file;
  std::unordered_set<std::string> seen;
  TableLines lines(source, "give desc XML, a TSV or an mtrees file");
  std::string line;
  while (lines.next(line)) {
    if (line.empty()) {
      continue;
    }
    const std::size_t cut = line.rfind(';');
    if (cut == std::string::npos || cut == 0 ||
        !is_tree_number(std::string_view(line).substr(cut + 1))) {
      throw InputError(source.path(), lines.number(),
                       "is no line of a tree file; each is a name, a semicolon, a tree number");
    }
    MeshTree tree{line.substr(0, cut), line.substr(cut + 1)};
    if (!seen.insert(tree.tree_number).second) {
      throw InputError(source.path(), lines.number(),
                       tree.tree_number + " stands here for the second time; remove one");
    }
    file.trees.push_back(std::move(tree));
  }
  return file;
}

}  // namespace

MeshFile read_mesh_file(const std::string& path) {
  LookedAtSource source(path);
  std::string_view head = source.head();
  if (head.empty()) {
    throw InputError(path, 0, "is empty; fetch it again");
  }
  if (head.substr(0, byte_order_mark.size()) == byte_order_mark) {
    head.remove_prefix(byte_order_mark.size());
  }
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  MeshFile file;
  if (first != std::string_view::npos && head[first] == '<') {
    file.descriptors = read_mesh_xml(source);
  } else {
    const std::string_view line = head.substr(0, head.find('\n'));
    if (line.find('\t') != std::string_view::npos) {
      file = read_tsv(source);
    } else if (line.find(';') != std::string_view::npos) {
      file = read_mtrees(source);
    } else {
      throw InputError(path, 1, "is no MeSH table; give desc XML, a TSV or an mtrees file");
    }
  }
  if (file.descriptors.empty() && file.trees.empty()) {
    throw InputError(path, 0, "is a MeSH table without a descriptor; fetch it again");
  }
  return file;
}

void NameTable::add(std::string name, DescriptorUi ui) {
  by_name_.insert_or_assign(std::move(name), ui);
}

std::optional<DescriptorUi> NameTable::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace somatlas::ingest
