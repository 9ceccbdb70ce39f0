// The codebook in the forms of SOM_PAK (text) and of the paper's programs (32-bit floats).
#include <array>
#include <bit>
#include <string_view>

#include "pipeline/atlas_meta.h"
#include "tools/export/atlas_export.h"
#include "tools/export/codebook_text.h"
#include "tools/export/delimited.h"
#include "tools/export/peer_formats.h"

namespace somatlas::exports {
namespace {

// A label ends at a blank, and one that began with # would be taken for a comment.
std::string cod_label(std::string_view name) {
  std::string label = tsv_field(name);
  for (char& c : label) {
    c = c == ' ' || c == '#' ? '_' : c;
  }
  return label;
}

}  // namespace

std::optional<std::uint64_t> export_cod(store::Atlas& atlas, const std::string& descriptors,
                                        const Target& target) {
  const std::uint32_t side = pipeline::read_atlas_meta(atlas).settings.side;
  const std::vector<store::AtlasDescriptor> chosen = chosen_descriptors(atlas, descriptors);
  refuse_absurd_text(atlas, side, chosen.size(), !descriptors.empty());
  const store::AtlasCells cells = checked_cells(atlas, side);
  PendingFile output(target.path, target.existing);
  const std::string extent = std::to_string(side);
  std::string line =
      std::to_string(chosen.size()) + " rect " + extent + " " + extent + " gaussian\n#n";
  for (const store::AtlasDescriptor& descriptor : chosen) {
    line += " " + store::descriptor_ui(descriptor.code);
  }
  output.file().write(line + "\n");
  std::size_t neuron = 0;
  const bool complete =
      for_each_neuron(atlas, side, chosen, target.stop, [&](std::span<const std::uint16_t> row) {
        line.clear();
        for (const std::uint16_t weight : row) {
          line += weight_text(weight) + " ";
        }
        line += cod_label(cells.levels[0].at(cells.region.at(neuron)).name);
        output.file().write(line + "\n");
        ++neuron;
      });
  if (!complete) {
    return std::nullopt;
  }
  output.commit();
  return chosen.size();
}

std::optional<std::uint64_t> export_somw(store::Atlas& atlas, const std::string& descriptors,
                                         const Target& target) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::array<std::string_view, 2> names{"codebook.somw", "descriptors.tsv"};
  const std::uint32_t side = pipeline::read_atlas_meta(atlas).settings.side;
  const std::vector<store::AtlasDescriptor> chosen = chosen_descriptors(atlas, descriptors);
  PendingDirectory directory(target.path, names, target.existing);
  NewFile weights(directory.path_of(names[0]), directory.shown(names[0]));
  NewFile table(directory.path_of(names[1]), directory.shown(names[1]));
  weights.write(std::string_view("SSOMW1\0\0", 8));
  const std::array<std::uint32_t, 4> header{side, side, static_cast<std::uint32_t>(chosen.size()),
                                            0};
  weights.write(std::as_bytes(std::span(header)));
  table.write(descriptor_heading());
  std::vector<float> floats;
  for (const store::AtlasDescriptor& descriptor : chosen) {
    if (target.stop.stop_requested()) {
      return std::nullopt;
    }
    floats.clear();
    for (const std::uint16_t weight : checked_plane(atlas, descriptor.code, side)) {
      floats.push_back(static_cast<float>(weight / 16383.0));
    }
    weights.write(std::as_bytes(std::span(floats)));
    table.write(descriptor_line(descriptor));
  }
  weights.close();
  table.close();
  directory.commit();
  return chosen.size();
}

}  // namespace somatlas::exports
