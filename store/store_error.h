// The one exception of store/: what went wrong with which directory or key, and what to do about
// it.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace somatlas::store {

/// How a sentence ends whose cause can pass: a full disk, a limit that is too low.
inline constexpr std::string_view try_again = "then run the same command again";

class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace somatlas::store
