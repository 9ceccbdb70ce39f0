// Reading a list of changed descriptors, line by line.
#include "ingest/mesh_change_file.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "ingest/input_error.h"
#include "ingest/mesh_xml.h"
#include "ingest/table_lines.h"

namespace somatlas::ingest {
namespace {

constexpr const char* form =
    "a list of changes has the columns change, ui_YYYY, name_YYYY, ui_YYYY, name_YYYY, with the "
    "year before and the year after";

using Columns = std::array<std::string_view, 5>;

std::optional<Columns> columns_of(std::string_view line) {
  Columns columns;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t end = line.find('\t');
    if ((end == std::string_view::npos) != (i + 1 == columns.size())) {
      return std::nullopt;
    }
    columns[i] = line.substr(0, end);
    line.remove_prefix(std::min(columns[i].size() + 1, line.size()));
  }
  return columns;
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text.substr(0, 64)) + "'";
}

bool is_header(const Columns& columns) {
  return columns[0] == "change" && columns[1].starts_with("ui") && columns[2].starts_with("name") &&
         columns[3].starts_with("ui") && columns[4].starts_with("name");
}

class ChangeLine {
 public:
  ChangeLine(const std::string& path, std::uint64_t number, const Columns& columns)
      : path_(path), number_(number), columns_(columns) {}

  [[nodiscard]] DescriptorChange read() const {
    DescriptorChange change;
    change.line = number_;
    change.before = ui(1);
    change.name_before = name(2);
    const std::string_view kind = columns_[0];
    if (kind == "removed") {
      if (!columns_[3].empty() || !columns_[4].empty()) {
        fail("removes " + std::string(columns_[1]) +
             ", but names what comes after it; leave the last two columns empty, or write merged");
      }
      return change;
    }
    if (kind != "renamed" && kind != "merged") {
      fail(quoted(kind) + " is no kind of change; the kinds are renamed, merged and removed");
    }
    change.after = ui(3);
    change.name_after = name(4);
    if (kind == "renamed" && *change.after != change.before) {
      fail(
          "gives a renamed descriptor another UI; write merged where its articles have another "
          "descriptor now");
    }
    if (kind == "merged" && *change.after == change.before) {
      fail("merges " + std::string(columns_[1]) + " into itself; write renamed");
    }
    return change;
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw InputError(path_, number_, problem);
  }
  [[nodiscard]] DescriptorUi ui(std::size_t column) const {
    const auto read = parse_descriptor_ui(columns_[column]);
    if (!read) {
      fail(quoted(columns_[column]) + " is no descriptor UI; one is D and six or nine digits");
    }
    return *read;
  }
  [[nodiscard]] std::string name(std::size_t column) const {
    if (columns_[column].empty()) {
      fail(std::string(columns_[column - 1]) + " has no name; it stands behind the UI");
    }
    return std::string(columns_[column]);
  }

  const std::string& path_;
  std::uint64_t number_;
  const Columns& columns_;
};

}  // namespace

MeshChangeFile read_mesh_change_file(const std::string& path) {
  const std::unique_ptr<ByteSource> source = open_byte_source(path);
  MeshChangeFile file;
  file.path = path;
  DescriptorUiSet seen;
  TableLines lines(*source, form);
  std::string line;
  bool header = false;
  while (lines.next(line)) {
    if (line.empty()) {
      continue;
    }
    const auto columns = columns_of(line);
    if (!columns || (!header && !is_header(*columns))) {
      throw InputError(path, lines.number(),
                       std::string(header ? "has not five columns parted by tabs; "
                                          : "is no header of a list of changes; ") +
                           form);
    }
    if (!std::exchange(header, true)) {
      continue;
    }
    DescriptorChange change = ChangeLine(path, lines.number(), *columns).read();
    if (!seen.insert(change.before)) {
      throw InputError(path, lines.number(),
                       std::string((*columns)[1]) + " stands here for the second time; remove one");
    }
    file.changes.push_back(std::move(change));
  }
  if (file.changes.empty()) {
    throw InputError(path, 0, "is a list without a change; " + std::string(form));
  }
  file.md5 = source->md5();
  return file;
}

}  // namespace somatlas::ingest
