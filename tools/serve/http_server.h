// HTTP/1.1 over libmicrohttpd, for reading alone. Always holds: only GET and HEAD with no body are
// answered, and only where Host names this server; a connection that brings no whole request, or
// does not take its reply, within its time is closed; memory and connections have a bound.
#pragma once

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
/// connection's memory.
inline constexpr unsigned most_connections = 256;
inline constexpr std::size_t connection_bytes = 64 << 10;
inline constexpr unsigned seconds_a_request = 10;

/// Answers requests of several threads at once. What it throws is told to the reader as a failure.
using Handler = std::function<Reply(const RequestTarget&)>;

class HttpServer {
 public:
  /// Listens at once. Throws std::runtime_error where it cannot.
  HttpServer(const ServerSettings& settings, Handler handler);
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
