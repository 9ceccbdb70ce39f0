// A map that another program trained, made an atlas of: its codebook as it is, or the codebook that
// its places give. Always holds: the articles are placed by the search that a training ends with,
// so that what maps, goes on or draws sees no difference.
#include <algorithm>
#include <utility>

#include "pipeline/trainer.h"

namespace somatlas::pipeline {

std::optional<AtlasMeta> Trainer::adopt() {
  describe_run();
  assignment_.assign(input_.training.training, gpu::no_neuron);
  radius_ = options_.settings.radius_end;
  const bool done = options_.imported.codebook != nullptr
                        ? adopt_codebook(*options_.imported.codebook)
                        : adopt_matches(*options_.imported.matches);
  if (!done) {
    return std::nullopt;
  }
  write_assignment(work_, input_.training, assignment_);
  return finish();
}

bool Trainer::adopt_codebook(const Codebook& codebook) {
  const std::size_t neurons = backend_.shape().neurons();
  std::vector<const std::vector<std::uint16_t>*> planes(input_.index.size());
  std::vector<std::uint8_t> vacant(neurons, 1);
  for (std::size_t i = 0; i < codebook.codes.size(); ++i) {
    planes[input_.index.id(codebook.codes[i])] = &codebook.planes[i];
    for (std::size_t neuron = 0; neuron < neurons; ++neuron) {
      vacant[neuron] = vacant[neuron] != 0 && codebook.planes[i][neuron] == 0 ? 1 : 0;
    }
  }
  backend_.load(
      [&](gpu::DescriptorId first, std::span<std::uint16_t> out) {
        for (std::size_t i = 0; i * neurons < out.size(); ++i) {
          std::copy(planes[first + i]->begin(), planes[first + i]->end(),
                    out.begin() + static_cast<std::ptrdiff_t>(i * neurons));
        }
      },
      vacant);
  cells_ = backend_.read_cells();
  if (!place_others()) {
    return false;
  }
  cells_.hits.assign(neurons, 0);
  for (const gpu::Neuron neuron : assignment_) {
    ++cells_.hits[neuron];
  }
  return true;
}

/// Articles that the file does not name, or without a descriptor that it knows, come to where the
/// others' codebook has them before that is made anew with all.
bool Trainer::adopt_matches(const BestMatches& matches) {
  const auto neuron_of = [&](std::uint32_t pmid) {
    const auto found = std::lower_bound(matches.pmid.begin(), matches.pmid.end(), pmid);
    return found == matches.pmid.end() || *found != pmid
               ? gpu::no_neuron
               : matches.neuron[static_cast<std::size_t>(found - matches.pmid.begin())];
  };
  TilePass::Body body;
  body.work = gpu::Work::accumulate;
  body.stop = options_.stop;
  body.order = [&](const PassRow& row) {
    const gpu::Neuron neuron = row.training_row != no_row ? neuron_of(row.pmid) : gpu::no_neuron;
    if (row.training_row != no_row) {
      assignment_[row.training_row] = neuron;
    }
    return RowOrder{neuron != gpu::no_neuron, gpu::row_use::trains, neuron};
  };
  backend_.clear_statistics();
  if (!pass_->run(body)) {
    return false;
  }
  const auto missing = static_cast<std::uint64_t>(
      std::count(assignment_.begin(), assignment_.end(), gpu::no_neuron));
  if (missing == assignment_.size()) {
    throw TrainingError(store_.directory() +
                        ": no training article has a number that the best matches name; their "
                        "keys are PMIDs, or the numbers that import gave to rows");
  }
  update(radius_);
  if (missing == 0) {
    return true;
  }
  observer_.note(std::to_string(missing) + " of " + std::to_string(assignment_.size()) +
                 " training articles are not among the best matches: they were searched for");
  if (!place_others() || !rebuild_statistics()) {
    return false;
  }
  update(radius_);
  return true;
}

/// Searches for every training article that has no neuron yet.
bool Trainer::place_others() {
  TilePass::Body body;
  body.work = gpu::Work::search;
  body.stop = options_.stop;
  body.order = [&](const PassRow& row) {
    const bool wanted =
        row.training_row != no_row && assignment_[row.training_row] == gpu::no_neuron;
    return RowOrder{wanted, gpu::row_use::none, gpu::no_neuron};
  };
  // The rows are those training articles of the tile that have no place, in their order.
  body.consume = [&](const PassTile& tile) {
    std::uint64_t training_row = tile.rows->first_training_row;
    for (const gpu::Neuron bmu : std::as_const(*tile.tile).bmu()) {
      while (assignment_[training_row] != gpu::no_neuron) {
        ++training_row;
      }
      assignment_[training_row++] = bmu;
    }
  };
  body.progress = progress(input_.training.rows);
  return pass_->run(body);
}

std::vector<gpu::DescriptorId> Trainer::ids_with_planes() const {
  std::vector<gpu::DescriptorId> ids;
  for (gpu::DescriptorId id = 0; id < input_.index.size(); ++id) {
    if (input_.frequencies[id] != 0 || options_.imported.codebook != nullptr) {
      ids.push_back(id);
    }
  }
  return ids;
}

}  // namespace somatlas::pipeline
