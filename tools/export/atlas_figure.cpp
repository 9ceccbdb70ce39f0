// The figures of an atlas: its layers, with the names of regions and what the atlas says of itself.
// Always holds: a name on the map is one that `map` and the tables give too.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "pipeline/mesh_topics.h"
#include "store/store_error.h"
#include "tools/export/atlas_export.h"
#include "tools/export/category_colours.h"
#include "tools/export/map_picture.h"
#include "tools/export/png.h"
#include "tools/lookup/descriptor_names.h"

namespace somatlas::exports {
namespace {

constexpr double distance_one = 1 << 20;
constexpr double weight_one = 16383;
constexpr const char* labels_explained = "names: the regions with most articles";
constexpr const char* plane_labels_explained = "names: the regions where it weighs most";
constexpr std::size_t names_of_regions = 120;  // where the regions are what is shown
constexpr std::size_t names_of_others = 24;
constexpr std::uint32_t smallest_named_side = 8;

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

const store::AtlasDescriptor& find_descriptor(
    const std::vector<store::AtlasDescriptor>& descriptors, const std::string& wanted,
    store::Atlas& atlas) {
  const lookup::DescriptorNames names(descriptors, atlas.entry_words());
  if (const store::AtlasDescriptor* const found = names.find(wanted)) {
    return *found;
  }
  throw store::StoreError(atlas.directory() + ": has no descriptor \"" + wanted +
                          "\" (give the UI or the name of a MeSH heading)" +
                          names.proposal(wanted));
}

class FigureMaker {
 public:
  explicit FigureMaker(store::Atlas& atlas)
      : atlas_(atlas),
        meta_(pipeline::read_atlas_meta(atlas)),
        cells_(checked_cells(atlas, meta_.settings.side)),
        descriptors_(atlas.descriptors()) {
    figure_.side = meta_.settings.side;
    figure_.value.resize(cells_.hits.size());
    figure_.state.resize(cells_.hits.size(), CellState::valued);
    for (std::size_t i = 0; i < cells_.vacant.size(); ++i) {
      if (cells_.vacant[i] != 0) {
        figure_.state[i] = CellState::vacant;
      }
    }
  }

  MapFigure make(const FigureRequest& request) {
    switch (request.layer) {
      case Layer::hits:
        show_hits();
        break;
      case Layer::umatrix:
        show_umatrix();
        break;
      case Layer::years:
        show_years();
        break;
      case Layer::growth:
        show_growth();
        break;
      case Layer::regions:
        show_regions();
        break;
      case Layer::plane:
        show_plane(request.descriptor);
        break;
    }
    const bool regions = request.layer == Layer::regions;
    const std::size_t usual = regions ? names_of_regions : names_of_others;
    figure_.label_count =
        request.label_count.value_or(figure_.side >= smallest_named_side ? usual : 0);
    const bool plane = request.layer == Layer::plane;
    if (regions) {
      add_names_of_all_levels();
    } else {
      add_names(plane ? regions_by_weight() : cells_.levels[0]);
    }
    if (figure_.label_count > 0 && !regions) {
      figure_.subtitle += std::string("; ") + (plane ? plane_labels_explained : labels_explained);
    }
    figure_.overlay = request.overlay;
    figure_.overlay_text = request.overlay_text;
    if (!request.title.empty()) {
      figure_.title = request.title;
    }
    if (!request.caption.empty()) {
      figure_.caption.push_back(request.caption);
    }
    add_caption();
    return std::move(figure_);
  }

 private:
  void show_hits() {
    figure_.title = "Articles per cell";
    figure_.subtitle = "training articles placed in each cell";
    figure_.quantity = "articles (logarithmic)";
    figure_.spacing = Spacing::logarithmic;
    figure_.whole_numbers = true;
    std::copy(cells_.hits.begin(), cells_.hits.end(), figure_.value.begin());
    // One article must not look like none.
    for (std::size_t i = 0; i < cells_.hits.size(); ++i) {
      if (cells_.hits[i] == 0) {
        has_no_value(i, "no training article");
      }
    }
    set_range(1);
  }

  void show_umatrix() {
    figure_.title = "U-matrix";
    figure_.subtitle = "how far each cell is from its neighbours";
    figure_.quantity = "mean distance to the neighbours (high: a border between regions)";
    std::transform(cells_.height.begin(), cells_.height.end(), figure_.value.begin(),
                   [](std::uint32_t height) { return height / distance_one; });
    set_range(std::nullopt);
  }

  void require_years(const std::string& layer) const {
    if (std::all_of(cells_.year_count.begin(), cells_.year_count.end(),
                    [](std::uint32_t dated) { return dated == 0; })) {
      throw store::StoreError(atlas_.directory() +
                              ": no article in it has a year, so there is no layer " + layer);
    }
  }

  [[nodiscard]] std::string dated() const {
    const auto count =
        std::accumulate(cells_.year_count.begin(), cells_.year_count.end(), std::uint64_t{0});
    return grouped(count) + " of " + grouped(meta_.placed_articles) + " articles have a year";
  }

  void show_years() {
    require_years("years");
    figure_.title = "Mean publication year";
    figure_.subtitle = "of the articles placed in each cell; " + dated();
    figure_.quantity = "year";
    figure_.whole_numbers = true;
    for (std::size_t i = 0; i < cells_.year_count.size(); ++i) {
      if (cells_.year_count[i] != 0) {
        figure_.value[i] =
            static_cast<double>(cells_.year_sum[i]) / static_cast<double>(cells_.year_count[i]);
      } else {
        has_no_value(i, "no dated article");
      }
    }
    set_range(std::nullopt);
  }

  void show_growth() {
    require_years("growth");
    const Corpus corpus(atlas_, cells_, meta_.training_articles);
    figure_.title = "Growth";
    figure_.subtitle = "share of the articles of " + std::to_string(cells_.recent_from) +
                       " and later, against that of all articles; " + dated();
    figure_.quantity = "1: as many as expected; 2: twice as many (few articles count little)";
    figure_.spacing = Spacing::logarithmic;
    for (std::size_t i = 0; i < cells_.year_count.size(); ++i) {
      figure_.value[i] = corpus.growth(cells_.recent_count[i], cells_.year_count[i]);
      if (cells_.year_count[i] == 0) {
        has_no_value(i, "no dated article");
      }
    }
    set_range(0);
  }

  // Cells have the colour of their region's first topic's category.
  void show_regions() {
    const Corpus corpus(atlas_, cells_, meta_.training_articles);
    figure_.title = "Regions";
    const auto counted = [&](std::size_t level, const std::string& one) {
      const std::size_t count = cells_.levels[level].size();
      return grouped(count) + " " + one + (count == 1 ? "" : "s");
    };
    figure_.subtitle = counted(0, "region") + " in " + counted(1, "area") + " of " +
                       counted(2, "continent") +
                       "; colours by the MeSH category of a region's first topic";
    std::vector<char> category;
    for (const store::AtlasRegion& region : cells_.levels[0]) {
      const store::AtlasDescriptor* const first =
          region.leading.empty() ? nullptr : corpus.find(region.leading[0].code);
      category.push_back(
          first == nullptr ? '-' : pipeline::mesh_category(first->code, first->tree_numbers));
    }
    for (const std::uint32_t region : cells_.region) {
      figure_.colour.push_back(category_colour(category[region]));
    }
    for (const char letter : category_letters) {
      if (std::find(category.begin(), category.end(), letter) != category.end()) {
        figure_.legend.push_back({category_colour(letter), std::string(category_name(letter))});
      }
    }
    std::vector<std::uint32_t> region = cells_.region;
    for (std::size_t level = 0; level < store::region_levels; ++level) {
      figure_.parts.push_back(region);
      for (std::uint32_t& number : region) {
        number = cells_.levels[level][number].parent;
      }
    }
  }

  // By the mean of the plane that is shown.
  [[nodiscard]] std::vector<store::AtlasRegion> regions_by_weight() const {
    std::vector<double> sum(cells_.levels[0].size());
    for (std::size_t i = 0; i < cells_.region.size(); ++i) {
      sum[cells_.region[i]] += figure_.value[i];
    }
    std::vector<std::size_t> order(sum.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t number) {
      return sum[number] / static_cast<double>(cells_.levels[0][number].cells);
    });
    std::vector<store::AtlasRegion> regions;
    for (const std::size_t number : order) {
      regions.push_back(cells_.levels[0][number]);
    }
    return regions;
  }

  void add_names(const std::vector<store::AtlasRegion>& regions) {
    for (const store::AtlasRegion& region : regions) {
      figure_.labels.push_back({region.centre, region.name, LabelKind::place});
    }
  }

  // Regions are numbered by falling hits. Continents come first, so that theirs find room, and in
  // capitals.
  void add_names_of_all_levels() {
    const std::array<LabelKind, store::region_levels> kinds{LabelKind::region, LabelKind::area,
                                                            LabelKind::continent};
    for (std::size_t level = store::region_levels; level-- > 0;) {
      for (const store::AtlasRegion& region : cells_.levels[level]) {
        std::string name = region.name;
        if (kinds[level] == LabelKind::continent) {
          std::transform(name.begin(), name.end(), name.begin(), [](char c) {
            return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
          });
        }
        figure_.labels.push_back({region.centre, std::move(name), kinds[level]});
      }
    }
  }

  // Of a cell with weights: a vacant one says more.
  void has_no_value(std::size_t neuron, const char* why) {
    if (figure_.state[neuron] == CellState::valued) {
      figure_.state[neuron] = CellState::no_value;
      figure_.no_value = why;
    }
  }

  void show_plane(const std::string& wanted) {
    const store::AtlasDescriptor& descriptor = find_descriptor(descriptors_, wanted, atlas_);
    const auto plane = atlas_.plane(descriptor.code);
    if (!plane || plane->size() != figure_.value.size()) {
      throw store::StoreError(atlas_.directory() + ": the plane of " +
                              store::descriptor_ui(descriptor.code) +
                              " is missing or cut; verify the atlas and train it again");
    }
    const std::string ui = store::descriptor_ui(descriptor.code);
    figure_.title = descriptor.name.empty() ? ui : descriptor.name;
    figure_.subtitle = ui + ", on " + grouped(descriptor.articles) + " training articles";
    if (meta_.training_articles != 0) {
      figure_.subtitle += " (" +
                          decimals(100.0 * static_cast<double>(descriptor.articles) /
                                       static_cast<double>(meta_.training_articles),
                                   2) +
                          " %)";
    }
    figure_.quantity = "weight: share of the articles around a cell that carry it";
    std::transform(plane->begin(), plane->end(), figure_.value.begin(),
                   [](std::uint16_t weight) { return weight / weight_one; });
    set_range(0);
  }

  // The bar's ends: the given low end or the least value, and the greatest value.
  void set_range(std::optional<double> low) {
    std::optional<double> least = low;
    std::optional<double> greatest = low;
    for (std::size_t i = 0; i < figure_.value.size(); ++i) {
      if (figure_.state[i] == CellState::valued) {
        const double value = figure_.value[i];
        least = low ? low : std::min(least.value_or(value), value);
        greatest = std::max(greatest.value_or(value), value);
      }
    }
    figure_.low = least.value_or(0);
    figure_.high = greatest.value_or(0);
  }

  [[nodiscard]] std::string epochs() const {
    return std::to_string(meta_.epochs) + " epochs" +
           (meta_.earlier_epochs == 0
                ? ""
                : " after " + std::to_string(meta_.earlier_epochs) + " of earlier trainings");
  }

  void add_caption() {
    const pipeline::Quality& quality = meta_.quality;
    const std::string side = std::to_string(figure_.side);
    // recent_from begins the corpus's last five years.
    figure_.caption.push_back(
        "corpus: " + grouped(meta_.placed_articles) + " articles with a place" +
        (cells_.recent_from == 0 ? "" : ", years to " + std::to_string(cells_.recent_from + 4)) +
        "; store state " + meta_.store_state);
    const bool imported = meta_.settings.start == pipeline::Start::imported && meta_.epochs == 0;
    const std::string with = grouped(meta_.descriptors) + " descriptors; ";
    figure_.caption.push_back("map: " + side + " x " + side + " cells " +
                              (imported ? "of another program with " + with + "imported"
                                        : "trained on " + grouped(meta_.training_articles) +
                                              " articles with " + with + "radius " +
                                              std::to_string(meta_.radius) + "; " + epochs() +
                                              "; seed " + std::to_string(meta_.settings.seed)) +
                              "; somatlas");
    std::string line = "quantization error " + decimals(quality.qe, 4);
    if (quality.heldout_qe) {
      line += " (held-out " + decimals(*quality.heldout_qe, 4) + ")";
    }
    if (quality.topographic_error) {
      line += "; topographic error " + decimals(100 * *quality.topographic_error, 2) + " %";
    }
    figure_.caption.push_back(line);
  }

  store::Atlas& atlas_;
  pipeline::AtlasMeta meta_;
  store::AtlasCells cells_;
  std::vector<store::AtlasDescriptor> descriptors_;
  MapFigure figure_;
};

}  // namespace

MapFigure figure_of(store::Atlas& atlas, const FigureRequest& request) {
  return FigureMaker(atlas).make(request);
}

bool export_figure(store::Atlas& atlas, const FigureRequest& request, const std::string& path,
                   Existing existing, std::stop_token stop) {
  PendingFile output(path, existing);
  const MapFigure figure = figure_of(atlas, request);
  std::string description = figure.subtitle;
  if (!figure.overlay_text.empty()) {
    description += "\n" + figure.overlay_text;
  }
  for (const std::string& line : figure.caption) {
    description += "\n" + line;
  }
  if (request.form == FigureForm::svg) {
    output.file().write(svg_of_map(figure, description));
  } else {
    const std::array<PngText, 3> texts{PngText{"Title", figure.title},
                                       PngText{"Description", description},
                                       PngText{"Software", "somatlas"}};
    output.file().write(encode_png(draw_map(figure, request.scale), texts));
  }
  if (stop.stop_requested()) {
    return false;
  }
  output.commit();
  return true;
}

}  // namespace somatlas::exports
