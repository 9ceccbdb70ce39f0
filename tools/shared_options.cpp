// Options that several subcommands have: one name, one meaning, one sentence of help.
#include <charconv>
#include <system_error>

#include "tools/command.h"

namespace somatlas::tools {

namespace {

// The parser would read a negative number as a very large one, and cut a too large one.
std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), seed);
  return end.ec == std::errc() && end.ptr == text.data() + text.size()
             ? ""
             : "Value " + text + " is no whole number from 0 to 2^64 - 1";
}

std::string check_a_name(const std::string& text) {
  return text.empty() ? "the name is empty: name a directory" : "";
}

std::string check_no_sign(std::string& text) {
  return text.starts_with('-') ? "Value " + text + " is negative" : "";
}

// Of a size that is a number of bytes by now; 0 would mean that there is no limit at all.
std::string check_not_nothing(const std::string& text) {
  std::uint64_t bytes = 0;
  return CLI::detail::lexical_cast(text, bytes) && bytes == 0
             ? "A size of 0 leaves nothing: give more, or leave the option out"
             : "";
}

}  // namespace

CLI::Option* add_store_option(CLI::App& command, std::string& directory) {
  return command.add_option("--store", directory, "The article store, a directory")
      ->check(check_a_name)
      ->type_name("DIR");
}

CLI::Option* add_atlas_option(CLI::App& command, std::string& directory) {
  return command.add_option("--atlas", directory, "The atlas, a directory")
      ->check(check_a_name)
      ->type_name("DIR");
}

void add_one_of_store_and_atlas(CLI::App& command, std::string& store, std::string& atlas) {
  auto* store_option = add_store_option(command, store);
  add_atlas_option(command, atlas)->excludes(store_option);
  command.callback([&store, &atlas] {
    if (store.empty() && atlas.empty()) {
      throw CLI::RequiredError("--store or --atlas");
    }
  });
}

CLI::Option* add_json_option(CLI::App& command, bool& json) {
  return command.add_flag("--json", json, "Write the result as JSON on standard output");
}

CLI::Option* add_threads_option(CLI::App& command, unsigned& threads) {
  return command.add_option("--threads", threads, "Threads to use (default: one a core)")
      ->check(CLI::Range(1U, 1024U).description(""))
      ->type_name("N");
}

CLI::Option* add_progress_option(CLI::App& command, bool& progress) {
  return command.add_flag("--progress", progress,
                          "Show progress on standard error also where that is no terminal");
}

CLI::Option* add_seed_option(CLI::App& command, std::uint64_t& seed,
                             const std::string& description) {
  return command.add_option("--seed", seed, description)
      ->check(check_seed)
      ->capture_default_str()
      ->type_name("K");
}

CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::size_t& bytes,
                             const std::string& description) {
  return command.add_option(name, bytes, description)
      ->transform(CLI::AsSizeValue(true).description(""))
      ->transform(CLI::Validator(check_no_sign, ""))
      ->check(check_not_nothing)
      ->type_name("SIZE");
}

}  // namespace somatlas::tools
