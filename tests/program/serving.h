// A somatlas serve that runs for a test, and requests to it over real sockets.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/formats/small_atlas.h"
#include "tests/program/running_program.h"

namespace somatlas::program_test {

class Socket {
 public:
  explicit Socket(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      ::close(socket_);
      throw std::runtime_error("the server cannot be reached");
    }
  }
  ~Socket() { ::close(socket_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  /// Whether all of it could be sent.
  bool send(const std::string& text) const {
    std::size_t sent = 0;
    while (sent < text.size()) {
      const ssize_t count = ::send(socket_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) {
        return false;
      }
      sent += static_cast<std::size_t>(count);
    }
    return true;
  }
  /// Sends no more, but reads.
  void end() const { ::shutdown(socket_, SHUT_WR); }
  /// Until the other side closes; throws after half a minute of silence.
  [[nodiscard]] std::string read_all() const {
    std::string text;
    for (;;) {
      pollfd readable{socket_, POLLIN, 0};
      if (::poll(&readable, 1, 30'000) <= 0) {
        throw std::runtime_error("the server keeps the connection");
      }
      std::array<char, 1 << 14> bytes{};
      const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), 0);
      if (count <= 0) {
        return text;
      }
      text.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int socket_;
};

struct Answer {
  int status = 0;
  std::string head;
  std::string body;
};

class Serve : public ::testing::Test {
 protected:
  void SetUp() override { start({}); }

  void start(const std::vector<std::string>& more) {
    if (!std::filesystem::exists(scratch_ / "atlas")) {
      make_atlas(scratch_ / "atlas");
    }
    std::vector<std::string> arguments{"serve", "--atlas", scratch_ / "atlas", "--port", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    server_ = std::make_unique<RunningProgram>(arguments);
    ASSERT_TRUE(server_->wait_for_error_text("Ctrl-C")) << server_->error_text();
    const std::string& said = server_->error_text();
    const std::string before = "127.0.0.1:";
    port_ = std::stoi(said.substr(said.find(before) + before.size()));
  }
  virtual void make_atlas(const std::string& directory) {
    exports::SmallAtlas().make_atlas(directory, "id", "state");
  }

  [[nodiscard]] std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] Answer raw(const std::string& request) const {
    const Socket socket(port_);
    socket.send(request);
    const std::string text = socket.read_all();
    const std::size_t end = text.find("\r\n\r\n");
    if (!text.starts_with("HTTP/1.") || end == std::string::npos) {
      return {};
    }
    return {std::stoi(text.substr(9, 3)), text.substr(0, end), text.substr(end + 4)};
  }
  [[nodiscard]] Answer get(const std::string& target, const std::string& method = "GET") const {
    return raw(method + " " + target + " HTTP/1.1\r\nHost: " + host() +
               "\r\nConnection: close\r\n\r\n");
  }
  [[nodiscard]] nlohmann::json json(const std::string& target) const {
    const Answer answer = get(target);
    EXPECT_EQ(answer.status, 200) << target << ' ' << answer.body;
    EXPECT_NE(answer.head.find("Content-Type: application/json"), std::string::npos);
    return nlohmann::json::parse(answer.body);
  }

  const ScratchDirectory scratch_;
  std::unique_ptr<RunningProgram> server_;
  int port_ = 0;
};

}  // namespace somatlas::program_test
