// The regions of an atlas as a table: a row a region, continents first.
#include <array>
#include <cmath>
#include <cstdio>
#include <unordered_map>
#include <vector>

#include "pipeline/lift.h"
#include "store/store_error.h"
#include "tools/export/atlas_export.h"
#include "tools/export/delimited.h"

namespace somatlas::exports {
namespace {

constexpr std::array<const char*, store::region_levels> level_names{"region", "area", "continent"};

std::uint64_t sum(const std::vector<std::uint32_t>& column) {
  std::uint64_t total = 0;
  for (const std::uint32_t value : column) {
    total += value;
  }
  return total;
}

}  // namespace

std::string decimals(double value, int places) {
  // printf is used with the program's own "C" locale, which it never changes.
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", places, value);
  return text.data();
}

std::string mean_year_text(std::uint64_t year_sum, std::uint64_t year_count) {
  return year_count == 0
             ? ""
             : decimals(static_cast<double>(year_sum) / static_cast<double>(year_count), 1);
}

Corpus::Corpus(store::Atlas& atlas, const store::AtlasCells& cells, std::uint64_t training_articles)
    : training_articles_(training_articles),
      dated_(sum(cells.year_count)),
      recent_(sum(cells.recent_count)) {
  for (store::AtlasDescriptor& descriptor : atlas.descriptors()) {
    const store::DescriptorCode code = descriptor.code;
    descriptors_.emplace(code, std::move(descriptor));
  }
}

std::string Corpus::name(store::DescriptorCode code) const {
  const auto found = descriptors_.find(code);
  return found == descriptors_.end() || found->second.name.empty() ? store::descriptor_ui(code)
                                                                   : found->second.name;
}

const store::AtlasDescriptor* Corpus::find(store::DescriptorCode code) const {
  const auto found = descriptors_.find(code);
  return found == descriptors_.end() ? nullptr : &found->second;
}

double Corpus::lift(store::DescriptorCode code, double share) const {
  const auto found = descriptors_.find(code);
  return found == descriptors_.end() || found->second.articles == 0
             ? 0
             : share * static_cast<double>(training_articles_) /
                   static_cast<double>(found->second.articles);
}

double Corpus::growth(std::uint64_t recent, std::uint64_t dated) const {
  return pipeline::growth(recent, dated, recent_, dated_);
}

std::string Corpus::growth_text(std::uint64_t recent, std::uint64_t dated) const {
  return dated == 0 ? "" : decimals(growth(recent, dated), 3);
}

std::optional<std::uint64_t> write_regions(store::Atlas& atlas, NewFile& file,
                                           std::stop_token stop) {
  const pipeline::AtlasMeta meta = pipeline::read_atlas_meta(atlas);
  const std::uint32_t side = meta.settings.side;
  const store::AtlasCells cells = checked_cells(atlas, side);
  const Corpus corpus(atlas, cells, meta.training_articles);
  std::vector<std::string> fields{"level",  "number", "parent", "name",      "row",
                                  "column", "cells",  "hits",   "mean_year", "growth"};
  for (std::size_t i = 1; i <= store::leading_per_region; ++i) {
    fields.push_back("descriptor" + std::to_string(i));
    fields.push_back("lift" + std::to_string(i));
  }
  file.write(csv_line(fields));
  std::uint64_t rows = 0;
  for (std::size_t level = store::region_levels; level-- > 0;) {
    for (std::size_t number = 0; number < cells.levels[level].size(); ++number) {
      if (stop.stop_requested()) {
        return std::nullopt;
      }
      const store::AtlasRegion& region = cells.levels[level][number];
      fields = {level_names[level],
                std::to_string(number),
                level + 1 == store::region_levels ? "" : std::to_string(region.parent),
                region.name,
                std::to_string(region.centre / side),
                std::to_string(region.centre % side),
                std::to_string(region.cells),
                std::to_string(region.hits),
                mean_year_text(region.year_sum, region.year_count),
                corpus.growth_text(region.recent_count, region.year_count)};
      for (std::size_t k = 0; k < store::leading_per_region; ++k) {
        const bool there = k < region.leading.size() && region.hits != 0;
        fields.push_back(there ? corpus.name(region.leading[k].code) : "");
        fields.push_back(
            there ? decimals(corpus.lift(region.leading[k].code,
                                         static_cast<double>(region.leading[k].articles) /
                                             static_cast<double>(region.hits)),
                             2)
                  : "");
      }
      file.write(csv_line(fields));
      ++rows;
    }
  }
  return rows;
}

std::optional<std::uint64_t> export_regions(store::Atlas& atlas, const std::string& path,
                                            Existing existing, std::stop_token stop) {
  PendingFile output(path, existing);
  const auto rows = write_regions(atlas, output.file(), std::move(stop));
  if (rows) {
    output.commit();
  }
  return rows;
}

}  // namespace somatlas::exports
