// Least recently used goes first.
#include "tools/serve/byte_cache.h"

#include <utility>

namespace somatlas::serve {

ByteCache::Value ByteCache::get(const std::string& key, const std::function<std::string()>& make) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (const auto found = place_.find(key); found != place_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return found->second->value;
    }
    if (!in_making_.contains(key)) {
      break;
    }
    made_.wait(lock);
  }
  in_making_.insert(key);
  lock.unlock();
  Value value;
  try {
    value = std::make_shared<const std::string>(make());
  } catch (...) {
    lock.lock();
    in_making_.erase(key);
    made_.notify_all();
    throw;
  }
  lock.lock();
  in_making_.erase(key);
  made_.notify_all();
  Entry entry{key, value};
  const std::size_t size = size_of(entry);
  if (size <= room_) {
    while (bytes_ + size > room_) {
      bytes_ -= size_of(entries_.back());
      place_.erase(entries_.back().key);
      entries_.pop_back();
    }
    entries_.push_front(std::move(entry));
    place_[key] = entries_.begin();
    bytes_ += size;
  }
  return value;
}

bool ByteCache::holds(const std::string& key) const {
  const std::lock_guard lock(mutex_);
  return place_.contains(key);
}

std::size_t ByteCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace somatlas::serve
