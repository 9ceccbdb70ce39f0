// Options that several subcommands have: one name, one meaning, one sentence of help.
#include "tools/command.h"

namespace somatlas::tools {

CLI::Option* add_store_option(CLI::App& command, std::string& directory) {
  return command.add_option("--store", directory, "The article store, a directory")
      ->type_name("DIR");
}

CLI::Option* add_atlas_option(CLI::App& command, std::string& directory) {
  return command.add_option("--atlas", directory, "The atlas, a directory")->type_name("DIR");
}

CLI::Option* add_json_option(CLI::App& command, bool& json) {
  return command.add_flag("--json", json, "Write the result as JSON on standard output");
}

CLI::Option* add_threads_option(CLI::App& command, unsigned& threads) {
  return command.add_option("--threads", threads, "Threads to use (default: one a core)")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("N");
}

CLI::Option* add_progress_option(CLI::App& command, bool& progress) {
  return command.add_flag("--progress", progress,
                          "Show progress on standard error also where that is no terminal");
}

CLI::Option* add_size_option(CLI::App& command, const std::string& name, std::size_t& bytes,
                             const std::string& description) {
  return command.add_option(name, bytes, description)
      ->transform(CLI::AsSizeValue(true).description(""))
      ->type_name("SIZE");
}

}  // namespace somatlas::tools
