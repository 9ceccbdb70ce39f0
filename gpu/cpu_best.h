// The best neurons of a row so far, in the contract's order. Internal to the searches on the CPU.
#pragma once

#include <cstdint>

#include "gpu/contract.h"
#include "gpu/cpu_kernels.h"
#include "gpu/plane_tree.h"
#include "gpu/tile.h"

namespace somatlas::gpu {

/// A score of padded_norm belongs to no usable neuron.
struct Best {
  std::int32_t score = padded_norm;
  std::int32_t second_score = padded_norm;
  Neuron neuron = no_neuron;
  Neuron second = no_neuron;

  /// Takes a usable neuron into account, in whatever order they come.
  void take(std::int32_t candidate, Neuron number) {
    if (candidate < score || (candidate == score && number < neuron)) {
      second_score = score;
      second = neuron;
      score = candidate;
      neuron = number;
    } else if (candidate < second_score || (candidate == second_score && number < second)) {
      second_score = candidate;
      second = number;
    }
  }

  /// No neuron with a score above it can change what is wanted.
  [[nodiscard]] std::int32_t limit(bool wants_second) const {
    return wants_second ? second_score : score;
  }

  /// Takes the scores of sixteen consecutive places, from first on.
  void take_run(const Lanes& scores, const PlaneTree& tree, std::size_t first, bool wants_second) {
    for (std::size_t i = 0; i < lanes; ++i) {
      const std::int32_t candidate = scores.value[score_lane(i)];
      if (candidate <= limit(wants_second) && candidate != padded_norm) {
        take(candidate, tree.neuron_of(first + i));
      }
    }
  }

  void write(Tile& tile, std::size_t row) const {
    tile.bmu()[row] = neuron;
    tile.score()[row] = score;
    tile.second()[row] = (tile.use()[row] & row_use::second) != 0 ? second : no_neuron;
  }
};

}  // namespace somatlas::gpu
