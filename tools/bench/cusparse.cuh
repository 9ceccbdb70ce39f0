// cuSPARSE's product of sparse rows with a dense codebook, found when the program runs: a machine
// with a driver alone has no cuSPARSE, and the program starts there all the same. Behind it
// cusparse.cu, or cusparse_absent.cu where its header is not there to build with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "gpu/cuda_stream.cuh"

namespace somatlas::tools::bench {

/// A sparse matrix of ones: rows of descriptors. All pointers are to device memory.
struct SparseRows {
  std::uint32_t rows = 0;
  std::uint32_t nonzeros = 0;
  std::uint32_t* offsets = nullptr;  // [rows + 1], from 0 on
  std::uint32_t* columns = nullptr;  // [nonzeros]
  void* ones = nullptr;              // [nonzeros]
};

/// What they are multiplied with and where the products go.
struct DenseCodebook {
  std::uint32_t descriptors;
  std::uint32_t neurons;
  bool by_rows;    // [descriptor][neuron], products [row][neuron]; else both the other way round
  bool half;       // everything stored in 16 bits; computed in 32 in any case
  void* weights;   // [descriptors * neurons]
  void* products;  // [rows * neurons]
};

class Cusparse {
 public:
  /// Ways of computing the product, numbered from 0; not each can do everything.
  static constexpr int algorithms = 3;

  virtual ~Cusparse() = default;
  /// Bytes of scratch that multiply() needs. Throws std::runtime_error where that algorithm cannot
  /// do it.
  [[nodiscard]] virtual std::size_t scratch_bytes(const SparseRows& rows, const DenseCodebook& book,
                                                  int algorithm) = 0;
  /// Enqueues products = rows x codebook; throws as above.
  virtual void multiply(const SparseRows& rows, const DenseCodebook& book, int algorithm,
                        std::byte* scratch, gpu::StreamView stream) = 0;
};

/// Null where it is not there; why_not says then why.
[[nodiscard]] std::unique_ptr<Cusparse> load_cusparse(std::string& why_not);

}  // namespace somatlas::tools::bench
