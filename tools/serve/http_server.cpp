// libmicrohttpd's time limit counts from the last byte, so that a byte a second would hold a
// connection for ever: the deadlines here count from the last reply.
#include "tools/serve/http_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace somatlas::serve {
namespace {

using Clock = std::chrono::steady_clock;

/// A request while it is worked on.
struct Request {
  std::string target;
  bool headers_seen = false;
};

constexpr std::array<std::pair<const char*, const char*>, 6> headers_of_all{{
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
     "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
}};

std::string own_host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void close_body(void* body) {
  delete static_cast<std::shared_ptr<const std::string>*>(body);
}

ssize_t read_body(void* body, std::uint64_t at, char* buffer, std::size_t most) {
  const std::string& text = **static_cast<std::shared_ptr<const std::string>*>(body);
  return static_cast<ssize_t>(text.copy(buffer, most, static_cast<std::size_t>(at)));
}

MHD_Result send(MHD_Connection* connection, const Reply& reply) {
  // The reply keeps a share of its body until the last byte is sent.
  auto* body = new std::shared_ptr<const std::string>(reply.body);
  MHD_Response* const response =
      MHD_create_response_from_callback((*body)->size(), 32 << 10, read_body, body, close_body);
  if (response == nullptr) {
    close_body(body);
    return MHD_NO;
  }
  for (const auto& [name, value] : headers_of_all) {
    MHD_add_response_header(response, name, value);
  }
  MHD_add_response_header(response, "Content-Type", reply.type.c_str());
  MHD_add_response_header(response, "Cache-Control",
                          reply.lasting ? "private, max-age=86400" : "no-store");
  if (reply.status == MHD_HTTP_METHOD_NOT_ALLOWED) {
    MHD_add_response_header(response, "Allow", "GET, HEAD");
  }
  const MHD_Result result =
      MHD_queue_response(connection, static_cast<unsigned>(reply.status), response);
  MHD_destroy_response(response);
  return result;
}

MHD_Result take_host(void* hosts, MHD_ValueKind, const char* name, const char* value) {
  if (::strcasecmp(name, "Host") == 0) {
    static_cast<std::vector<std::string>*>(hosts)->emplace_back(value == nullptr ? "" : value);
  }
  return MHD_YES;
}

}  // namespace

class HttpServer::Daemon {
 public:
  Daemon(const ServerSettings& settings, Handler handler)
      : handler_(std::move(handler)), remote_(settings.remote), host_name_(own_host_name()) {
    const int listener = open_listener(settings);
    daemon_ = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD, 0, nullptr, nullptr, &Daemon::answer, this,
        MHD_OPTION_LISTEN_SOCKET, listener, MHD_OPTION_THREAD_POOL_SIZE, settings.threads,
        MHD_OPTION_CONNECTION_LIMIT, most_connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        connection_bytes, MHD_OPTION_CONNECTION_TIMEOUT, seconds_a_request,
        MHD_OPTION_URI_LOG_CALLBACK, &Daemon::begin, this, MHD_OPTION_NOTIFY_COMPLETED,
        &Daemon::end, this, MHD_OPTION_NOTIFY_CONNECTION, &Daemon::connected, this, MHD_OPTION_END);
    if (daemon_ == nullptr) {
      ::close(listener);
      throw std::runtime_error(
          "the server cannot be started: there are too few threads or open "
          "files left (ulimit -u, ulimit -n)");
    }
    watcher_ = std::jthread([this](const std::stop_token& stop) { close_late(stop); });
  }
  ~Daemon() {
    watcher_.request_stop();
    watcher_.join();
    MHD_stop_daemon(daemon_);
  }
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  /// Bound and listening; its port is in port_ before the first request can come.
  int open_listener(const ServerSettings& settings) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(settings.port);
    address.sin_addr.s_addr = htonl(remote_ ? INADDR_ANY : INADDR_LOOPBACK);
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int yes = 1;
    if (listener < 0 || ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(listener, generic, size) != 0 || ::listen(listener, SOMAXCONN) != 0 ||
        ::getsockname(listener, generic, &size) != 0) {
      const int error = errno;
      ::close(listener);
      throw std::runtime_error("port " + std::to_string(settings.port) +
                               " cannot be listened on (" + std::generic_category().message(error) +
                               "): end what uses it, or give another with --port");
    }
    port_ = ntohs(address.sin_port);
    return listener;
  }

  static void* begin(void*, const char* uri, MHD_Connection*) { return new Request{.target = uri}; }

  static void end(void* self, MHD_Connection* connection, void** request,
                  MHD_RequestTerminationCode) {
    delete static_cast<Request*>(*request);
    *request = nullptr;
    static_cast<Daemon*>(self)->set_deadline(connection);
  }

  static void connected(void* self, MHD_Connection* connection, void**,
                        MHD_ConnectionNotificationCode code) {
    auto& daemon = *static_cast<Daemon*>(self);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      daemon.set_deadline(connection);
    } else {
      const std::lock_guard lock(daemon.mutex_);
      daemon.deadlines_.erase(connection);
    }
  }

  static MHD_Result answer(void* self, MHD_Connection* connection, const char*, const char* method,
                           const char*, const char*, std::size_t* upload, void** state) {
    auto& request = *static_cast<Request*>(*state);
    // Before the headers are answered a refusal also refuses the body; a second call comes where
    // there is none.
    try {
      if (const std::optional<Reply> refused =
              static_cast<Daemon*>(self)->refusal(connection, method)) {
        return send(connection, *refused);
      }
      if (!std::exchange(request.headers_seen, true)) {
        return MHD_YES;
      }
      if (*upload != 0) {
        return MHD_NO;
      }
      return send(connection, static_cast<Daemon*>(self)->reply_to(request.target));
    } catch (const std::exception&) {
      return MHD_NO;  // no memory for as much as a reply
    }
  }

  [[nodiscard]] std::optional<Reply> refusal(MHD_Connection* connection,
                                             std::string_view method) const {
    if (method != "GET" && method != "HEAD") {
      return text_reply(405, "only GET and HEAD are answered here");
    }
    const auto has = [connection](const char* name) {
      return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name) != nullptr;
    };
    if (has("Content-Length") || has("Transfer-Encoding")) {
      return text_reply(400, "a request to this server has no body");
    }
    std::vector<std::string> hosts;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, &take_host, &hosts);
    if (hosts.size() != 1) {
      return text_reply(400, "a request names its host once");
    }
    if (!names_this_server(hosts.front(), port(), remote_, host_name_)) {
      return text_reply(421,
                        "this server has another name and port: see what it said when it "
                        "was started");
    }
    return std::nullopt;
  }

  [[nodiscard]] Reply reply_to(const std::string& text) const {
    const std::optional<RequestTarget> target = parse_target(text);
    if (!target) {
      return text_reply(400, "this address cannot be understood");
    }
    try {
      return handler_(*target);
    } catch (const std::exception& error) {
      return text_reply(500, error.what());
    }
  }

  void set_deadline(MHD_Connection* connection) {
    const int socket =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const std::lock_guard lock(mutex_);
    deadlines_[connection] = {socket, Clock::now() + std::chrono::seconds(seconds_a_request)};
  }

  /// A socket stays open while it is listed: connected() takes it out before it is closed.
  void close_late(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, stop, std::chrono::milliseconds(500),
                           [&stop] { return stop.stop_requested(); })) {
      for (const auto& [connection, entry] : deadlines_) {
        if (entry.second < Clock::now()) {
          ::shutdown(entry.first, SHUT_RDWR);
        }
      }
    }
  }

  Handler handler_;
  bool remote_;
  std::string host_name_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<MHD_Connection*, std::pair<int, Clock::time_point>> deadlines_;
  MHD_Daemon* daemon_ = nullptr;
  std::jthread watcher_;
};

HttpServer::HttpServer(const ServerSettings& settings, Handler handler)
    : daemon_(std::make_unique<Daemon>(settings, std::move(handler))) {}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const {
  return daemon_->port();
}

void HttpServer::serve_until(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any asked;
  std::unique_lock lock(mutex);
  asked.wait(lock, stop, [&stop] { return stop.stop_requested(); });
}

}  // namespace somatlas::serve
