// The options of a training that `train` and `bench train` share. Always holds: they mean the same
// in both; the parser has checked each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/training.h"
#include "tools/command.h"

namespace somatlas::tools {

/// What the parser was given.
struct TrainingArguments {
  pipeline::TrainingOptions given;  // what needs no second look
  std::uint32_t radius_start = 0;
  std::string init = "pca";
  std::string device = "auto";
  std::string device_cache = "auto";
  CLI::Option* radius_start_given = nullptr;

  /// All of it as a training takes it.
  [[nodiscard]] pipeline::TrainingOptions options() const;
};

/// Adds the settings, the number of epochs and what says which part of the machine is used. from:
/// an option that excludes the settings, or null.
void add_training_options(CLI::App& command, TrainingArguments& arguments, CLI::Option* from);

/// Adds what is left of these where a map is not trained but only placed in: the settings that a
/// later training takes over, and the machine. Returns all that it added.
std::vector<CLI::Option*> add_placing_options(CLI::App& command, TrainingArguments& arguments);

/// --device auto, cpu or cuda.
CLI::Option* add_device_option(CLI::App& command, std::string& device);
[[nodiscard]] pipeline::Device device_named(const std::string& device);

}  // namespace somatlas::tools
