// The forms of Databionic ESOM Tools and somoclu: heights, weights, best matches.
#include "pipeline/atlas_meta.h"
#include "tools/export/atlas_export.h"
#include "tools/export/codebook_text.h"
#include "tools/export/decimal_text.h"
#include "tools/export/peer_formats.h"

namespace somatlas::exports {
namespace {

constexpr std::uint32_t no_neuron = 0xFFFF'FFFF;

std::string grid_line(std::uint32_t side) {
  return "% " + std::to_string(side) + " " + std::to_string(side) + "\n";
}

}  // namespace

std::optional<std::uint64_t> export_umx(store::Atlas& atlas, const Target& target) {
  const std::uint32_t side = pipeline::read_atlas_meta(atlas).settings.side;
  const store::AtlasCells cells = checked_cells(atlas, side);
  PendingFile output(target.path, target.existing);
  output.file().write(grid_line(side));
  for (std::size_t i = 0; i < cells.height.size(); ++i) {
    if (target.stop.stop_requested()) {
      return std::nullopt;
    }
    output.file().write(distance_text(cells.vacant[i] != 0 ? 0 : cells.height[i]) +
                        (i % side + 1 == side ? "\n" : "\t"));
  }
  output.commit();
  return cells.height.size();
}

std::optional<std::uint64_t> export_wts(store::Atlas& atlas, const std::string& descriptors,
                                        const Target& target) {
  const std::uint32_t side = pipeline::read_atlas_meta(atlas).settings.side;
  const std::vector<store::AtlasDescriptor> chosen = chosen_descriptors(atlas, descriptors);
  refuse_absurd_text(atlas, side, chosen.size(), !descriptors.empty());
  PendingFile output(target.path, target.existing);
  std::string line = "#n";
  for (const store::AtlasDescriptor& descriptor : chosen) {
    line += " " + store::descriptor_ui(descriptor.code);
  }
  output.file().write(line + "\n" + grid_line(side) + "% " + std::to_string(chosen.size()) + "\n");
  const bool complete =
      for_each_neuron(atlas, side, chosen, target.stop, [&](std::span<const std::uint16_t> row) {
        line.clear();
        for (const std::uint16_t weight : row) {
          line += line.empty() ? "" : "\t";
          line += weight_text(weight);
        }
        output.file().write(line + "\n");
      });
  if (!complete) {
    return std::nullopt;
  }
  output.commit();
  return chosen.size();
}

std::optional<std::uint64_t> export_bm(store::Atlas& atlas, BestMatchOrder order,
                                       const Target& target) {
  const std::uint32_t side = pipeline::read_atlas_meta(atlas).settings.side;
  PendingFile output(target.path, target.existing);
  // The number of lines stands before them, so places are read twice.
  std::uint64_t placed = 0;
  for (const bool counting : {true, false}) {
    for (const std::uint32_t range : atlas.place_ranges()) {
      if (target.stop.stop_requested()) {
        return std::nullopt;
      }
      const auto shard = atlas.places(range);
      for (std::size_t i = 0; shard && i < shard->low.size(); ++i) {
        const std::uint32_t neuron = shard->neuron[i];
        if (neuron == no_neuron) {
          continue;
        }
        if (counting) {
          ++placed;
          continue;
        }
        const std::string row = std::to_string(neuron / side);
        const std::string column = std::to_string(neuron % side);
        const bool esom = order == BestMatchOrder::esom;
        output.file().write(
            std::to_string(std::uint64_t{range} * store::pmids_per_shard + shard->low[i]) + "\t" +
            (esom ? row : column) + "\t" + (esom ? column : row) + "\n");
      }
    }
    if (counting) {
      // Header lines as each program writes them, by which a reader can tell the orders apart.
      const std::string mark = order == BestMatchOrder::esom ? "% " : "%";
      const std::string edge = std::to_string(side);
      output.file().write(mark + edge + " " + edge + "\n" + mark + std::to_string(placed) + "\n");
    }
  }
  output.commit();
  return placed;
}

}  // namespace somatlas::exports
