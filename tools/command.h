// What a subcommand is and what all of them share: one file defines one, with its options on the
// parser, and one line in commands.cpp registers it. Always holds: the parser has checked every
// argument before a command runs; usage text comes from the parser alone.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "tools/session.h"

namespace somatlas::tools {

inline constexpr int exit_done = 0;
inline constexpr int exit_failed = 1;
inline constexpr int exit_wrong_arguments = 2;

/// Does the work once the arguments are known to be good, and returns the exit code. What it throws
/// is said by main as one sentence, exit code 1.
using Run = std::function<int(Session&)>;

/// Adds the options of one subcommand to its parser; what it returns owns the values.
using Define = Run (*)(CLI::App& command);

struct Registration {
  const char* name;
  const char* summary;  // a line of --help
  Define define;
};

/// Every subcommand, in the order of --help.
[[nodiscard]] std::span<const Registration> registrations();

[[nodiscard]] Run define_ingest(CLI::App& command);
[[nodiscard]] Run define_info(CLI::App& command);
[[nodiscard]] Run define_dump(CLI::App& command);
[[nodiscard]] Run define_train(CLI::App& command);
[[nodiscard]] Run define_map(CLI::App& command);
[[nodiscard]] Run define_diff(CLI::App& command);
[[nodiscard]] Run define_export(CLI::App& command);
[[nodiscard]] Run define_serve(CLI::App& command);
[[nodiscard]] Run define_import(CLI::App& command);
[[nodiscard]] Run define_synth(CLI::App& command);
[[nodiscard]] Run define_bench(CLI::App& command);
[[nodiscard]] Run define_verify(CLI::App& command);

/// Options that several subcommands have, so that they read the same everywhere.
CLI::Option* add_store_option(CLI::App& command, std::string& directory);
CLI::Option* add_atlas_option(CLI::App& command, std::string& directory);
/// --store or --atlas, one of the two; the other stays empty.
void add_one_of_store_and_atlas(CLI::App& command, std::string& store, std::string& atlas);
CLI::Option* add_json_option(CLI::App& command, bool& json);
CLI::Option* add_threads_option(CLI::App& command, unsigned& threads);
CLI::Option* add_progress_option(CLI::App& command, bool& progress);
/// --seed K, any unsigned 64-bit number.
CLI::Option* add_seed_option(CLI::App& command, std::uint64_t& seed,
                             const std::string& description);
/// A size in bytes with an optional unit: 8GiB, 500MB, 4096; never 0.
CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::size_t& bytes,
                             const std::string& description);

}  // namespace somatlas::tools
