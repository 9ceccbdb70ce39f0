// What every kind of bench measures alike, and where it works.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>

#include "tools/bench/bench.h"

namespace somatlas::tools::bench {

namespace fs = std::filesystem;

Scratch::Scratch(const std::string& parent)
    : path_((parent.empty() ? fs::temp_directory_path() : fs::path(parent)) /
            ("somatlas-bench-" + std::to_string(::getpid()))) {
  fs::create_directories(path_);
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

CLI::Option* add_scratch_option(CLI::App& command, std::string& parent) {
  return command
      .add_option("--scratch", parent,
                  "Folder for what is made and removed again (default: the system's)")
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
}

double median(std::vector<double> figures) {
  std::sort(figures.begin(), figures.end());
  const std::size_t half = figures.size() / 2;
  return figures.size() % 2 == 1 ? figures[half] : (figures[half - 1] + figures[half]) / 2;
}

std::uint64_t take_peak_memory() {
  std::uint64_t peak = 0;
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      status >> peak;  // in KiB
    }
  }
  std::ofstream("/proc/self/clear_refs") << 5;  // Linux: the peak is what is resident now
  return peak * 1024;
}

}  // namespace somatlas::tools::bench
