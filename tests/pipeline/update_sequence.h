// Calls of ingest as they come in a store's life: files in any order, one or many in a call, given
// twice, or changed since they were taken; with what a plain map knows after each call.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/pipeline/plain_map.h"

namespace somatlas::plain {

/// How often things happened that a test should have seen.
using Events = std::map<std::string, int>;
/// Those that many sequences together cannot lack.
[[nodiscard]] const std::vector<std::string>& all_events();

class UpdateSequence {
 public:
  /// Its files go to `folder`, which is there and empty.
  UpdateSequence(std::mt19937_64& random, std::string folder, Events& events);

  /// Writes what is new or changed; the paths to ingest in one call.
  [[nodiscard]] std::vector<std::string> next_call();
  /// The store's state after that call.
  [[nodiscard]] const Model& model() const { return model_; }

 private:
  void write(const File& file, const std::string& text);
  void take(const File& file);
  [[nodiscard]] bool chance(unsigned one_in) { return random_() % one_in == 0; }

  std::mt19937_64& random_;
  std::string folder_;
  Events& events_;
  std::map<std::uint32_t, File> files_;         // by number, as they are on disk
  std::map<std::uint32_t, std::string> taken_;  // the texts that the store has
  Model model_;
};

}  // namespace somatlas::plain
