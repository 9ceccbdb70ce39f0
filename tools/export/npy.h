// NumPy's .npy file, written as a stream: version 1.0 header, then the array in C order.
// Always holds: the header is padded so that the data starts at a multiple of 64; finish() accepts
// exactly as many values as the shape says.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tools/export/pending_output.h"

namespace somatlas::exports {

/// The bytes before the data of a uint16 array. Throws OutputFileError where the shape does not fit
/// into a version 1.0 header. Source: NumPy's format description, numpy.lib.format.
[[nodiscard]] std::string npy_header(std::span<const std::uint64_t> shape);

class NpyWriter {
 public:
  NpyWriter(NewFile& file, std::span<const std::uint64_t> shape);
  /// Appends values in C order.
  void append(std::span<const std::uint16_t> values);
  /// Throws std::logic_error where the number of values is not the shape's.
  void finish() const;

 private:
  NewFile& file_;
  std::uint64_t missing_ = 1;
};

}  // namespace somatlas::exports
