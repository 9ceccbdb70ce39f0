// What a request is answered with.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace somatlas::serve {

struct Reply {
  int status = 200;
  std::string type;  // media type, with its charset
  std::shared_ptr<const std::string> body;
  bool lasting = false;  // may be kept by the browser: its address names this atlas's state
};

[[nodiscard]] inline Reply text_reply(int status, std::string text) {
  return {.status = status,
          .type = "text/plain; charset=utf-8",
          .body = std::make_shared<const std::string>(std::move(text) + '\n')};
}

}  // namespace somatlas::serve
