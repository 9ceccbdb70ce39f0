// Runs the peers: rows, planes and products in device memory, and the clock round each search.
// Always holds: a layout is made, and freed again, outside what is timed.
#include "tools/bench/gpu_peers.h"

#include <cuda_fp16.h>

#include <algorithm>
#include <cfloat>
#include <climits>
#include <limits>
#include <stdexcept>
#include <utility>

#include "gpu/contract.h"
#include "gpu/cuda_buffer.cuh"
#include "gpu/cuda_check.cuh"
#include "gpu/cuda_stream.cuh"
#include "gpu/cuda_walk.cuh"
#include "tools/bench/cusparse.cuh"
#include "tools/bench/peer_kernels.cuh"

namespace somatlas::tools::bench {
namespace {

using gpu::check;
using gpu::check_launch;
using gpu::DeviceBuffer;
using gpu::StreamView;

/// Products of one SpMM: what the arg-min then reads.
constexpr std::size_t most_product_bytes = std::size_t{4} << 30;

[[nodiscard]] unsigned blocks_of(std::size_t items, std::size_t per_block) {
  return static_cast<unsigned>((items + per_block - 1) / per_block);
}

class CudaPeers final : public GpuPeers {
 public:
  CudaPeers(gpu::MapShape shape, const gpu::Cells& cells, const Articles& rows)
      : shape_(shape),
        account_(free_bytes()),
        offsets_(rows.offsets),
        row_offsets_(account_, rows.offsets.size(), "the rows' offsets"),
        descriptors_(account_, rows.descriptors.size(), "the rows' descriptors"),
        best_(account_, rows.size(), "the rows' best"),
        planes_(account_, shape.descriptors * shape.neurons(), "the planes"),
        norms_(account_, padded_neurons(), "the norms"),
        float_norms_(account_, shape.neurons(), "the norms"),
        cusparse_(load_cusparse(no_cusparse_)) {
    upload(row_offsets_, rows.offsets);
    upload(descriptors_, rows.descriptors);
    group(rows);
    std::vector<std::int32_t> norms(padded_neurons(), gpu::padded_norm);
    std::vector<float> float_norms(shape.neurons(), FLT_MAX);
    for (std::size_t i = 0; i < shape.neurons(); ++i) {
      if (cells.vacant[i] == 0) {
        norms[i] = cells.norm[i];
        float_norms[i] = static_cast<float>(static_cast<double>(cells.square_sum[i]) /
                                            (double{gpu::weight_one} * gpu::weight_one));
      }
    }
    upload(norms_, norms);
    upload(float_norms_, float_norms);
  }

  void put_planes(gpu::DescriptorId first, std::span<const std::uint16_t> planes) override {
    gpu::copy_to_device(planes_.data() + first * shape_.neurons(), planes.data(), planes.size(),
                        stream_.view());
    stream_.view().synchronize();
  }

  [[nodiscard]] std::string why_not(Peer peer) const override {
    return is_exact(peer) || cusparse_ != nullptr ? "" : "cuSPARSE: " + no_cusparse_;
  }

  [[nodiscard]] PeerRun run(Peer peer, std::size_t rows) override {
    best_.fill_bytes(0xFF, stream_.view());
    PeerRun result;
    switch (peer) {
      case Peer::node_major:
        result.seconds = run_node_major(rows);
        break;
      case Peer::brute_force_node_major:
        result.seconds = run_brute_force(rows);
        break;
      case Peer::cusparse_rows_fp32:
        result.seconds = run_cusparse<float>(true, rows);
        break;
      case Peer::cusparse_rows_fp16:
        result.seconds = run_cusparse<__half>(true, rows);
        break;
      case Peer::cusparse_columns_fp32:
        result.seconds = run_cusparse<float>(false, rows);
        break;
      case Peer::cusparse_columns_fp16:
        result.seconds = run_cusparse<__half>(false, rows);
        break;
    }
    std::vector<unsigned long long> keys(rows);
    gpu::copy_to_host(keys.data(), best_.data(), rows, stream_.view());
    stream_.view().synchronize();
    result.bmu.resize(rows);
    std::transform(keys.begin(), keys.end(), result.bmu.begin(),
                   [](unsigned long long key) { return gpu::neuron_of(key); });
    return result;
  }

 private:
  [[nodiscard]] static std::size_t free_bytes() {
    std::size_t free = 0;
    std::size_t total = 0;
    check(cudaMemGetInfo(&free, &total));
    return free;
  }
  [[nodiscard]] std::size_t padded_neurons() const {
    return (shape_.neurons() + line_neurons - 1) / line_neurons * line_neurons;
  }
  template <class T>
  void upload(const DeviceBuffer<T>& to, const std::vector<T>& from) {
    gpu::copy_to_device(to.data(), from.data(), from.size(), stream_.view());
    stream_.view().synchronize();
  }

  /// Descriptors four by four, as the brute-force kernel takes them; it may fetch one group more.
  void group(const Articles& rows) {
    std::vector<gpu::RowPlace> places(rows.size());
    std::vector<std::uint32_t> ids;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      places[r] = {static_cast<std::uint32_t>(ids.size() / 4),
                   rows.offsets[r + 1] - rows.offsets[r]};
      ids.insert(ids.end(), rows.descriptors.begin() + rows.offsets[r],
                 rows.descriptors.begin() + rows.offsets[r + 1]);
      ids.resize((ids.size() + 3) / 4 * 4);
    }
    ids.resize(ids.size() + 4);
    groups_ = DeviceBuffer<uint4>(account_, ids.size() / 4, "the rows' groups");
    places_ = DeviceBuffer<gpu::RowPlace>(account_, places.size(), "the rows' places");
    check(
        cudaMemcpy(groups_.data(), ids.data(), ids.size() * sizeof ids[0], cudaMemcpyHostToDevice));
    upload(places_, places);
  }

  /// Seconds of the device's time that what is enqueued takes.
  template <class Enqueue>
  [[nodiscard]] double timed(const Enqueue& enqueue) {
    stream_.view().record(begun_.view());
    enqueue();
    stream_.view().record(ended_.view());
    ended_.view().synchronize();
    return ended_.view().seconds_since(begun_.view());
  }

  template <class Weight>
  void lay_out_by_rows(Weight* out) {
    constexpr unsigned blocks = 4096;
    convert_kernel<<<blocks, block_threads, 0, stream_.view().value()>>>(planes_.data(),
                                                                         planes_.size(), out);
    check_launch();
  }
  template <class Weight>
  void lay_out_by_columns(Weight* out) {
    const auto neurons = static_cast<std::uint32_t>(shape_.neurons());
    const unsigned across = blocks_of(neurons, square);
    const unsigned down = blocks_of(shape_.descriptors, square);
    transpose_kernel<<<across * down, dim3(square, 8), 0, stream_.view().value()>>>(
        planes_.data(), shape_.descriptors, neurons, across, out);
    check_launch();
  }

  /// The codebook node-major, whole lines of neurons; those past the last have weight 0.
  [[nodiscard]] DeviceBuffer<std::uint16_t> node_major_weights() {
    DeviceBuffer<std::uint16_t> weights(account_, padded_neurons() * shape_.descriptors,
                                        "a node-major codebook");
    weights.fill_bytes(0, stream_.view());
    lay_out_by_columns(weights.data());
    return weights;
  }
  [[nodiscard]] NodeMajorBook node_major_book(const DeviceBuffer<std::uint16_t>& weights) const {
    return {weights.data(), norms_.data(), shape_.descriptors,
            static_cast<std::uint32_t>(shape_.neurons())};
  }

  [[nodiscard]] double run_node_major(std::size_t rows) {
    const auto weights = node_major_weights();
    const auto launch = [&](std::size_t count) {
      node_major_kernel<<<blocks_of(count, block_warps), block_threads, 0,
                          stream_.view().value()>>>(
          node_major_book(weights),
          {row_offsets_.data(), descriptors_.data(), static_cast<std::uint32_t>(count)},
          best_.data());
      check_launch();
    };
    launch(std::min(rows, warm_rows));
    return timed([&] { launch(rows); });
  }

  [[nodiscard]] double run_brute_force(std::size_t rows) {
    const auto weights = node_major_weights();
    check(cudaFuncSetAttribute(brute_node_major_kernel,
                               cudaFuncAttributePreferredSharedMemoryCarveout,
                               cudaSharedmemCarveoutMaxL1));
    const auto launch = [&](std::size_t count) {
      const std::uint32_t row_blocks = blocks_of(count, search_rows);
      const auto lines = static_cast<std::uint32_t>(padded_neurons() / line_neurons);
      if (std::size_t{row_blocks} * lines > INT_MAX) {
        throw std::runtime_error("there are more rows than one launch takes; take fewer");
      }
      brute_node_major_kernel<<<row_blocks * lines, block_threads, 0, stream_.view().value()>>>(
          node_major_book(weights), places_.data(), groups_.data(),
          static_cast<std::uint32_t>(count), row_blocks, best_.data());
      check_launch();
    };
    launch(std::min(rows, warm_rows));
    best_.fill_bytes(0xFF, stream_.view());
    return timed([&] { launch(rows); });
  }

  /// Rows whose products fit, as a matrix of their own.
  struct Batch {
    std::size_t first_row;
    std::size_t first_offset;
    std::size_t first_column;
    SparseRows rows;
  };

  template <class Weight>
  [[nodiscard]] double run_cusparse(bool by_rows, std::size_t count) {
    const std::size_t neurons = shape_.neurons();
    const DeviceBuffer<Weight> weights(account_, planes_.size(), "a codebook for cuSPARSE");
    by_rows ? lay_out_by_rows(weights.data()) : lay_out_by_columns(weights.data());
    const std::size_t room = std::min(most_product_bytes, account_.left_bytes() / 2);
    const std::size_t most = std::clamp<std::size_t>(room / (neurons * sizeof(Weight)), 1, count);
    const DeviceBuffer<Weight> products(account_, most * neurons, "cuSPARSE's products");

    // Each batch's arrays begin on a boundary of 16 bytes.
    const auto padded = [](std::size_t values) { return (values + 3) / 4 * 4; };
    std::vector<std::uint32_t> offsets;
    std::vector<Batch> batches;
    std::uint32_t most_nonzeros = 0;
    std::size_t nonzeros = 0;
    for (std::size_t first = 0; first < count; first += most) {
      const std::size_t end = std::min(count, first + most);
      const std::uint32_t base = offsets_[first];
      batches.push_back({.first_row = first,
                         .first_offset = offsets.size(),
                         .first_column = nonzeros,
                         .rows = {.rows = static_cast<std::uint32_t>(end - first),
                                  .nonzeros = offsets_[end] - base}});
      for (std::size_t r = first; r <= end; ++r) {
        offsets.push_back(offsets_[r] - base);
      }
      offsets.resize(padded(offsets.size()));
      nonzeros = padded(nonzeros + batches.back().rows.nonzeros);
      most_nonzeros = std::max(most_nonzeros, batches.back().rows.nonzeros);
    }
    const DeviceBuffer<std::uint32_t> all_offsets(account_, offsets.size(), "the batches' offsets");
    upload(all_offsets, offsets);
    const DeviceBuffer<std::uint32_t> all_columns(account_, nonzeros, "the batches' columns");
    const DeviceBuffer<Weight> ones(account_, most_nonzeros, "cuSPARSE's ones");
    upload(ones, std::vector<Weight>(most_nonzeros, Weight(1.0F)));
    for (Batch& batch : batches) {
      batch.rows.offsets = all_offsets.data() + batch.first_offset;
      batch.rows.columns = all_columns.data() + batch.first_column;
      batch.rows.ones = ones.data();
      check(cudaMemcpyAsync(batch.rows.columns, descriptors_.data() + offsets_[batch.first_row],
                            batch.rows.nonzeros * sizeof(std::uint32_t), cudaMemcpyDeviceToDevice,
                            stream_.view().value()));
    }

    const DenseCodebook book{.descriptors = shape_.descriptors,
                             .neurons = static_cast<std::uint32_t>(neurons),
                             .by_rows = by_rows,
                             .half = sizeof(Weight) == sizeof(__half),
                             .weights = weights.data(),
                             .products = products.data()};
    const int algorithm = quickest(batches.front().rows, book);
    std::size_t scratch_bytes = 1;
    for (const Batch& batch : batches) {
      scratch_bytes =
          std::max(scratch_bytes, cusparse_->scratch_bytes(batch.rows, book, algorithm));
    }
    const DeviceBuffer<std::byte> scratch(account_, scratch_bytes, "cuSPARSE's scratch");
    return timed([&] {
      for (const Batch& batch : batches) {
        cusparse_->multiply(batch.rows, book, algorithm, scratch.data(), stream_.view());
        find_least(products.data(), batch, by_rows);
      }
    });
  }

  /// Of cuSPARSE's algorithms the one that takes the least time for a batch.
  [[nodiscard]] int quickest(const SparseRows& rows, const DenseCodebook& book) {
    int best = -1;
    double least = std::numeric_limits<double>::infinity();
    std::string refusal;
    for (int algorithm = 0; algorithm < Cusparse::algorithms; ++algorithm) {
      try {
        const DeviceBuffer<std::byte> scratch(
            account_, std::max<std::size_t>(1, cusparse_->scratch_bytes(rows, book, algorithm)),
            "cuSPARSE's scratch");
        const auto multiply = [&] {
          cusparse_->multiply(rows, book, algorithm, scratch.data(), stream_.view());
        };
        multiply();
        if (const double seconds = timed(multiply); seconds < least) {
          least = seconds;
          best = algorithm;
        }
      } catch (const gpu::CudaError&) {
        throw;
      } catch (const std::runtime_error& error) {
        refusal = error.what();
      }
    }
    if (best < 0) {
      throw std::runtime_error(refusal);
    }
    return best;
  }

  template <class Weight>
  void find_least(const Weight* products, const Batch& batch, bool by_rows) {
    const auto neurons = static_cast<std::uint32_t>(shape_.neurons());
    const cudaStream_t stream = stream_.view().value();
    unsigned long long* const best = best_.data() + batch.first_row;
    constexpr int width = 16 / sizeof(Weight);
    if (!by_rows) {
      const std::uint32_t row_blocks = blocks_of(batch.rows.rows, block_threads);
      argmin_of_columns_kernel<<<row_blocks * blocks_of(neurons, column_neurons), block_threads, 0,
                                 stream>>>(products, float_norms_.data(), neurons, batch.rows.rows,
                                           row_blocks, best);
    } else if (neurons % width == 0) {
      argmin_of_rows_kernel<Weight, width><<<batch.rows.rows, block_threads, 0, stream>>>(
          products, float_norms_.data(), neurons, best);
    } else {
      argmin_of_rows_kernel<Weight, 1><<<batch.rows.rows, block_threads, 0, stream>>>(
          products, float_norms_.data(), neurons, best);
    }
    check_launch();
  }

  static constexpr std::size_t warm_rows = 4096;

  gpu::MapShape shape_;
  gpu::MemoryAccount account_;
  gpu::Stream stream_;
  gpu::Event begun_{gpu::Event::Kind::timing};
  gpu::Event ended_{gpu::Event::Kind::timing};
  std::vector<std::uint32_t> offsets_;
  DeviceBuffer<std::uint32_t> row_offsets_;
  DeviceBuffer<std::uint32_t> descriptors_;
  DeviceBuffer<unsigned long long> best_;
  DeviceBuffer<std::uint16_t> planes_;  // [descriptor][neuron]
  DeviceBuffer<std::int32_t> norms_;    // of whole lines
  DeviceBuffer<float> float_norms_;
  DeviceBuffer<uint4> groups_;
  DeviceBuffer<gpu::RowPlace> places_;
  std::string no_cusparse_;
  std::unique_ptr<Cusparse> cusparse_;
};

}  // namespace

void require_gpu() {
  if (gpu::cuda_devices().empty()) {
    throw std::runtime_error("there is no GPU to measure: " + gpu::cuda_unavailable_reason());
  }
  check(cudaSetDevice(0));
}

std::unique_ptr<GpuPeers> make_gpu_peers(gpu::MapShape shape, const gpu::Cells& cells,
                                         const Articles& rows) {
  require_gpu();
  return std::make_unique<CudaPeers>(shape, cells, rows);
}

}  // namespace somatlas::tools::bench
