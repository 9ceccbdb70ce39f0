// The one exception of store/: what went wrong with which directory or key, and what to do about
// it.
#pragma once

#include <stdexcept>
#include <string>

namespace somatlas::store {

class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace somatlas::store
