// What the columns of a matrix, or the planes of a codebook, are called.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/descriptor_code.h"

namespace somatlas::imports {

struct Feature {
  std::optional<store::DescriptorCode> code;  // where the table has UIs
  std::string name;
  std::vector<std::string> tree_numbers;  // where it has a column of them
};

/// Different features, at most.
inline constexpr std::size_t most_features = 1'000'000;

/// Those of a file with a name a line, or of a table that begins with the columns ui, name, in its
/// order; tree numbers, with `;` between, from its column tree_numbers. Throws ingest::InputError
/// where one has no name or a UI stands twice.
[[nodiscard]] std::vector<Feature> read_features(const std::string& path);

/// The parts of a line between tabs.
[[nodiscard]] std::vector<std::string_view> fields_of(std::string_view line);

}  // namespace somatlas::imports
