// A map from descriptor codes to values that is an array where codes are dense, as MeSH's are, and
// a hash map beyond. Always holds: absent codes read as the value the table was made with.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "store/descriptor_code.h"

namespace somatlas::pipeline {

template <typename Value>
class CodeTable {
 public:
  explicit CodeTable(Value absent) : absent_(absent), dense_(dense_codes, absent) {}

  [[nodiscard]] Value get(store::DescriptorCode code) const {
    if (code < dense_codes) {
      return dense_[code];
    }
    const auto found = sparse_.find(code);
    return found == sparse_.end() ? absent_ : found->second;
  }

  [[nodiscard]] Value& at(store::DescriptorCode code) {
    return code < dense_codes ? dense_[code] : sparse_.try_emplace(code, absent_).first->second;
  }

  /// Calls visit(code, value) for every code whose value is not the absent one, in no order.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (store::DescriptorCode code = 0; code < dense_codes; ++code) {
      if (dense_[code] != absent_) {
        visit(code, dense_[code]);
      }
    }
    for (const auto& [code, value] : sparse_) {
      if (value != absent_) {
        visit(code, value);
      }
    }
  }

 private:
  // MeSH's six-digit numbers end near 70,000 and its nine-digit ones near 100,000 (2026).
  static constexpr store::DescriptorCode dense_codes = 1U << 18;
  Value absent_;
  std::vector<Value> dense_;
  std::unordered_map<store::DescriptorCode, Value> sparse_;
};

}  // namespace somatlas::pipeline
