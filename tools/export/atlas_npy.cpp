// The NPY form of an atlas: a directory with the planes as one array and tables beside it.
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "store/store_error.h"
#include "tools/export/atlas_export.h"
#include "tools/export/codebook_text.h"
#include "tools/export/decimal_text.h"
#include "tools/export/delimited.h"
#include "tools/export/npy.h"

namespace somatlas::exports {
namespace {

constexpr std::array<std::string_view, 7> file_names{"planes.npy",  "descriptors.tsv", "cells.npy",
                                                     "regions.csv", "assignment.tsv",  "places.tsv",
                                                     "meta.json"};
constexpr std::uint32_t no_neuron = 0xFFFF'FFFF;

class NpyExport {
 public:
  NpyExport(store::Atlas& atlas, PendingDirectory& directory, std::stop_token stop)
      : atlas_(atlas),
        directory_(directory),
        stop_(std::move(stop)),
        meta_(pipeline::read_atlas_meta(atlas)),
        side_(meta_.settings.side) {}

  std::optional<NpySummary> write() {
    if (!write_planes() || !write_cells() || !write_assignment() || !write_places()) {
      return std::nullopt;
    }
    write_meta();
    return summary_;
  }

 private:
  NewFile open(std::string_view name) {
    return NewFile(directory_.path_of(name), directory_.shown(name));
  }

  bool write_planes() {
    const std::vector<store::AtlasDescriptor> descriptors = atlas_.descriptors();
    NewFile planes = open("planes.npy");
    NewFile table = open("descriptors.tsv");
    const std::array<std::uint64_t, 3> shape{descriptors.size(), side_, side_};
    NpyWriter writer(planes, shape);
    table.write(descriptor_heading());
    for (const store::AtlasDescriptor& descriptor : descriptors) {
      if (stop_.stop_requested()) {
        return false;
      }
      writer.append(checked_plane(atlas_, descriptor.code, side_));
      table.write(descriptor_line(descriptor));
    }
    writer.finish();
    planes.close();
    table.close();
    summary_.descriptors = descriptors.size();
    return true;
  }

  bool write_cells() {
    const store::AtlasCells cells = checked_cells(atlas_, side_);
    NewFile file = open("cells.npy");
    const std::array<std::uint64_t, 3> shape{3 + store::region_levels, side_, side_};
    NpyWriter writer(file, shape, NpyType::uint32);
    writer.append(cells.hits);
    writer.append(cells.height);
    writer.append(std::vector<std::uint32_t>(cells.vacant.begin(), cells.vacant.end()));
    std::vector<std::uint32_t> region = cells.region;
    for (const std::vector<store::AtlasRegion>& level : cells.levels) {
      writer.append(region);
      for (std::uint32_t& number : region) {
        number = level[number].parent;
      }
    }
    writer.finish();
    file.close();
    NewFile table = open("regions.csv");
    const bool complete = write_regions(atlas_, table, stop_).has_value();
    table.close();
    return complete;
  }

  bool write_assignment() {
    NewFile file = open("assignment.tsv");
    file.write(tsv_line({"pmid", "row", "column"}));
    for (const std::uint32_t range : atlas_.assignment_ranges()) {
      if (stop_.stop_requested()) {
        return false;
      }
      const auto shard = atlas_.assignment(range);
      if (shard && shard->low.size() != shard->neuron.size()) {
        throw store::StoreError(atlas_.directory() +
                                ": its assignment names no articles; train it to its end");
      }
      for (std::size_t i = 0; shard && i < shard->low.size(); ++i) {
        file.write(tsv_line({pmid_text(range, shard->low[i]), row_text(shard->neuron[i]),
                             column_text(shard->neuron[i])}));
        ++summary_.assigned;
      }
    }
    file.close();
    return true;
  }

  bool write_places() {
    NewFile file = open("places.tsv");
    file.write(tsv_line({"pmid", "row", "column", "distance"}));
    for (const std::uint32_t range : atlas_.place_ranges()) {
      if (stop_.stop_requested()) {
        return false;
      }
      const auto shard = atlas_.places(range);
      for (std::size_t i = 0; shard && i < shard->low.size(); ++i) {
        if (shard->neuron[i] == no_neuron) {
          ++summary_.unplaced;
          continue;
        }
        file.write(tsv_line({pmid_text(range, shard->low[i]), row_text(shard->neuron[i]),
                             column_text(shard->neuron[i]), distance_text(shard->distance[i])}));
        ++summary_.placed;
      }
    }
    file.close();
    return true;
  }

  void write_meta() {
    using nlohmann::ordered_json;
    const auto figure = [](const std::optional<double>& value) {
      return value ? ordered_json(*value) : ordered_json(nullptr);
    };
    const pipeline::Quality& quality = meta_.quality;
    ordered_json json;
    json["side"] = side_;
    json["radius"] = meta_.radius;
    json["epochs"] = meta_.epochs;
    json["earlier_epochs"] = meta_.earlier_epochs;
    json["seed"] = meta_.settings.seed;
    json["counts"] = {{"descriptors", summary_.descriptors},
                      {"training_articles", summary_.assigned},
                      {"heldout_articles", meta_.heldout_articles},
                      {"placed_articles", summary_.placed},
                      {"unplaced_articles", summary_.unplaced}};
    json["quality"] = {{"qe", quality.qe},
                       {"heldout_qe", figure(quality.heldout_qe)},
                       {"cosine_qe", figure(quality.cosine_qe)},
                       {"topographic_error", figure(quality.topographic_error)},
                       {"vacant_share", quality.vacant_share},
                       {"unhit_share", quality.unhit_share}};
    json["store_id"] = meta_.store_id;
    json["store_state"] = meta_.store_state;
    json["planes"] = {
        {"file", "planes.npy"}, {"axes", {"descriptor", "row", "column"}}, {"weight_one", 16383}};
    json["cells"] = {{"file", "cells.npy"},
                     {"axes", {"layer", "row", "column"}},
                     {"layers", {"hits", "umatrix", "vacant", "region", "area", "continent"}},
                     {"umatrix_one", 1U << 20}};
    json["settings"] = {{"init", pipeline::start_name(meta_.settings.start)},
                        {"holdout", meta_.settings.holdout},
                        {"min_descriptors", meta_.settings.min_descriptors},
                        {"radius_end", meta_.settings.radius_end},
                        {"epoch_limit", meta_.settings.epoch_limit}};
    NewFile file = open("meta.json");
    file.write(json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
    file.close();
  }

  static std::string pmid_text(std::uint32_t range, std::uint16_t low) {
    return std::to_string(std::uint64_t{range} * store::pmids_per_shard + low);
  }
  [[nodiscard]] std::string row_text(std::uint32_t neuron) const {
    return std::to_string(neuron / side_);
  }
  [[nodiscard]] std::string column_text(std::uint32_t neuron) const {
    return std::to_string(neuron % side_);
  }

  store::Atlas& atlas_;
  PendingDirectory& directory_;
  std::stop_token stop_;
  pipeline::AtlasMeta meta_;
  std::uint32_t side_;
  NpySummary summary_;
};

}  // namespace

std::string descriptor_heading() {
  return tsv_line({"ui", "name", "articles", "tree_numbers"});
}

std::string descriptor_line(const store::AtlasDescriptor& descriptor) {
  std::string trees;
  for (const std::string& tree : descriptor.tree_numbers) {
    trees += (trees.empty() ? "" : ";") + tree;
  }
  return tsv_line({store::descriptor_ui(descriptor.code), descriptor.name,
                   std::to_string(descriptor.articles), trees});
}

std::optional<NpySummary> export_npy(store::Atlas& atlas, const std::string& path,
                                     Existing existing, std::stop_token stop) {
  PendingDirectory directory(path, file_names, existing);
  const auto summary = NpyExport(atlas, directory, std::move(stop)).write();
  if (summary) {
    directory.commit();
  }
  return summary;
}

}  // namespace somatlas::exports
