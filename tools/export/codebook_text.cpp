// Descriptors by name, weights as text, and the codebook turned neuron by neuron.
#include "tools/export/codebook_text.h"

#include <algorithm>

#include "store/store_error.h"
#include "tools/lookup/article_input.h"
#include "tools/lookup/descriptor_names.h"

namespace somatlas::exports {

std::vector<store::AtlasDescriptor> chosen_descriptors(store::Atlas& atlas, std::string_view list) {
  std::vector<store::AtlasDescriptor> all = atlas.descriptors();
  if (lookup::trimmed(list).empty()) {
    return all;
  }
  const lookup::DescriptorNames names(all, atlas.entry_words());
  std::vector<store::AtlasDescriptor> chosen;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(';'), list.size());
    const std::string_view wanted = lookup::trimmed(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
    if (wanted.empty()) {
      continue;
    }
    const store::AtlasDescriptor* const found = names.find(wanted);
    if (found == nullptr) {
      throw store::StoreError(atlas.directory() + ": has no descriptor \"" + std::string(wanted) +
                              "\" (give the UI or the name of a MeSH heading)" +
                              names.proposal(wanted));
    }
    chosen.push_back(*found);
  }
  std::sort(chosen.begin(), chosen.end(),
            [](const auto& a, const auto& b) { return store::ui_less(a.code, b.code); });
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::vector<std::uint16_t> checked_plane(store::Atlas& atlas, store::DescriptorCode code,
                                         std::uint32_t side) {
  auto plane = atlas.plane(code);
  if (!plane || plane->size() != std::size_t{side} * side) {
    throw store::StoreError(atlas.directory() + ": the plane of " + store::descriptor_ui(code) +
                            " is missing or cut; verify the atlas and train it again");
  }
  return std::move(*plane);
}

std::string weight_text(std::uint16_t weight) {
  constexpr std::uint32_t one = 16383;
  const std::uint32_t units = (2 * 100'000 * std::uint32_t{weight} + one) / (2 * one);
  std::string text = std::to_string(100'000 + units);  // "1ddddd", or "200000" for 1
  text = std::string(1, static_cast<char>(text[0] - 1)) + "." + text.substr(1);
  text.resize(text.find_last_not_of('0') + 1);
  if (text.back() == '.') {
    text.pop_back();
  }
  return text;
}

void refuse_absurd_text(store::Atlas& atlas, std::uint32_t side, std::size_t descriptors,
                        bool chosen) {
  const std::uint64_t weights = std::uint64_t{side} * side * descriptors;
  if (!chosen && weights > most_weights_in_text) {
    throw store::StoreError(atlas.directory() + ": as text its " + std::to_string(weights) +
                            " weights would take some " +
                            std::to_string(weights / 125'000'000 + 1) +
                            " GB; choose descriptors with --descriptors, or export npy or somw");
  }
}

bool for_each_neuron(store::Atlas& atlas, std::uint32_t side,
                     std::span<const store::AtlasDescriptor> descriptors,
                     const std::stop_token& stop,
                     const std::function<void(std::span<const std::uint16_t>)>& take,
                     std::size_t band_bytes) {
  const std::size_t neurons = std::size_t{side} * side;
  const std::size_t count = descriptors.size();
  const std::size_t fit = band_bytes / sizeof(std::uint16_t) / std::max<std::size_t>(count, 1);
  const std::size_t at_once = std::clamp<std::size_t>(fit, side, neurons);
  std::vector<std::uint16_t> band(at_once * count);
  for (std::size_t begin = 0; begin < neurons; begin += at_once) {
    const std::size_t end = std::min(neurons, begin + at_once);
    for (std::size_t d = 0; d < count; ++d) {
      if (stop.stop_requested()) {
        return false;
      }
      const std::vector<std::uint16_t> plane = checked_plane(atlas, descriptors[d].code, side);
      for (std::size_t i = begin; i < end; ++i) {
        band[(i - begin) * count + d] = plane[i];
      }
    }
    for (std::size_t i = begin; i < end; ++i) {
      take(std::span(band).subspan((i - begin) * count, count));
    }
  }
  return true;
}

}  // namespace somatlas::exports
