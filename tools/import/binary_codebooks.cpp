// Codebooks plane by plane in binary: .somw and .npy.
// Always holds: a file's size is checked against its header before any weight is read.
#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <optional>
#include <span>
#include <string_view>

#include "ingest/input_error.h"
#include "tools/import/feature_table.h"
#include "tools/import/map_files.h"
#include "tools/import/text_file.h"
#include "tools/import/weight_value.h"

namespace somatlas::imports {
namespace {

static_assert(std::endian::native == std::endian::little);

class BinaryFile {
 public:
  explicit BinaryFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      refuse("is a folder: name the file in it, as codebook.somw");
    }
    bytes_ = std::filesystem::file_size(path, error);
    if (error || !file_) {
      refuse("cannot be read as a file");
    }
  }
  [[noreturn]] void refuse(const std::string& problem) const {
    throw ingest::InputError(path_, 0, problem);
  }
  template <typename Value, std::size_t extent>
  void read(std::span<Value, extent> values) {
    file_.read(reinterpret_cast<char*>(values.data()),
               static_cast<std::streamsize>(values.size_bytes()));
    if (!file_) {
      refuse("ends in its header, or changed while it was read");
    }
  }
  [[nodiscard]] std::uint64_t left() { return bytes_ - static_cast<std::uint64_t>(file_.tellg()); }

 private:
  std::string path_;
  std::ifstream file_;
  std::uint64_t bytes_ = 0;
};

std::optional<std::uint16_t> stored(std::uint16_t weight) {
  return weight <= gpu::weight_one ? std::optional(weight) : std::nullopt;
}
std::optional<std::uint16_t> stored(double weight) {
  return stored_weight(weight);
}

/// The planes that the rest of the file is.
template <typename Value>
void read_planes(BinaryFile& in, std::uint64_t rows, std::uint64_t columns, std::uint64_t planes,
                 CodebookFile& file) {
  if (const std::string fault = grid_fault(rows, columns); !fault.empty()) {
    in.refuse(fault);
  }
  if (planes == 0 || planes > most_features) {
    in.refuse("a codebook has from 1 to " + std::to_string(most_features) + " planes, not " +
              std::to_string(planes));
  }
  const std::uint64_t wanted = rows * columns * planes * sizeof(Value);
  if (in.left() != wanted) {
    in.refuse("has " + std::to_string(in.left()) + " bytes of weights where its header means " +
              std::to_string(wanted) + "; get it whole");
  }
  file.side = static_cast<std::uint32_t>(rows);
  std::vector<Value> values(rows * columns);
  for (std::uint64_t plane = 0; plane < planes; ++plane) {
    in.read(std::span(values));
    std::vector<std::uint16_t>& weights = file.planes.emplace_back();
    weights.reserve(values.size());
    for (const Value value : values) {
      const auto weight = stored(value);
      if (!weight) {
        in.refuse("plane " + std::to_string(plane) + ", row " +
                  std::to_string(weights.size() / columns) + ", column " +
                  std::to_string(weights.size() % columns) + " (from 0): the weight is " +
                  std::to_string(value) +
                  (sizeof(Value) == 2 ? "; whole weights lie from 0 to 16383"
                                      : "; weights lie from 0 to 1"));
      }
      weights.push_back(*weight);
    }
  }
}

/// What stands behind a key of NumPy's dictionary, up to a comma outside parentheses.
std::string_view entry(std::string_view dictionary, std::string_view key) {
  const std::size_t at = dictionary.find("'" + std::string(key) + "'");
  const std::size_t colon = dictionary.find(':', at);
  if (at == std::string_view::npos || colon == std::string_view::npos) {
    return "";
  }
  std::string_view rest = dictionary.substr(colon + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::size_t end =
      rest.starts_with('(') ? rest.find(')') : std::min(rest.find(','), rest.find('}'));
  return end == std::string_view::npos ? "" : rest.substr(0, end);
}

/// The extents of a shape without its last parenthesis.
std::vector<std::uint64_t> extents(std::string_view shape) {
  std::vector<std::uint64_t> all;
  while (!shape.empty() && all.size() < 4) {
    shape.remove_prefix(1);  // the parenthesis, or a comma
    const std::size_t end = std::min(shape.find(','), shape.size());
    std::string_view words = shape.substr(0, end);
    if (const auto number = number_of<std::uint64_t>(next_word(words))) {
      all.push_back(*number);
    }
    shape.remove_prefix(end);
  }
  return all;
}

}  // namespace

CodebookFile read_somw(const std::string& path) {
  BinaryFile in(path);
  std::array<char, 8> magic{};
  std::array<std::uint32_t, 4> header{};
  in.read(std::span(magic));
  const std::string_view begin(magic.data(), magic.size());
  if (begin != std::string_view("SSOMW1\0\0", 8) && begin != std::string_view("SBSOMW1\0", 8)) {
    in.refuse("does not begin with SSOMW1 or SBSOMW1, so it is no .somw file");
  }
  in.read(std::span(header));
  CodebookFile file;
  read_planes<float>(in, header[0], header[1], header[2], file);
  return file;
}

CodebookFile read_npy(const std::string& path) {
  BinaryFile in(path);
  std::array<char, 8> magic{};
  in.read(std::span(magic));
  const std::string_view begin(magic.data(), magic.size());
  if (!begin.starts_with("\x93NUMPY") || magic[6] < 1 || magic[6] > 3) {
    in.refuse("does not begin as a .npy file of version 1, 2 or 3");
  }
  std::array<std::uint16_t, 2> length{};
  in.read(std::span(length).first(magic[6] == 1 ? 1 : 2));
  constexpr std::size_t longest_header = 65'536;
  const std::size_t size = length[0] | std::size_t{length[1]} << 16;
  if (size > longest_header || size > in.left()) {
    in.refuse("has a header of " + std::to_string(size) + " bytes, longer than the file or 65536");
  }
  std::string dictionary(size, '\0');
  in.read(std::span(dictionary));
  for (const std::string key : {"'descr'", "'fortran_order'", "'shape'"}) {
    const std::size_t first = dictionary.find(key);
    if (first == std::string::npos || dictionary.find(key, first + 1) != std::string::npos) {
      in.refuse("does not say " + key + " once in its header, as numpy.save does");
    }
  }
  const std::string_view type = entry(dictionary, "descr");
  const std::vector<std::uint64_t> shape = extents(entry(dictionary, "shape"));
  if (entry(dictionary, "fortran_order") != "False") {
    in.refuse("is not in C order; write it with numpy.save(file, numpy.ascontiguousarray(planes))");
  }
  if (shape.size() != 3) {
    in.refuse(
        "is no array of the axes plane, row, column; of a codebook W by neurons make it with "
        "W.T.reshape(-1, side, side)");
  }
  CodebookFile file;
  if (type == "'<u2'") {
    read_planes<std::uint16_t>(in, shape[1], shape[2], shape[0], file);
  } else if (type == "'<f4'") {
    read_planes<float>(in, shape[1], shape[2], shape[0], file);
  } else if (type == "'<f8'") {
    read_planes<double>(in, shape[1], shape[2], shape[0], file);
  } else {
    in.refuse("holds values of type " + quoted(type) +
              "; weights are '<f4' or '<f8' from 0 to 1, or '<u2' from 0 to 16383");
  }
  return file;
}

}  // namespace somatlas::imports
