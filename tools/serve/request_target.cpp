// Nothing of a path is decoded: no address of this server needs an escape.
#include "tools/serve/request_target.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include "tools/lookup/clean_text.h"

namespace somatlas::serve {
namespace {

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_plain_segment(std::string_view segment) {
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    const bool point_between = c == '.' && i > 0 && i + 1 < segment.size() &&
                               segment[i - 1] != '.' && segment[i + 1] != '.';
    if (!is_alphanumeric(c) && c != '-' && c != '_' && !point_between) {
      return false;
    }
  }
  return !segment.empty();
}

int hexadecimal(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                : -1;
}

std::optional<std::string> decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size()) {
      return std::nullopt;
    }
    const int high = hexadecimal(text[i + 1]);
    const int low = hexadecimal(text[i + 2]);
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    out += static_cast<char>(16 * high + low);
    i += 2;
  }
  return lookup::is_clean_utf8(out) ? std::optional(out) : std::nullopt;
}

bool is_numeric_address(std::string_view name) {
  const bool six = name.size() > 2 && name.front() == '[' && name.back() == ']';
  return six || (!name.empty() && name.find_first_not_of("0123456789.") == std::string_view::npos);
}

}  // namespace

std::optional<std::string_view> RequestTarget::value(std::string_view name) const {
  const auto found = std::ranges::find(query, name, &std::pair<std::string, std::string>::first);
  return found == query.end() ? std::nullopt : std::optional<std::string_view>(found->second);
}

std::optional<RequestTarget> parse_target(std::string_view text) {
  const std::size_t mark = std::min(text.find('?'), text.size());
  std::string_view path = text.substr(0, mark);
  if (!path.starts_with('/')) {
    return std::nullopt;
  }
  RequestTarget target;
  path.remove_prefix(1);
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (!is_plain_segment(path.substr(0, end)) || end + 1 == path.size()) {
      return std::nullopt;
    }
    target.path.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  std::string_view query = text.substr(std::min(mark + 1, text.size()));
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = decoded(pair.substr(0, equals));
    const auto value = decoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) {
      return std::nullopt;
    }
    target.query.emplace_back(*name, *value);
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return target;
}

std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t most) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size() && number <= most;
  return whole ? std::optional(number) : std::nullopt;
}

bool names_this_server(std::string_view host, std::uint16_t port, bool remote,
                       std::string_view host_name) {
  const std::size_t bracket = host.find(']');
  const std::size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
  if (colon == std::string_view::npos ? port != 80
                                      : host.substr(colon + 1) != std::to_string(port)) {
    return false;
  }
  std::string name(host.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return name == "127.0.0.1" || name == "[::1]" || name == "localhost" ||
         (remote && (is_numeric_address(name) || (!name.empty() && name == host_name)));
}

}  // namespace somatlas::serve
