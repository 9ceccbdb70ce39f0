// The search of a few articles over a whole map: weights are summed plane by plane, a group of
// articles at a time, then each article's two best neurons are taken in the contract's order.
// Always holds: sums are integers, so groups, chunks of planes and threads do not change them.
#include "pipeline/mapping.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <stdexcept>

#include "gpu/contract.h"
#include "store/store_error.h"

namespace somatlas::pipeline {

namespace {

constexpr std::size_t neurons_at_once = 4096;  // of one article: its sums stay in the L1 cache

}  // namespace

AtlasMapper::AtlasMapper(store::Atlas& atlas, std::size_t memory_bytes)
    : atlas_(atlas),
      memory_bytes_(memory_bytes),
      meta_(read_atlas_meta(atlas)),
      descriptors_(atlas.descriptors()),
      cells_(atlas.cells()) {
  const std::size_t neurons = std::size_t{meta_.settings.side} * meta_.settings.side;
  if (cells_.norm.size() != neurons || cells_.vacant.size() != neurons ||
      cells_.leading.size() != neurons * store::leading_per_cell) {
    throw store::StoreError(atlas.directory() +
                            " has cells of another side than its description says; train it again");
  }
  if (std::find(cells_.vacant.begin(), cells_.vacant.end(), 0) == cells_.vacant.end()) {
    throw store::StoreError(atlas.directory() + " has no usable neuron; train it again");
  }
}

const store::AtlasDescriptor* AtlasMapper::find(store::DescriptorCode code) const {
  const auto place =
      std::lower_bound(descriptors_.begin(), descriptors_.end(), code,
                       [](const store::AtlasDescriptor& descriptor, store::DescriptorCode wanted) {
                         return store::ui_less(descriptor.code, wanted);
                       });
  return place != descriptors_.end() && place->code == code ? &*place : nullptr;
}

bool AtlasMapper::knows(store::DescriptorCode code) const {
  return find(code) != nullptr;
}

std::vector<std::uint16_t> AtlasMapper::read_plane(store::DescriptorCode code) {
  std::optional<std::vector<std::uint16_t>> plane = atlas_.plane(code);
  if (!plane || plane->size() != cells_.norm.size()) {
    throw store::StoreError(atlas_.directory() + " lists " + store::descriptor_ui(code) +
                            " but has no whole plane of it; train it again");
  }
  return std::move(*plane);
}

/// Sums of q over each article's codes (ascending, all known): M values an article.
std::vector<std::uint32_t> AtlasMapper::sum_weights(std::span<const Codes> known) {
  const std::size_t neurons = cells_.norm.size();
  Codes codes;
  for (const Codes& of_article : known) {
    codes.insert(codes.end(), of_article.begin(), of_article.end());
  }
  std::sort(codes.begin(), codes.end());
  codes.erase(std::unique(codes.begin(), codes.end()), codes.end());

  std::vector<std::uint32_t> sums(known.size() * neurons);
  const std::size_t planes_at_once =
      std::max<std::size_t>(1, memory_bytes_ / 2 / (neurons * sizeof(std::uint16_t)));
  for (std::size_t first = 0; first < codes.size(); first += planes_at_once) {
    const std::span<const store::DescriptorCode> chunk =
        std::span(codes).subspan(first, std::min(planes_at_once, codes.size() - first));
    std::vector<std::vector<std::uint16_t>> planes;
    planes.reserve(chunk.size());
    for (const store::DescriptorCode code : chunk) {
      planes.push_back(read_plane(code));
    }
    tbb::parallel_for(std::size_t{0}, known.size(), [&](std::size_t article) {
      std::vector<const std::uint16_t*> own;
      for (const store::DescriptorCode code : known[article]) {
        const auto place = std::lower_bound(chunk.begin(), chunk.end(), code);
        if (place != chunk.end() && *place == code) {
          own.push_back(planes[static_cast<std::size_t>(place - chunk.begin())].data());
        }
      }
      std::uint32_t* const sum = sums.data() + article * neurons;
      for (std::size_t begin = 0; begin < neurons; begin += neurons_at_once) {
        const std::size_t end = std::min(neurons, begin + neurons_at_once);
        for (const std::uint16_t* plane : own) {
          for (std::size_t i = begin; i < end; ++i) {
            sum[i] += plane[i];
          }
        }
      }
    });
  }
  return sums;
}

/// The two lowest (score, neuron) of the usable neurons.
Place AtlasMapper::best_two(std::span<const std::uint32_t> sums, std::uint32_t k) const {
  constexpr std::uint64_t none = UINT64_MAX;  // no key: a score below 2^31 - 1 or another neuron
  std::uint64_t best = none;
  std::uint64_t second = none;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (cells_.vacant[i] != 0) {
      continue;
    }
    const std::int32_t score = cells_.norm[i] - 128 * static_cast<std::int32_t>(sums[i]);
    const std::uint64_t key = gpu::rank_key(score, static_cast<std::uint32_t>(i));
    if (key < best) {
      second = best;
      best = key;
    } else if (key < second) {
      second = key;
    }
  }
  return {gpu::neuron_of(best), second == none ? gpu::no_neuron : gpu::neuron_of(second),
          distance_of(gpu::score_of(best), k)};
}

std::vector<std::optional<Place>> AtlasMapper::place(std::span<const Codes> articles,
                                                     std::span<const std::uint32_t> unnamed) {
  if (unnamed.size() != articles.size()) {
    throw std::invalid_argument("there must be one number of unnamed descriptors an article");
  }
  std::vector<std::optional<Place>> places(articles.size());
  const std::size_t neurons = cells_.norm.size();
  const std::size_t most =
      std::max<std::size_t>(1, memory_bytes_ / 2 / (neurons * sizeof(std::uint32_t)));

  std::vector<Codes> known;          // of the articles of a group
  std::vector<std::size_t> article;  // their places in the batch
  std::vector<std::uint32_t> k;
  const auto place_group = [&] {
    const std::vector<std::uint32_t> sums = sum_weights(known);
    tbb::parallel_for(std::size_t{0}, known.size(), [&](std::size_t i) {
      places[article[i]] = best_two(std::span(sums).subspan(i * neurons, neurons), k[i]);
    });
    known.clear();
    article.clear();
    k.clear();
  };
  for (std::size_t a = 0; a < articles.size(); ++a) {
    Codes codes = articles[a];
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
    const std::uint64_t size = codes.size() + std::uint64_t{unnamed[a]};
    if (size > gpu::max_descriptors) {
      throw std::invalid_argument("an article has " + std::to_string(size) +
                                  " descriptors; at most 1,023 can be placed");
    }
    std::erase_if(codes, [this](store::DescriptorCode code) { return !knows(code); });
    if (codes.empty()) {
      continue;
    }
    known.push_back(std::move(codes));
    article.push_back(a);
    k.push_back(static_cast<std::uint32_t>(size));
    if (known.size() == most) {
      place_group();
    }
  }
  place_group();
  return places;
}

std::optional<Place> AtlasMapper::recorded(std::uint32_t pmid) {
  const std::uint32_t range = pmid / store::pmids_per_shard;
  if (!recorded_ || recorded_->range != range) {
    recorded_ = atlas_.places(range);
  }
  if (!recorded_) {
    return std::nullopt;
  }
  const std::vector<std::uint16_t>& low = recorded_->low;
  const auto wanted = static_cast<std::uint16_t>(pmid % store::pmids_per_shard);
  const auto found = std::lower_bound(low.begin(), low.end(), wanted);
  const auto row = static_cast<std::size_t>(found - low.begin());
  if (found == low.end() || *found != wanted || recorded_->neuron[row] == gpu::no_neuron) {
    return std::nullopt;
  }
  return Place{recorded_->neuron[row], recorded_->second[row], recorded_->distance[row]};
}

std::string AtlasMapper::label(std::uint32_t neuron) const {
  const store::DescriptorCode code =
      cells_.leading.at(std::size_t{neuron} * store::leading_per_cell);
  if (code == 0xFFFF'FFFFU) {
    return "";
  }
  const store::AtlasDescriptor* descriptor = find(code);
  return descriptor == nullptr || descriptor->name.empty() ? store::descriptor_ui(code)
                                                           : descriptor->name;
}

}  // namespace somatlas::pipeline
