// A column of the table of distances is kept as its differences, which are -1, 0 or 1: two bits a
// letter of the text that is looked for.
#include "tools/lookup/nearest_names.h"

#include <algorithm>
#include <array>
#include <limits>

#include "tools/lookup/article_input.h"
#include "tools/lookup/descriptor_names.h"

namespace somatlas::lookup {
namespace {

// Words parted by a blank each, in small letters; in_order: "Diabetes Mellitus, Type 2" and "type 2
// diabetes mellitus" alike.
void append_words(std::string& keys, std::string_view name, bool in_order) {
  const std::string small = folded(name);
  std::vector<std::string_view> words;
  words.reserve(16);
  constexpr std::string_view between = " ,;.-()/'\"";
  for (std::size_t at = small.find_first_not_of(between); at != std::string::npos;) {
    const std::size_t end = std::min(small.find_first_of(between, at), small.size());
    words.push_back(std::string_view(small).substr(at, end - at));
    at = small.find_first_not_of(between, end);
  }
  if (in_order) {
    std::ranges::sort(words);
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    keys.append(i == 0 ? "" : " ").append(words[i]);
  }
}

class Distances {
 public:
  explicit Distances(std::string_view text) : length_(text.size()) {
    for (std::size_t i = 0; i < length_; ++i) {
      letters_[i / 64][static_cast<unsigned char>(text[i])] |= std::uint64_t{1} << (i % 64);
    }
  }

  // Levenshtein's, of the text, which has a letter; something above most where it is more.
  [[nodiscard]] std::size_t to(std::string_view name, std::size_t most) const {
    return length_ <= 64 ? distance<1>(name, most) : distance<most_blocks>(name, most);
  }

 private:
  static constexpr std::size_t most_blocks = (NearestNames::longest_looked_for + 63) / 64;

  template <std::size_t most_of_them>
  [[nodiscard]] std::size_t distance(std::string_view name, std::size_t most) const {
    const std::size_t blocks = most_of_them == 1 ? 1 : (length_ + 63) / 64;
    const std::uint64_t last_letter = std::uint64_t{1} << ((length_ - 1) % 64);
    std::array<std::uint64_t, most_of_them> more;
    std::array<std::uint64_t, most_of_them> less;
    more.fill(~std::uint64_t{0});
    less.fill(0);
    std::size_t distance = length_;
    for (std::size_t j = 0; j < name.size(); ++j) {
      int carried = 1;  // the difference along the row above the block
      for (std::size_t b = 0; b < blocks; ++b) {
        std::uint64_t equal = letters_[b][static_cast<unsigned char>(name[j])];
        const std::uint64_t down = equal | less[b];
        equal |= carried < 0 ? 1 : 0;
        const std::uint64_t along = (((equal & more[b]) + more[b]) ^ more[b]) | equal;
        std::uint64_t rises = less[b] | ~(along | more[b]);
        std::uint64_t falls = more[b] & along;
        const std::uint64_t row = b + 1 == blocks ? last_letter : std::uint64_t{1} << 63;
        const int next = int((rises & row) != 0) - int((falls & row) != 0);
        rises = rises << 1 | (carried > 0 ? 1 : 0);
        falls = falls << 1 | (carried < 0 ? 1 : 0);
        more[b] = falls | ~(down | rises);
        less[b] = rises & down;
        carried = next;
      }
      distance += static_cast<std::size_t>(carried);
      if (distance > most + (name.size() - 1 - j)) {
        return most + 1;  // each letter to come takes one away at best
      }
    }
    return distance;
  }

  std::size_t length_;
  std::array<std::array<std::uint64_t, 256>, most_blocks> letters_{};  // places of each byte
};

}  // namespace

void NearestNames::add(std::string_view name) {
  for (const bool in_order : {false, true}) {
    Keys& keys = keys_[in_order ? 1 : 0];
    const std::size_t begin = keys.text.size();
    append_words(keys.text, name, in_order);
    if (keys.text.size() > std::numeric_limits<std::uint32_t>::max()) {
      keys.text.resize(begin);  // what does not fit four gigabytes is never nearest
    }
    keys.ends.push_back(static_cast<std::uint32_t>(keys.text.size()));
  }
}

std::vector<std::uint32_t> NearestNames::find(std::string_view text) const {
  std::vector<std::uint32_t> nearest;
  if (trimmed(text).size() > longest_looked_for) {
    return nearest;
  }
  std::size_t most = 0;
  for (const bool in_order : {false, true}) {
    std::string key;
    append_words(key, text, in_order);
    if (key.empty()) {
      break;
    }
    most = in_order ? most : std::max<std::size_t>(1, key.size() / 4);
    const Distances distances(key);
    const Keys& keys = keys_[in_order ? 1 : 0];
    std::size_t begin = 0;
    for (std::uint32_t i = 0; i < keys.ends.size(); ++i) {
      const auto name = std::string_view(keys.text).substr(begin, keys.ends[i] - begin);
      begin = keys.ends[i];
      if (name.empty() || name.size() + most < key.size() || key.size() + most < name.size()) {
        continue;
      }
      const std::size_t distance = distances.to(name, most);
      if (distance < most) {
        most = distance;
        nearest.clear();
      }
      if (distance == most) {
        nearest.push_back(i);
      }
    }
  }
  std::ranges::sort(nearest);
  nearest.erase(std::ranges::unique(nearest).begin(), nearest.end());
  return nearest;
}

}  // namespace somatlas::lookup
