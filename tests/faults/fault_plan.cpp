#include "tests/faults/fault_plan.h"

#include <cstdlib>
#include <fstream>

namespace somatlas::fault_test {

std::vector<std::string> environment_of(const Fault& fault) {
  std::vector<std::string> environment{std::string("LD_PRELOAD=") + SOMATLAS_FAULT_INJECTOR,
                                       "SOMATLAS_FAULT_ROOT=" + fault.root,
                                       "SOMATLAS_FAULT_CALLS=" + fault.calls,
                                       "SOMATLAS_FAULT_PATH=" + fault.path,
                                       "SOMATLAS_FAULT_NUMBER=" + std::to_string(fault.number),
                                       "SOMATLAS_FAULT_SIGNAL=" + std::to_string(fault.signal)};
  if (!fault.trace.empty()) {
    environment.push_back("SOMATLAS_FAULT_TRACE=" + fault.trace);
  }
  if (fault.error != 0) {
    environment.push_back("SOMATLAS_FAULT_ERROR=" + std::to_string(fault.error));
  }
  if (fault.lasting) {
    environment.emplace_back("SOMATLAS_FAULT_LASTING=1");
  }
  // The address sanitizer wants to be loaded first; it works behind the library as well.
  const char* const sanitizer = std::getenv("ASAN_OPTIONS");
  environment.push_back(std::string("ASAN_OPTIONS=verify_asan_link_order=0:") +
                        (sanitizer != nullptr ? sanitizer : ""));
  return environment;
}

std::vector<Call> read_trace(const std::string& path) {
  std::vector<Call> calls;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::size_t blank = line.find(' ');
    calls.push_back({line.substr(0, blank), line.substr(blank + 1)});
  }
  return calls;
}

}  // namespace somatlas::fault_test
