// NumPy's .npy file, written as a stream: version 1.0 header, then the array in C order.
// Always holds: the header is padded so that the data starts at a multiple of 64; finish() accepts
// exactly as many values as the shape says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/export/pending_output.h"

namespace somatlas::exports {

enum class NpyType : std::uint8_t { uint16, uint32 };

/// The bytes before the data of an array. Throws OutputFileError where the shape does not fit into
/// a version 1.0 header. Source: NumPy's format description, numpy.lib.format.
[[nodiscard]] std::string npy_header(std::span<const std::uint64_t> shape,
                                     NpyType type = NpyType::uint16);

class NpyWriter {
 public:
  NpyWriter(NewFile& file, std::span<const std::uint64_t> shape, NpyType type = NpyType::uint16);
  /// Appends values in C order. Throws std::logic_error where they are not of the array's type.
  void append(std::span<const std::uint16_t> values);
  void append(std::span<const std::uint32_t> values);
  /// Throws std::logic_error where the number of values is not the shape's.
  void finish() const;

 private:
  void append(std::span<const std::byte> bytes, std::size_t values, NpyType type);

  NewFile& file_;
  NpyType type_;
  std::uint64_t missing_ = 1;
};

}  // namespace somatlas::exports
