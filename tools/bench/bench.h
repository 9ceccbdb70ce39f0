// The kinds of `somatlas bench`, and what they share. Always holds: what is timed is checked first;
// a figure is a median over runs that alternate with those it is compared with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/command.h"

namespace somatlas::tools::bench {

[[nodiscard]] Run define_ingest_bench(CLI::App& command);
[[nodiscard]] Run define_search_bench(CLI::App& command);
[[nodiscard]] Run define_update_bench(CLI::App& command);
[[nodiscard]] Run define_epoch_bench(CLI::App& command);
[[nodiscard]] Run define_train_bench(CLI::App& command);

/// A folder that is made, used and removed.
class Scratch {
 public:
  /// parent: empty for the system's folder of temporary files.
  explicit Scratch(const std::string& parent);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] std::string at(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};
CLI::Option* add_scratch_option(CLI::App& command, std::string& parent);

/// The middle one of an odd number of figures, the mean of the two middle ones of an even.
[[nodiscard]] double median(std::vector<double> figures);

/// The most memory of this process that was resident at once since the last call, in bytes; 0 where
/// the system does not tell. Starts anew.
[[nodiscard]] std::uint64_t take_peak_memory();

}  // namespace somatlas::tools::bench
