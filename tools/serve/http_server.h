// HTTP/1.1 over libmicrohttpd, for reading alone. Always holds: only GET and HEAD with no body are
// answered, and only where Host names this server; a connection that brings no whole request, or
// does not take its reply, within its time is closed, at once where its client has left; memory and
// connections have a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "tools/serve/reply.h"
#include "tools/serve/request_target.h"

namespace somatlas::serve {

struct ServerSettings {
  std::uint16_t port = 8017;  // 0: any that is free
  bool remote = false;        // listens on every address, not on the loopback one alone
  unsigned threads = 4;
};

/// Bounds of a viewer that few people use at a time. A request's line and headers take part of a
/// connection's memory, and each argument of an address as well: the page sends 50 at most.
inline constexpr unsigned most_connections = 256;
inline constexpr int most_waiting = 512;  // to be accepted; more try again seconds later
inline constexpr std::size_t connection_bytes = 64 << 10;
inline constexpr std::size_t longest_address = 48 << 10;
inline constexpr std::ptrdiff_t most_arguments = 100;
inline constexpr unsigned seconds_a_request = 10;

/// Answers requests of several threads at once. The reader of what it throws on learns no more than
/// that it failed.
using Handler = std::function<Reply(const RequestTarget&)>;
/// Takes the reason, which may name files of this machine; of several threads at once.
using Failed = std::function<void(const std::string& reason)>;

class HttpServer {
 public:
  /// Listens at once. Throws std::runtime_error where it cannot.
  HttpServer(const ServerSettings& settings, Handler handler, Failed failed);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// Returns once asked to stop.
  void serve_until(const std::stop_token& stop);

 private:
  class Daemon;
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace somatlas::serve
