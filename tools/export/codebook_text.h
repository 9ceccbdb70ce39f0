// What formats share that list a map's weights neuron by neuron, though the atlas keeps them plane
// by plane: chosen descriptors, weights as decimal text, and bands of neurons.
// Always holds: memory is one band and one plane, however large the map; a weight's text reads back
// as the weight.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "store/atlas.h"

namespace somatlas::exports {

/// The descriptors that a list names by UI or name with `;` between, in the order of UIs; all where
/// the list is empty. Throws store::StoreError with the first name that the atlas does not have.
[[nodiscard]] std::vector<store::AtlasDescriptor> chosen_descriptors(store::Atlas& atlas,
                                                                     std::string_view list);

/// The plane of a descriptor. Throws store::StoreError where it is missing or not of that side.
[[nodiscard]] std::vector<std::uint16_t> checked_plane(store::Atlas& atlas,
                                                       store::DescriptorCode code,
                                                       std::uint32_t side);

/// weight / 16383 with at most five decimals, the fewest that keep all weights apart.
[[nodiscard]] std::string weight_text(std::uint16_t weight);

/// Weights that a text may hold where its descriptors were not chosen: some 2 GB.
inline constexpr std::uint64_t most_weights_in_text = std::uint64_t{1} << 28;

/// Throws store::StoreError where a text of these weights would be absurdly large and nobody chose
/// the descriptors.
void refuse_absurd_text(store::Atlas& atlas, std::uint32_t side, std::size_t descriptors,
                        bool chosen);

/// Gives take the weights of each neuron, in the order of descriptors, neurons ascending. A band
/// takes at most band_bytes, but for one row of the map. False where it was asked to stop.
[[nodiscard]] bool for_each_neuron(store::Atlas& atlas, std::uint32_t side,
                                   std::span<const store::AtlasDescriptor> descriptors,
                                   const std::stop_token& stop,
                                   const std::function<void(std::span<const std::uint16_t>)>& take,
                                   std::size_t band_bytes = std::size_t{64} << 20);

}  // namespace somatlas::exports
