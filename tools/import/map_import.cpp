#include "tools/import/map_import.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "gpu/contract.h"
#include "ingest/input_error.h"
#include "tools/import/feature_table.h"
#include "tools/import/text_file.h"
#include "tools/lookup/descriptor_names.h"

namespace somatlas::imports {
namespace {

[[noreturn]] void refuse(const MapInput& input, const std::string& problem) {
  throw ingest::InputError(input.path, 0, problem);
}

CodebookFile read_codebook(const MapInput& input) {
  switch (input.format) {
    case MapFormat::wts:
      return read_wts(input.path);
    case MapFormat::cod:
      return read_cod(input.path);
    case MapFormat::somw:
      return read_somw(input.path);
    default:
      return read_npy(input.path);
  }
}

/// UIs or names, a plane each.
std::vector<std::string> names_of(const MapInput& input, CodebookFile& file) {
  std::vector<std::string> names = std::move(file.names);
  std::string where = "names";
  if (!input.features.empty()) {
    names.clear();
    where = input.features + " names";
    for (const Feature& feature : read_features(input.features)) {
      names.push_back(feature.code ? store::descriptor_ui(*feature.code) : feature.name);
    }
  }
  if (names.size() != file.planes.size()) {
    refuse(input, names.empty() ? "does not say what its " + std::to_string(file.planes.size()) +
                                      " planes are: give --features with a name a line, or the "
                                      "descriptors.tsv of its export"
                                : "has " + std::to_string(file.planes.size()) + " planes, but " +
                                      where + " " + std::to_string(names.size()));
  }
  return names;
}

std::vector<store::DescriptorCode> codes_of(store::Store& store, const MapInput& input,
                                            const std::vector<std::string>& names) {
  std::vector<store::AtlasDescriptor> known;
  for (store::DescriptorEntry& entry : store.descriptors()) {
    known.push_back({entry.code, std::move(entry.name), std::move(entry.tree_numbers), 0});
  }
  const lookup::DescriptorNames lookup(known);
  std::vector<store::DescriptorCode> codes;
  std::unordered_map<store::DescriptorCode, std::size_t> plane_of;
  for (const std::string& name : names) {
    auto code = store::descriptor_code_of(name);
    if (!code) {
      const store::AtlasDescriptor* const found = lookup.find(name);
      if (found == nullptr) {
        refuse(input, "plane " + std::to_string(codes.size() + 1) + " is of " + quoted(name) +
                          ", which is no UI or name of a descriptor of " + store.directory() +
                          lookup.proposal(name));
      }
      code = found->code;
    }
    const auto [first, is_new] = plane_of.emplace(*code, codes.size());
    if (!is_new) {
      refuse(input, "planes " + std::to_string(first->second + 1) + " and " +
                        std::to_string(codes.size() + 1) + " are both of " + quoted(name));
    }
    codes.push_back(*code);
  }
  return codes;
}

void require_scores(const MapInput& input, const pipeline::Codebook& codebook) {
  std::vector<std::uint64_t> square_sum(std::size_t{codebook.side} * codebook.side);
  for (const std::vector<std::uint16_t>& plane : codebook.planes) {
    for (std::size_t i = 0; i < plane.size(); ++i) {
      square_sum[i] += std::uint64_t{plane[i]} * plane[i];
    }
  }
  const auto most = std::max_element(square_sum.begin(), square_sum.end());
  if (*most == 0) {
    refuse(input, "all its weights are 0, so that nothing has a place");
  }
  if (*most > gpu::max_square_sum) {
    const auto neuron = static_cast<std::size_t>(most - square_sum.begin());
    refuse(input, "the squares of the weights of the neuron in row " +
                      std::to_string(neuron / codebook.side) + ", column " +
                      std::to_string(neuron % codebook.side) +
                      " (from 0) sum to more than 2047, which no map of binary rows comes to");
  }
}

/// A key's article.
class Keys {
 public:
  explicit Keys(const MapInput& input) : input_(input) {
    if (input.articles.empty()) {
      return;
    }
    constexpr std::size_t longest_line = 4096;
    TextFile table(input.articles, longest_line, "give one article a line");
    std::string_view line;
    if (!table.next(line) || line != "pmid\tversion\tyear") {
      table.refuse("the table does not begin with the columns pmid, version, year");
    }
    while (table.next(line)) {
      const auto pmid = number_of<std::uint32_t>(fields_of(line)[0]);
      if (!pmid || (!pmids_.empty() && pmids_.back() >= *pmid)) {
        table.refuse("this is no PMID above the one before");
      }
      pmids_.push_back(*pmid);
    }
  }

  [[nodiscard]] std::uint32_t pmid(std::uint32_t key) const {
    if (!input_.articles.empty()) {
      if (key >= pmids_.size()) {
        refuse(input_, "the key " + std::to_string(key) + " is past the " +
                           std::to_string(pmids_.size()) + " rows of " + input_.articles);
      }
      return pmids_[key];
    }
    const std::uint64_t number = std::uint64_t{key} + input_.first_number.value_or(0);
    if (number > std::numeric_limits<std::uint32_t>::max()) {
      refuse(input_, "the key " + std::to_string(key) + " and --first-number pass 2^32 - 1");
    }
    return static_cast<std::uint32_t>(number);
  }

 private:
  const MapInput& input_;
  std::vector<std::uint32_t> pmids_;  // by key
};

}  // namespace

MapOfStore read_map(store::Store& store, const MapInput& input) {
  MapOfStore map;
  std::uint32_t side = 0;
  if (input.format == MapFormat::bm) {
    const BestMatchFile file = read_bm(input.path, input.order);
    const Keys keys(input);
    map.matches.side = side = file.side;
    map.of_somoclu = file.of_somoclu;
    for (const BestMatchFile::Match& match : file.matches) {
      map.matches.pmid.push_back(keys.pmid(match.key));
      map.matches.neuron.push_back(match.neuron);
    }
  } else {
    CodebookFile file = read_codebook(input);
    map.codebook.codes = codes_of(store, input, names_of(input, file));
    map.codebook.side = side = file.side;
    map.codebook.planes = std::move(file.planes);
    require_scores(input, map.codebook);
  }
  if (!input.heights.empty()) {
    HeightsFile file = read_umx(input.heights);
    if (file.side != side) {
      throw ingest::InputError(input.heights, 0,
                               "has a side of " + std::to_string(file.side) + " and " + input.path +
                                   " one of " + std::to_string(side));
    }
    map.heights = std::move(file.heights);
  }
  return map;
}

}  // namespace somatlas::imports
