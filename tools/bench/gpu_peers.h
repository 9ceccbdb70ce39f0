// What bench compares the GPU's search with: the ceilings of the device, and searches by other
// layouts and by cuSPARSE. Plain C++; behind it gpu_peers.cu and gpu_ceilings.cu, or
// gpu_peers_absent.cpp where the build has no CUDA. Always holds: a peer sees the same rows in the
// same order and the same weights as the search that it is compared with, all of them in device
// memory before it is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/backend.h"
#include "tools/bench/atlas_articles.h"

namespace somatlas::tools::bench {

/// Takes the first GPU. Throws std::runtime_error where there is none.
void require_gpu();

/// What no search that reads every weight can pass, and no update that writes every weight.
struct GpuCeilings {
  double cached_weights_a_second = 0;  // 16-byte loads from the first-level cache, all processors
  double copied_bytes_a_second = 0;    // within device memory: bytes read and bytes written
};
/// Measures the first GPU. Throws std::runtime_error where there is none.
[[nodiscard]] GpuCeilings measure_gpu_ceilings();

enum class Peer : std::uint8_t {
  node_major,              // a warp a row, weights [neuron][descriptor] of 16 bits
  brute_force_node_major,  // the brute-force kernel with its weights in that layout
  cusparse_rows_fp32,      // SpMM with the codebook feature-major, then the arg-min
  cusparse_rows_fp16,
  cusparse_columns_fp32,  // with the codebook node-major
  cusparse_columns_fp16,
};
inline constexpr Peer all_peers[] = {
    Peer::node_major,         Peer::brute_force_node_major, Peer::cusparse_rows_fp32,
    Peer::cusparse_rows_fp16, Peer::cusparse_columns_fp32,  Peer::cusparse_columns_fp16};

/// Whether it computes in integers, so that it must find what the contract says.
[[nodiscard]] constexpr bool is_exact(Peer peer) {
  return peer == Peer::node_major || peer == Peer::brute_force_node_major;
}

struct PeerRun {
  double seconds = 0;
  std::vector<gpu::Neuron> bmu;
};

class GpuPeers {
 public:
  virtual ~GpuPeers() = default;

  /// Takes planes from descriptor first on, M row-major weights each, before any run().
  virtual void put_planes(gpu::DescriptorId first, std::span<const std::uint16_t> planes) = 0;
  /// Why this peer cannot run here; empty where it can.
  [[nodiscard]] virtual std::string why_not(Peer peer) const = 0;
  /// Lays the codebook out as the peer wants it, warms up, and times a search of the first rows.
  /// Throws std::runtime_error where device memory does not hold it.
  [[nodiscard]] virtual PeerRun run(Peer peer, std::size_t rows) = 0;
};

/// Takes the rows, whose descriptors ascend, to the first GPU and makes room for the planes. cells:
/// of the codebook. Throws std::runtime_error where there is no GPU, or no room.
[[nodiscard]] std::unique_ptr<GpuPeers> make_gpu_peers(gpu::MapShape shape, const gpu::Cells& cells,
                                                       const Articles& rows);

}  // namespace somatlas::tools::bench
