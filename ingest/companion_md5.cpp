// Reads the checksum file beside a download: NLM's "MD5(name)= sum", the BSD tools'
// "MD5 (name) = sum", md5sum's "sum  name" and a bare sum.
// Always holds: a companion that is there and cannot be understood is an error, never "no check".
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "ingest/byte_source.h"
#include "ingest/input_error.h"
#include "ingest/raw_file.h"

namespace somatlas::ingest {
namespace {

constexpr std::size_t companion_bytes = 1U << 20U;

struct SumLine {
  Md5Hex sum;
  std::string name;  // without its folder; empty where the line has only a sum
};

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n\v\f";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

/// The 32 hexadecimal digits that text is, in lower case.
std::optional<Md5Hex> as_sum(std::string_view text) {
  if (text.size() != 32 || !std::all_of(text.begin(), text.end(),
                                        [](unsigned char c) { return std::isxdigit(c) != 0; })) {
    return std::nullopt;
  }
  Md5Hex sum(text);
  std::transform(sum.begin(), sum.end(), sum.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return sum;
}

std::optional<SumLine> read_line(std::string_view line) {
  if (line.substr(0, 3) == "MD5") {
    const std::size_t open = line.find('(');
    const std::size_t close = line.rfind(')');
    const std::size_t equals = line.rfind('=');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
        equals == std::string_view::npos || equals < close ||
        !trimmed(line.substr(3, open - 3)).empty() ||
        !trimmed(line.substr(close + 1, equals - close - 1)).empty()) {
      return std::nullopt;
    }
    const auto sum = as_sum(trimmed(line.substr(equals + 1)));
    if (!sum) {
      return std::nullopt;
    }
    return SumLine{*sum, std::string(base_name(line.substr(open + 1, close - open - 1)))};
  }
  const auto sum = as_sum(line.substr(0, 32));
  if (!sum) {
    return std::nullopt;
  }
  std::string_view rest = line.substr(32);
  if (!rest.empty() && rest[0] != ' ' && rest[0] != '\t') {
    return std::nullopt;
  }
  rest = trimmed(rest);
  if (!rest.empty() && rest[0] == '*') {  // md5sum's mark for binary mode
    rest.remove_prefix(1);
  }
  return SumLine{*sum, std::string(base_name(rest))};
}

}  // namespace

Md5Hex companion_md5(const std::string& path) {
  const std::string companion = path + ".md5";
  struct stat status {};
  if (::stat(companion.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) {
      return {};
    }
  } else if (!S_ISREG(status.st_mode)) {
    throw InputError(companion, 0,
                     "is no regular file; replace or remove it");  // a pipe would wait
  }
  RawFile file(companion);
  std::vector<std::byte> bytes(companion_bytes);
  bytes.resize(file.read(bytes));
  if (bytes.size() == companion_bytes) {
    throw InputError(companion, 0, "is too long for a checksum file; replace or remove it");
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());

  std::vector<SumLine> sums;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (auto line = read_line(trimmed(text.substr(begin, end - begin)))) {
      sums.push_back(std::move(*line));
    }
    begin = end + 1;
  }
  const auto named = std::find_if(
      sums.begin(), sums.end(), [&](const SumLine& line) { return line.name == base_name(path); });
  if (named != sums.end()) {
    return named->sum;
  }
  // A single sum is this file's even under another name: downloads get renamed.
  if (sums.size() == 1) {
    return sums.front().sum;
  }
  throw InputError(
      companion, 0,
      sums.empty() ? "holds no MD5 sum; replace or remove it"
                   : "names no sum for " + std::string(base_name(path)) + "; replace or remove it");
}

}  // namespace somatlas::ingest
