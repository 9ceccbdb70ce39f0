// What every kind of bench measures alike.
#include <algorithm>
#include <fstream>
#include <string>

#include "tools/bench/bench.h"

namespace somatlas::tools::bench {

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
