// What the viewer makes of a request line's target and a Host header. Promises: no segment of a
// path leads elsewhere; what was taken apart is taken apart the same when it is put together again.
#include "tools/serve/request_target.h"

#include <cstdint>
#include <string>

#include "tests/fuzz/expect.h"

namespace somatlas::serve {
namespace {

using fuzz::expect;

std::string escaped(const std::string& text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  return out;
}

void check(const RequestTarget& target) {
  std::string again;
  for (const std::string& segment : target.path) {
    expect(!segment.empty() && segment.front() != '.' && segment.back() != '.' &&
               segment.find("..") == std::string::npos &&
               segment.find_first_of(std::string_view("/\\%:\0", 5)) == std::string::npos,
           "a segment names nothing elsewhere");
    again += '/' + segment;
  }
  again += target.path.empty() ? "/?" : "?";
  for (const auto& [name, value] : target.query) {
    expect(value.find('\0') == std::string::npos, "a value holds no NUL byte");
    expect(target.value(name).has_value(), "a name is found");
    again += escaped(name) + '=' + escaped(value) + '&';
  }
  const auto same = parse_target(again);
  expect(same && same->path == target.path && same->query == target.query,
         "a target put together again is the same");
}

}  // namespace
}  // namespace somatlas::serve

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace somatlas::serve;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto target = parse_target(text)) {
    check(*target);
  }
  if (const auto number = parse_number(text)) {
    somatlas::fuzz::expect(parse_number(std::to_string(*number)) == number, "a number is one");
  }
  if (names_this_server(text, 8017, false, "ward")) {
    somatlas::fuzz::expect(text.find("evil") == std::string_view::npos,
                           "no other host is this one");
  }
  return 0;
}
