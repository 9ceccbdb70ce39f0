// Stands in for cusparse.cu where the build has no cuSPARSE header.
#include "tools/bench/cusparse.cuh"

namespace somatlas::tools::bench {

std::unique_ptr<Cusparse> load_cusparse(std::string& why_not) {
  why_not = "not built in";
  return nullptr;
}

}  // namespace somatlas::tools::bench
