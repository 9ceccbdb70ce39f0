// Reads a file's key out of its name.
// Always holds: the key depends on the name alone, never on the folder or the content.
#include "store/file_key.h"

#include <algorithm>

namespace somatlas::store {
namespace {

constexpr std::size_t digits_limit = 18;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// The number in text's leading digits, of which those past 18 are cut off at the front.
std::uint64_t number_of(std::string_view digits) {
  if (digits.size() > digits_limit)
    digits.remove_prefix(digits.size() - digits_limit);
  std::uint64_t number = 0;
  for (const char c : digits)
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
  return number;
}

/// The name without .gz and without one further extension.
std::string_view stem_of(std::string_view name) {
  if (name.ends_with(".gz"))
    name.remove_suffix(3);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? name : name.substr(0, dot);
}

}  // namespace

FileKey file_key(std::string_view path) {
  while (path.size() > 1 && path.back() == '/')
    path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  const std::string_view name =
      slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
  const std::string_view stem = stem_of(name);

  constexpr std::string_view prefix = "pubmed";
  if (stem.starts_with(prefix) && stem.size() > prefix.size() + 3 && stem[8] == 'n' &&
      is_digit(stem[6]) && is_digit(stem[7])) {
    const std::string_view digits = stem.substr(9);
    if (std::all_of(digits.begin(), digits.end(), is_digit))
      return {static_cast<std::uint32_t>(number_of(stem.substr(6, 2))), number_of(digits),
              std::string(name)};
  }
  std::size_t end = stem.size();
  while (end > 0 && !is_digit(stem[end - 1]))
    --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(stem[begin - 1]))
    --begin;
  return {0, number_of(stem.substr(begin, end - begin)), std::string(name)};
}

}  // namespace somatlas::store
