#include "pipeline/mesh_topics.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace somatlas::pipeline {
namespace {

struct Root {
  const char* tree_number;
  std::uint32_t number;  // of the UI
  unsigned digits;
};

// The roots of the tree, MeSH 2024.
constexpr auto roots = std::to_array<Root>(
    {{"A01", 1829, 6},  {"A02", 9141, 6},  {"A03", 4064, 6},  {"A04", 12137, 6}, {"A05", 14566, 6},
     {"A06", 4703, 6},  {"A07", 2319, 6},  {"A08", 9420, 6},  {"A09", 12679, 6}, {"A10", 14024, 6},
     {"A11", 2477, 6},  {"A12", 5441, 6},  {"A13", 825, 6},   {"A14", 13284, 6}, {"A15", 6424, 6},
     {"A16", 4628, 6},  {"A17", 34582, 6}, {"A18", 18514, 6}, {"A19", 56229, 6}, {"A20", 56226, 6},
     {"A21", 56224, 6}, {"B01", 56890, 6}, {"B02", 1105, 6},  {"B03", 1419, 6},  {"B04", 14780, 6},
     {"B05", 56891, 6}, {"C01", 7239, 6},  {"C04", 9369, 6},  {"C05", 9140, 6},  {"C06", 4066, 6},
     {"C07", 9057, 6},  {"C08", 12140, 6}, {"C09", 10038, 6}, {"C10", 9422, 6},  {"C11", 5128, 6},
     {"C12", 91642, 9}, {"C14", 2318, 6},  {"C15", 6425, 6},  {"C16", 9358, 6},  {"C17", 17437, 6},
     {"C18", 9750, 6},  {"C19", 4700, 6},  {"C20", 7154, 6},  {"C21", 7280, 6},  {"C22", 820, 6},
     {"C23", 13568, 6}, {"C24", 9784, 6},  {"C25", 64419, 6}, {"C26", 14947, 6}, {"D01", 7287, 6},
     {"D02", 9930, 6},  {"D03", 6571, 6},  {"D04", 11083, 6}, {"D05", 46911, 6}, {"D06", 6730, 6},
     {"D08", 45762, 6}, {"D09", 2241, 6},  {"D10", 8055, 6},  {"D12", 602, 6},   {"D13", 9706, 6},
     {"D20", 45424, 6}, {"D23", 1685, 6},  {"D25", 1697, 6},  {"D26", 4364, 6},  {"D27", 20164, 6},
     {"E01", 3933, 6},  {"E02", 13812, 6}, {"E03", 760, 6},   {"E04", 13514, 6}, {"E05", 8919, 6},
     {"E06", 3813, 6},  {"E07", 4864, 6},  {"F01", 1520, 6},  {"F02", 11579, 6}, {"F03", 1523, 6},
     {"F04", 4191, 6},  {"G01", 55585, 6}, {"G02", 55598, 6}, {"G03", 8660, 6},  {"G04", 2468, 6},
     {"G05", 55614, 6}, {"G06", 8827, 6},  {"G07", 10829, 6}, {"G08", 12101, 6}, {"G09", 2943, 6},
     {"G10", 55688, 6}, {"G11", 55687, 6}, {"G12", 55633, 6}, {"G13", 55827, 6}, {"G14", 9799, 6},
     {"G15", 18521, 6}, {"G16", 1686, 6},  {"G17", 55641, 6}, {"H01", 10811, 6}, {"H02", 6281, 6},
     {"I01", 12942, 6}, {"I02", 4493, 6},  {"I03", 6802, 6},  {"J01", 13676, 6}, {"J02", 19602, 6},
     {"J03", 72182, 9}, {"K01", 6809, 6},  {"L01", 7254, 6},  {"M01", 9272, 6},  {"N01", 11154, 6},
     {"N02", 5159, 6},  {"N03", 4472, 6},  {"N04", 6298, 6},  {"N05", 17530, 6}, {"N06", 4778, 6},
     {"V01", 52181, 6}, {"V02", 52180, 6}, {"V03", 52182, 6}, {"V04", 52288, 6}, {"Z01", 5842, 6}});

// Check tags of the subheadings "sex", "age" and "species" (animals are below B01.050), but for
// Pregnancy and Chick Embryo, which are topics as well.
constexpr std::array<std::uint32_t, 15> tags_of_persons{
    5260, 8297,                           // Female, Male
    293,  328,  368,  369,   2648, 2675,  // Adolescent, Adult, Aged, Aged 80, Child, Preschool
    7223, 7231, 8875, 55815,              // Infant, Newborn, Middle Aged, Young Adult
    6801, 818,  9272};                    // Humans, Animals, Persons
constexpr std::array<std::uint32_t, 12> tags_of_species{
    2415,  2417,  2645,
    4285,  6168,  6224,  // Cats, Cattle, Chickens, Dogs, Guinea Pigs, Cricetinae
    6736,  11817, 12756,
    13552, 51379, 51381};  // Horses, Rabbits, Sheep, Swine, Mice, Rats

template <std::size_t count>
bool has(const std::array<std::uint32_t, count>& numbers, store::DescriptorCode code) {
  return store::descriptor_digits(code) == 6 &&
         std::find(numbers.begin(), numbers.end(), store::descriptor_number(code)) != numbers.end();
}

const Root* root_of(store::DescriptorCode code) {
  const auto* const found = std::find_if(roots.begin(), roots.end(), [&](const Root& root) {
    return store::descriptor_code(root.number, root.digits) == code;
  });
  return found == roots.end() ? nullptr : found;
}

constexpr std::string_view animals = "B01.050";
constexpr std::string_view epidemiologic_methods = "E05.318";

// Where, when, how it went and what was counted, of whatever topic: places, kinds of publications,
// history, prognosis and outcome, epidemiologic factors and measures, Time Factors, and attributes
// of diseases, as Chronic Disease.
constexpr std::array<std::string_view, 10> circumstances{
    "Z",           "V",           "K01.400",     "E01.789",     "N04.761.559.590",
    "N05.715.350", "N05.715.360", "N06.850.490", "N06.850.505", "C23.550.291"};
constexpr std::string_view time_factors = "G01.910.857";

bool is_circumstance(std::string_view tree_number) {
  return tree_number == time_factors ||
         std::any_of(circumstances.begin(), circumstances.end(),
                     [&](std::string_view tree) { return tree_number.starts_with(tree); });
}

/// Whether headings there can name a wider part of a map: not chemicals by their structure (D but
/// for D27, their actions), information science, kinds of publications, places.
bool names_areas(std::string_view tree_number) {
  return tree_number.starts_with("D")
             ? tree_number.starts_with("D27")
             : std::string_view("LVZ").find(tree_number[0]) == std::string_view::npos;
}

/// Whether a heading there says little by itself: the two uppermost levels of the tree, as Cells or
/// Biochemical Phenomena, but for organisms, diseases and what psychiatry is about.
bool is_vague(std::string_view tree_number) {
  return std::count(tree_number.begin(), tree_number.end(), '.') < 2 && tree_number[0] != 'B' &&
         tree_number[0] != 'C' && tree_number[0] != 'F';
}

/// Calls visit with a tree number, the one above it, and so on up to the root.
template <typename Visit>
void for_each_above(std::string number, Visit&& visit) {
  for (;;) {
    visit(number);
    const std::size_t dot = number.rfind('.');
    if (dot == std::string::npos) {
      return;
    }
    number.resize(dot);
  }
}

}  // namespace

char mesh_category(store::DescriptorCode code, std::span<const std::string> tree_numbers) {
  if (!tree_numbers.empty() && !tree_numbers.front().empty()) {
    const char letter = tree_numbers.front().front();
    return letter >= 'A' && letter <= 'Z' ? letter : '-';
  }
  const Root* const root = root_of(code);
  return root == nullptr ? '-' : root->tree_number[0];
}

MeshTopics::MeshTopics(std::vector<store::DescriptorEntry> descriptors)
    : descriptors_(std::move(descriptors)) {
  for (std::uint32_t i = 0; i < descriptors_.size(); ++i) {
    place_.emplace(descriptors_[i].code, i);
    for (const std::string& number : tree_numbers(descriptors_[i])) {
      at_.emplace(number, descriptors_[i].code);
    }
  }
  const auto tag_at = [&](const std::string& number, const auto& tags) {
    const auto found = at_.find(number);
    return found != at_.end() && has(tags, found->second);
  };
  for (const store::DescriptorEntry& entry : descriptors_) {
    const std::vector<std::string> numbers = tree_numbers(entry);
    const bool tag = has(tags_of_persons, entry.code) || has(tags_of_species, entry.code);
    // Strains are animals of a tag's species, by one of their places in the tree at least.
    bool strain = false;
    for (const std::string& number : numbers) {
      for_each_above(number, [&](const std::string& above) {
        strain = strain || tag_at(above, tags_of_species);
      });
    }
    strain = strain && std::all_of(numbers.begin(), numbers.end(),
                                   [](const auto& number) { return number.starts_with(animals); });
    const bool method = std::any_of(numbers.begin(), numbers.end(), [](const auto& number) {
      return number.starts_with(epidemiologic_methods);
    });
    const bool circumstance =
        !numbers.empty() && std::all_of(numbers.begin(), numbers.end(), is_circumstance);
    if (tag || strain || method || circumstance) {
      no_topics_.insert(entry.code);
    }
    if (std::any_of(numbers.begin(), numbers.end(), is_vague)) {
      vague_.insert(entry.code);
    }
    if (tag) {
      for (const std::string& number : numbers) {
        for_each_above(number, [&](const std::string& above) {
          if (const auto found = at_.find(above); found != at_.end()) {
            too_wide_.insert(found->second);
          }
        });
      }
    }
  }
}

const store::DescriptorEntry* MeshTopics::find(store::DescriptorCode code) const {
  const auto found = place_.find(code);
  return found == place_.end() ? nullptr : &descriptors_[found->second];
}

bool MeshTopics::is_topic(store::DescriptorCode code) const {
  return !has(tags_of_persons, code) && !has(tags_of_species, code) && !no_topics_.contains(code);
}

std::vector<store::DescriptorCode> MeshTopics::headings(store::DescriptorCode code) const {
  std::vector<store::DescriptorCode> headings;
  if (const store::DescriptorEntry* const entry = find(code); entry != nullptr) {
    for (const std::string& number : tree_numbers(*entry)) {
      if (names_areas(number)) {
        for_each_above(number, [&](const std::string& above) {
          if (const auto found = at_.find(above); found != at_.end()) {
            headings.push_back(found->second);
          }
        });
      }
    }
  }
  std::erase_if(headings, [&](auto heading) {
    return heading == code || vague_.contains(heading) || !is_topic(heading);
  });
  headings.push_back(code);
  std::sort(headings.begin(), headings.end());
  headings.erase(std::unique(headings.begin(), headings.end()), headings.end());
  std::erase_if(headings, [this](auto heading) { return too_wide_.contains(heading); });
  return headings;
}

std::vector<std::string> MeshTopics::tree_numbers(const store::DescriptorEntry& entry) {
  std::vector<std::string> numbers = entry.tree_numbers;
  if (const Root* const root = root_of(entry.code);
      root != nullptr &&
      std::find(numbers.begin(), numbers.end(), root->tree_number) == numbers.end()) {
    numbers.emplace_back(root->tree_number);
  }
  return numbers;
}

}  // namespace somatlas::pipeline
