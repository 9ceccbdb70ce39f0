// A weight of another program as a map stores it.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "gpu/contract.h"
#include "tools/import/map_files.h"
#include "tools/import/text_file.h"

namespace somatlas::imports {

/// 16383 * weight, rounded half up; nothing where the weight does not lie from 0 to 1.
[[nodiscard]] inline std::optional<std::uint16_t> stored_weight(double weight) {
  if (!(weight >= 0 && weight <= 1)) {
    return std::nullopt;
  }
  return static_cast<std::uint16_t>(std::floor(weight * gpu::weight_one + 0.5));
}

/// The number that all of a word is; what is too small for a double is 0, or as near as there is.
[[nodiscard]] inline std::optional<double> weight_of(std::string_view word) {
  if (word.starts_with('+')) {
    word.remove_prefix(1);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || end != word.data() + word.size()) {
    return std::nullopt;
  }
  return error == std::errc::result_out_of_range ? std::strtod(std::string(word).c_str(), nullptr)
                                                 : number;
}

/// Appends the weight that a word is to its plane, the file's last or the next. Refuses what does
/// not lie from 0 to 1, and a line that ends before it.
inline void take_weight(const TextFile& text, std::string_view word, std::size_t plane,
                        CodebookFile& file) {
  const auto number = weight_of(word);
  const auto stored = number ? stored_weight(*number) : std::nullopt;
  if (!stored) {
    text.refuse(word.empty()
                    ? "the line ends before weight " + std::to_string(plane + 1) + " of the neuron"
                    : "weight " + std::to_string(plane + 1) + " of the neuron is " + quoted(word) +
                          "; weights lie from 0 to 1");
  }
  if (file.planes.size() == plane) {
    file.planes.emplace_back();
  }
  file.planes[plane].push_back(*stored);
}

/// Why such a grid is no map of somatlas; empty where it is one.
[[nodiscard]] inline std::string grid_fault(std::uint64_t rows, std::uint64_t columns) {
  if (rows != columns) {
    return "the map has " + std::to_string(rows) + " rows of " + std::to_string(columns) +
           " cells; maps here are square";
  }
  return rows == 0 || rows > largest_side
             ? "a side of " + std::to_string(rows) + " makes no map: it is between 1 and " +
                   std::to_string(largest_side)
             : "";
}

}  // namespace somatlas::imports
