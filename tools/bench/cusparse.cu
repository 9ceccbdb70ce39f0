// The few functions of cuSPARSE that the comparison needs, by dlopen.
#include "tools/bench/cusparse.cuh"

#include <cusparse.h>
#include <dlfcn.h>

#include <array>
#include <stdexcept>

namespace somatlas::tools::bench {
namespace {

struct CloseLibrary {
  void operator()(void* library) const { ::dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

struct Functions {
  decltype(&cusparseCreate) create = nullptr;
  decltype(&cusparseDestroy) destroy = nullptr;
  decltype(&cusparseSetStream) set_stream = nullptr;
  decltype(&cusparseGetErrorString) error_string = nullptr;
  decltype(&cusparseCreateCsr) create_csr = nullptr;
  decltype(&cusparseDestroySpMat) destroy_sparse = nullptr;
  decltype(&cusparseCreateDnMat) create_dense = nullptr;
  decltype(&cusparseDestroyDnMat) destroy_dense = nullptr;
  decltype(&cusparseSpMM_bufferSize) buffer_size = nullptr;
  decltype(&cusparseSpMM) multiply = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) {
    throw std::runtime_error(std::string("cuSPARSE has no ") + name);
  }
}

class LoadedCusparse final : public Cusparse {
 public:
  explicit LoadedCusparse(Library library) : library_(std::move(library)) {
    find(library_.get(), "cusparseCreate", call_.create);
    find(library_.get(), "cusparseDestroy", call_.destroy);
    find(library_.get(), "cusparseSetStream", call_.set_stream);
    find(library_.get(), "cusparseGetErrorString", call_.error_string);
    find(library_.get(), "cusparseCreateCsr", call_.create_csr);
    find(library_.get(), "cusparseDestroySpMat", call_.destroy_sparse);
    find(library_.get(), "cusparseCreateDnMat", call_.create_dense);
    find(library_.get(), "cusparseDestroyDnMat", call_.destroy_dense);
    find(library_.get(), "cusparseSpMM_bufferSize", call_.buffer_size);
    find(library_.get(), "cusparseSpMM", call_.multiply);
    check(call_.create(&handle_));
  }
  ~LoadedCusparse() override { call_.destroy(handle_); }
  LoadedCusparse(const LoadedCusparse&) = delete;
  LoadedCusparse& operator=(const LoadedCusparse&) = delete;

  [[nodiscard]] std::size_t scratch_bytes(const SparseRows& rows, const DenseCodebook& book,
                                          int algorithm) override {
    const Operands operands(*this, rows, book);
    const float one = 1;
    const float zero = 0;
    std::size_t bytes = 0;
    check(call_.buffer_size(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                            CUSPARSE_OPERATION_NON_TRANSPOSE, &one, operands.sparse, operands.dense,
                            &zero, operands.products, CUDA_R_32F, number(algorithm), &bytes));
    return bytes;
  }

  void multiply(const SparseRows& rows, const DenseCodebook& book, int algorithm,
                std::byte* scratch, gpu::StreamView stream) override {
    const Operands operands(*this, rows, book);
    const float one = 1;
    const float zero = 0;
    check(call_.set_stream(handle_, stream.value()));
    check(call_.multiply(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE,
                         CUSPARSE_OPERATION_NON_TRANSPOSE, &one, operands.sparse, operands.dense,
                         &zero, operands.products, CUDA_R_32F, number(algorithm), scratch));
  }

 private:
  /// The three matrices as cuSPARSE describes them.
  struct Operands {
    explicit Operands(const Functions& functions) : call(functions) {}
    Operands(const LoadedCusparse& owner, const SparseRows& rows, const DenseCodebook& book)
        : Operands(owner.call_) {
      const cudaDataType type = book.half ? CUDA_R_16F : CUDA_R_32F;
      const cusparseOrder_t order = book.by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
      owner.check(call.create_csr(&sparse, rows.rows, book.descriptors, rows.nonzeros, rows.offsets,
                                  rows.columns, rows.ones, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                  CUSPARSE_INDEX_BASE_ZERO, type));
      owner.check(call.create_dense(&dense, book.descriptors, book.neurons,
                                    book.by_rows ? book.neurons : book.descriptors, book.weights,
                                    type, order));
      owner.check(call.create_dense(&products, rows.rows, book.neurons,
                                    book.by_rows ? book.neurons : rows.rows, book.products, type,
                                    order));
    }
    ~Operands() {
      if (sparse != nullptr) {
        call.destroy_sparse(sparse);
      }
      for (cusparseDnMatDescr_t matrix : {dense, products}) {
        if (matrix != nullptr) {
          call.destroy_dense(matrix);
        }
      }
    }
    Operands(const Operands&) = delete;
    Operands& operator=(const Operands&) = delete;

    const Functions& call;
    cusparseSpMatDescr_t sparse = nullptr;
    cusparseDnMatDescr_t dense = nullptr;
    cusparseDnMatDescr_t products = nullptr;
  };

  static cusparseSpMMAlg_t number(int algorithm) {
    constexpr std::array<cusparseSpMMAlg_t, algorithms> all{
        CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};
    return all.at(static_cast<std::size_t>(algorithm));
  }

  void check(cusparseStatus_t status) const {
    if (status != CUSPARSE_STATUS_SUCCESS) {
      throw std::runtime_error(std::string("cuSPARSE says: ") + call_.error_string(status));
    }
  }

  Library library_;
  Functions call_;
  cusparseHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<Cusparse> load_cusparse(std::string& why_not) {
  for (const char* name : {"libcusparse.so.12", "/usr/local/cuda/lib64/libcusparse.so.12"}) {
    if (Library library(::dlopen(name, RTLD_NOW | RTLD_LOCAL)); library != nullptr) {
      try {
        return std::make_unique<LoadedCusparse>(std::move(library));
      } catch (const std::runtime_error& error) {
        why_not = error.what();
        return nullptr;
      }
    }
  }
  why_not = "not found";
  return nullptr;
}

}  // namespace somatlas::tools::bench
