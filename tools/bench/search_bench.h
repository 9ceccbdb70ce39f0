// What the two halves of bench search share, that on the CPU and that on a GPU.
#pragma once

#include <cstddef>
#include <string>

#include "tools/session.h"

namespace somatlas::tools::bench {

struct SearchBenchOptions {
  std::string store;
  std::string atlas;
  std::string device = "cpu";
  std::size_t rows = 0;  // 0: as many as that device takes readily
  std::size_t tile_rows = 65'536;
  unsigned repeats = 3;
  bool peers = true;  // on a GPU, others too that ours are compared with
  bool json = false;
};

/// Measures the first GPU and returns the exit code. Throws std::runtime_error where there is none.
[[nodiscard]] int search_on_gpu(Session& session, const SearchBenchOptions& options);

}  // namespace somatlas::tools::bench
