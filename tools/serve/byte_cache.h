// Values that can be made again, kept while there is room: shades of layers, tiles, years. Always
// holds: what is kept, keys included, takes no more than its bound; a value that several threads
// ask for at once is made once.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

namespace somatlas::serve {

class ByteCache {
 public:
  using Value = std::shared_ptr<const std::string>;

  explicit ByteCache(std::size_t bytes) : room_(bytes) {}

  /// The value of the key, made where it is not kept; a value larger than the bound is not kept.
  /// What make throws reaches the caller.
  [[nodiscard]] Value get(const std::string& key, const std::function<std::string()>& make);
  [[nodiscard]] bool holds(const std::string& key) const;
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Entry {
    std::string key;
    Value value;
  };
  /// As much as the maps take for an entry, roughly.
  [[nodiscard]] static std::size_t size_of(const Entry& entry) {
    return 2 * entry.key.size() + entry.value->size() + 200;
  }

  const std::size_t room_;
  mutable std::mutex mutex_;
  std::condition_variable made_;
  std::set<std::string> in_making_;
  std::list<Entry> entries_;  // those asked for last come first
  std::unordered_map<std::string, std::list<Entry>::iterator> place_;
  std::size_t bytes_ = 0;
};

}  // namespace somatlas::serve
