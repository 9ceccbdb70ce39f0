// libmicrohttpd's time limit counts from the last byte, so that a byte a second would hold a
// connection for ever: the deadlines here count from the last reply. It also keeps a connection
// whose client left within a request, and one whose arguments do not fit its memory, unanswered
// and without a call of its end: both are ended here.
#include "tools/serve/http_server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
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

/// A connection and the request that it brings, from its start to its end.
struct Client {
  int socket = -1;
  // Both threads': under the server's mutex.
  Clock::time_point deadline;
  bool answering = false;  // a whole request is there
  bool left = false;       // when last looked at
  // Its own thread's alone.
  std::string target;
  const char* target_at = nullptr;  // in libmicrohttpd's memory
  bool headers_seen = false;
  bool refused = false;
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
    auto& found = *static_cast<std::vector<std::string>*>(hosts);
    found.emplace_back(value == nullptr ? "" : value);
    // libmicrohttpd puts a NUL in the place of \r and of \n, and keeps what it knows of the header
    // behind that: another byte shows that the NUL came with the request.
    if (value != nullptr && value[found.back().size() + 1] != '\0') {
      found.back() += '\0';
    }
  }
  return MHD_YES;
}

/// What a request with too long an address gets before libmicrohttpd takes its arguments apart.
void refuse_address(int socket) {
  constexpr std::string_view reply =
      "HTTP/1.1 414 URI Too Long\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
  // Where not even this can be sent the close alone has to do.
  [[maybe_unused]] const ssize_t sent =
      ::send(socket, reply.data(), reply.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  ::shutdown(socket, SHUT_RDWR);
}

}  // namespace

class HttpServer::Daemon {
 public:
  Daemon(const ServerSettings& settings, Handler handler, Failed failed)
      : handler_(std::move(handler)),
        failed_(std::move(failed)),
        remote_(settings.remote),
        host_name_(own_host_name()) {
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
        ::bind(listener, generic, size) != 0 || ::listen(listener, most_waiting) != 0 ||
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

  /// Called with a request's line, before its arguments and headers are taken apart.
  static void* begin(void* self, const char* uri, MHD_Connection* connection) {
    Client& client = static_cast<Daemon*>(self)->client_of(connection);
    client.target = uri;
    client.target_at = uri;
    client.headers_seen = false;
    client.refused = client.target.size() > longest_address ||
                     std::ranges::count(client.target, '&') >= most_arguments;
    if (client.refused) {
      refuse_address(client.socket);
    }
    return &client;
  }

  static void end(void* self, MHD_Connection* connection, void** client,
                  MHD_RequestTerminationCode) {
    *client = nullptr;
    auto& daemon = *static_cast<Daemon*>(self);
    const std::lock_guard lock(daemon.mutex_);
    daemon.await_request(daemon.clients_.at(connection));
  }

  static void connected(void* self, MHD_Connection* connection, void**,
                        MHD_ConnectionNotificationCode code) {
    auto& daemon = *static_cast<Daemon*>(self);
    const std::lock_guard lock(daemon.mutex_);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      Client& client = daemon.clients_[connection];
      client.socket =
          MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
      daemon.await_request(client);
    } else {
      daemon.clients_.erase(connection);
    }
  }

  static MHD_Result answer(void* self, MHD_Connection* connection, const char*, const char* method,
                           const char* version, const char*, std::size_t* upload, void** state) {
    auto& daemon = *static_cast<Daemon*>(self);
    auto& client = *static_cast<Client*>(*state);
    {
      const std::lock_guard lock(daemon.mutex_);
      client.answering = true;
    }
    // Before the headers are answered a refusal also refuses the body; a second call comes where
    // there is none.
    try {
      if (client.refused) {
        return MHD_NO;
      }
      // libmicrohttpd ends each word in its place: one that ends before the next begins held a NUL.
      const std::string_view verb = method;
      if (verb.data() + verb.size() + 1 != client.target_at ||
          client.target_at + client.target.size() + 1 != version) {
        return send(connection, text_reply(400, "a request's line is three words"));
      }
      if (const std::optional<Reply> refused = daemon.refusal(connection, verb)) {
        return send(connection, *refused);
      }
      if (!std::exchange(client.headers_seen, true)) {
        return MHD_YES;
      }
      if (*upload != 0) {
        return MHD_NO;
      }
      return send(connection, daemon.reply_to(client.target));
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
    if (hosts.front().find('\0') != std::string::npos) {
      return text_reply(400, "a host's name has no NUL");
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
      failed_(error.what());
      return text_reply(500,
                        "a part of the atlas cannot be read: the reason is in the window where "
                        "somatlas serve runs");
    }
  }

  Client& client_of(MHD_Connection* connection) {
    const std::lock_guard lock(mutex_);
    return clients_.at(connection);
  }

  static void await_request(Client& client) {
    client.deadline = Clock::now() + std::chrono::seconds(seconds_a_request);
    client.answering = false;
    client.left = false;
  }

  /// Whether the client has closed its side and what it sent holds no whole request: seen twice, as
  /// the last of it may be on its way through libmicrohttpd.
  static bool has_left(Client& client) {
    pollfd state{client.socket, POLLRDHUP, 0};
    int unread = 0;
    const bool left = !client.answering && ::poll(&state, 1, 0) == 1 &&
                      ::ioctl(client.socket, FIONREAD, &unread) == 0 && unread == 0;
    return std::exchange(client.left, left) && left;
  }

  /// A socket stays open while it is listed: connected() takes it out before it is closed.
  void close_late(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, stop, std::chrono::milliseconds(100),
                           [&stop] { return stop.stop_requested(); })) {
      const Clock::time_point now = Clock::now();
      for (auto& [connection, client] : clients_) {
        if (client.deadline < now || has_left(client)) {
          ::shutdown(client.socket, SHUT_RDWR);
        }
      }
    }
  }

  Handler handler_;
  Failed failed_;
  bool remote_;
  std::string host_name_;
  std::uint16_t port_ = 0;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::map<MHD_Connection*, Client> clients_;
  MHD_Daemon* daemon_ = nullptr;
  std::jthread watcher_;
};

HttpServer::HttpServer(const ServerSettings& settings, Handler handler, Failed failed)
    : daemon_(std::make_unique<Daemon>(settings, std::move(handler), std::move(failed))) {}

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
