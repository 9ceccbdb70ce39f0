// What a request asks for, taken apart strictly. Always holds: a path has plain segments only
// (letters, digits, '-', '_' and a '.' between two of them), so it cannot name a file elsewhere;
// values are valid UTF-8 with no control character but tabs and line ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace somatlas::serve {

struct RequestTarget {
  std::vector<std::string> path;                           // segments; none: "/"
  std::vector<std::pair<std::string, std::string>> query;  // in order

  /// The first of the name; nothing where there is none.
  [[nodiscard]] std::optional<std::string_view> value(std::string_view name) const;
};

/// Of the text between method and protocol of a request line; nothing where it is not as above.
[[nodiscard]] std::optional<RequestTarget> parse_target(std::string_view text);

/// A number in decimal digits alone; nothing where it is none or greater than most.
[[nodiscard]] std::optional<std::uint32_t> parse_number(std::string_view text,
                                                        std::uint32_t most = 0xFFFF'FFFF);

/// Whether a Host header names this server, so that no page of another name reaches it through a
/// name that was made to point here (DNS rebinding). port: what the server listens on. Without
/// remote: 127.0.0.1, [::1] or localhost. With it also any numeric address and host_name.
[[nodiscard]] bool names_this_server(std::string_view host, std::uint16_t port, bool remote,
                                     std::string_view host_name);

}  // namespace somatlas::serve
