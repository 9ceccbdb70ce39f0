// Names and tree numbers of synthetic descriptors.
#include "pipeline/synth_catalog.h"

#include <algorithm>
#include <string>

#include "store/descriptor_code.h"

namespace somatlas::pipeline {

namespace {

constexpr std::size_t most_tree_numbers = 3;
constexpr std::uint32_t letters = 14;  // A to N

std::string digits(std::uint32_t number, std::size_t width) {
  const std::string text = std::to_string(number);
  return std::string(width - std::min(width, text.size()), '0') + text;
}

}  // namespace

std::string synth_name(std::uint32_t number) {
  return (synth_rank(number) < synth_tags ? "Synthetic check tag " : "Synthetic descriptor ") +
         digits(number, 5);
}

std::vector<store::DescriptorEntry> synth_catalog(const SynthModel& model) {
  std::vector<store::DescriptorEntry> entries(synth_descriptors);
  for (std::uint32_t number = 1; number <= synth_descriptors; ++number) {
    entries[number - 1].code = store::descriptor_code(number, 6);
    entries[number - 1].name = synth_name(number);
  }
  std::uint32_t in_area = 0;
  for (std::uint32_t t = 0; t < synth_topics; ++t) {
    const SynthModel::Topic& topic = model.topic(t);
    in_area = t > 0 && model.topic(t - 1).area == topic.area ? in_area + 1 : 1;
    for (std::uint32_t p = topic.begin; p < topic.end; ++p) {
      auto& numbers = entries[synth_number(model.piece(p).rank) - 1].tree_numbers;
      if (numbers.size() < most_tree_numbers) {
        numbers.push_back(std::string(1, static_cast<char>('A' + topic.area % letters)) +
                          digits(topic.area / letters + 1, 2) + "." + digits(in_area, 3) + "." +
                          digits(p - topic.begin + 1, 3));
      }
    }
  }
  return entries;
}

}  // namespace somatlas::pipeline
