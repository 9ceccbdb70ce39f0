// Header and values of a .npy file.
// Always holds: little-endian, as this machine's memory is.
#include "tools/export/npy.h"

#include <bit>
#include <limits>
#include <stdexcept>

namespace somatlas::exports {

// '<u2' and '<u4' below are what this machine's memory holds.
static_assert(std::endian::native == std::endian::little);

std::string npy_header(std::span<const std::uint64_t> shape, NpyType type) {
  std::string dictionary = std::string("{'descr': '") + (type == NpyType::uint16 ? "<u2" : "<u4") +
                           "', 'fortran_order': False, 'shape': (";
  for (const std::uint64_t extent : shape) {
    dictionary += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
  }
  if (shape.size() > 1) {
    dictionary.resize(dictionary.size() - 2);
  }
  dictionary += "), }";
  constexpr std::size_t before = 10;  // magic, version, length
  while ((before + dictionary.size() + 1) % 64 != 0) {
    dictionary += ' ';
  }
  dictionary += '\n';
  if (dictionary.size() > std::numeric_limits<std::uint16_t>::max()) {
    throw OutputFileError("an array of " + std::to_string(shape.size()) +
                          " axes does not fit into a .npy header");
  }
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

NpyWriter::NpyWriter(NewFile& file, std::span<const std::uint64_t> shape, NpyType type)
    : file_(file), type_(type) {
  for (const std::uint64_t extent : shape) {
    missing_ *= extent;
  }
  file_.write(npy_header(shape, type));
}

void NpyWriter::append(std::span<const std::uint16_t> values) {
  append(std::as_bytes(values), values.size(), NpyType::uint16);
}

void NpyWriter::append(std::span<const std::uint32_t> values) {
  append(std::as_bytes(values), values.size(), NpyType::uint32);
}

void NpyWriter::append(std::span<const std::byte> bytes, std::size_t values, NpyType type) {
  if (type != type_) {
    throw std::logic_error(file_.shown() + ": values of another type than its own");
  }
  if (values > missing_) {
    throw std::logic_error(file_.shown() + ": more values than its shape has");
  }
  missing_ -= values;
  file_.write(bytes);
}

void NpyWriter::finish() const {
  if (missing_ != 0) {
    throw std::logic_error(file_.shown() + ": " + std::to_string(missing_) +
                           " values fewer than its shape has");
  }
}

}  // namespace somatlas::exports
