// Builds the areas and topics. Heavy descriptors are cut into many pieces of like mass and dealt
// over many areas, rare ones lie whole in one topic; each topic gets about 24 pieces, none twice.
#include "pipeline/synth_model.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>

namespace somatlas::pipeline {

namespace {

constexpr std::uint64_t pieces_wanted = 105'000;  // beside the broken ones: some 120,000 in all
constexpr std::uint32_t pieces_an_area = 5;       // of one descriptor
constexpr std::uint32_t draws_from_topic = 6;     // at most

/// The topics of an area as a deck of cards, more cards for a larger topic.
class Deck {
 public:
  Deck(std::uint32_t first_topic, std::span<const std::uint32_t> sizes, SynthStream& stream)
      : stream_(stream) {
    for (std::size_t t = 0; t < sizes.size(); ++t) {
      base_.insert(base_.end(), sizes[t], first_topic + static_cast<std::uint32_t>(t));
    }
  }

  /// The next topic that is none of taken; the area has more topics than that.
  std::uint32_t deal(std::span<const std::uint32_t> taken) {
    for (std::size_t i = next_;; ++i) {
      if (i == cards_.size()) {
        refill();
        i = next_;
      }
      if (std::find(taken.begin(), taken.end(), cards_[i]) == taken.end()) {
        std::swap(cards_[i], cards_[next_]);
        return cards_[next_++];
      }
    }
  }

 private:
  void refill() {
    cards_.erase(cards_.begin(), cards_.begin() + static_cast<std::ptrdiff_t>(next_));
    next_ = 0;
    std::vector<std::uint32_t> more = base_;
    for (std::size_t i = more.size(); i > 1; --i) {
      std::swap(more[i - 1], more[stream_.below(i)]);
    }
    cards_.insert(cards_.end(), more.begin(), more.end());
  }

  SynthStream& stream_;
  std::vector<std::uint32_t> base_;
  std::vector<std::uint32_t> cards_;
  std::size_t next_ = 0;
};

}  // namespace

SynthModel::SynthModel(std::uint64_t seed) : seed_(seed) {
  deal_pieces();
  std::vector<std::uint64_t> weights(synth_topics);
  for (std::size_t t = 0; t < synth_topics; ++t) {
    weights[t] = topics_[t].mass;
  }
  topic_ = AliasTable(weights);
  for (std::uint32_t a = 0; a < synth_areas; ++a) {
    weights.clear();
    for (std::uint32_t p = area_begin_[a]; p < area_begin_[a + 1]; ++p) {
      weights.push_back(pieces_[p].mass);
    }
    area_pieces_.emplace_back(weights);
  }
  weights.clear();
  for (std::uint32_t rank = synth_tags; rank < synth_descriptors; ++rank) {
    weights.push_back(synth_frequency(rank));
  }
  all_ = AliasTable(weights);
  set_tag_chances();
}

void SynthModel::deal_pieces() {
  SynthStream stream(seed_, SynthPurpose::areas, 0);
  std::array<std::uint32_t, synth_areas + 1> size_before{};
  for (std::uint32_t a = 0; a < synth_areas; ++a) {
    size_before[a + 1] = size_before[a] + 1 + static_cast<std::uint32_t>(stream.below(8));
  }
  std::array<std::uint32_t, synth_areas + 1> first_topic{};
  for (std::uint32_t a = 0; a <= synth_areas; ++a) {
    first_topic[a] = synth_topics * size_before[a] / size_before[synth_areas];
  }
  std::vector<std::uint32_t> sizes(synth_topics);
  for (std::uint32_t& size : sizes) {
    size = 14 + static_cast<std::uint32_t>(stream.below(24) * stream.below(24) / 24);
  }
  SynthStream dealer(seed_, SynthPurpose::pieces, 0);
  std::vector<Deck> decks;
  std::vector<std::uint32_t> area_of(synth_topics);
  for (std::uint32_t a = 0; a < synth_areas; ++a) {
    decks.emplace_back(
        first_topic[a],
        std::span(sizes).subspan(first_topic[a], first_topic[a + 1] - first_topic[a]), dealer);
    std::fill(area_of.begin() + first_topic[a], area_of.begin() + first_topic[a + 1], a);
  }

  std::uint64_t total = 0;
  for (std::uint32_t rank = synth_tags; rank < synth_descriptors; ++rank) {
    total += synth_frequency(rank);
  }
  const std::uint64_t largest = total / pieces_wanted;
  std::vector<std::vector<SynthPiece>> dealt(synth_topics);
  std::vector<std::uint32_t> taken;
  for (std::uint32_t rank = synth_tags; rank < synth_descriptors; ++rank) {
    const std::uint64_t frequency = synth_frequency(rank);
    const std::uint64_t count = (frequency + largest - 1) / largest;
    std::array<bool, synth_areas> used{};
    std::uint32_t area = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (i % pieces_an_area == 0) {
        do {
          area = area_of[dealer.below(synth_topics)];
        } while (used[area]);
        used[area] = true;
        taken.clear();
      }
      taken.push_back(decks[area].deal(taken));
      const std::uint64_t mass = frequency * (i + 1) / count - frequency * i / count;
      dealt[taken.back()].push_back({rank, static_cast<std::uint32_t>(mass)});
    }
  }

  for (std::uint32_t t = 0; t < synth_topics; ++t) {
    Topic topic{area_of[t], static_cast<std::uint32_t>(pieces_.size()), 0, 0, 0};
    std::uint32_t heaviest = 1;
    for (const SynthPiece& piece : dealt[t]) {
      pieces_.push_back(piece);
      topic.mass += piece.mass;
      heaviest = std::max(heaviest, piece.mass);
    }
    topic.end = static_cast<std::uint32_t>(pieces_.size());
    topic.limit = std::min(draws_from_topic, topic.mass / heaviest);
    topics_.push_back(topic);
    area_begin_[area_of[t] + 1] = topic.end;
  }
}

/// About 70 % of the mass lies in areas on humans, where 93 % of articles have Humans and 10 %
/// Animals; the other areas have what is left of both.
void SynthModel::set_tag_chances() {
  constexpr std::uint64_t whole = std::uint64_t{1} << 32;
  std::array<std::uint64_t, synth_areas> mass{};
  std::uint64_t total = 0;
  for (const Topic& topic : topics_) {
    mass[topic.area] += topic.mass;
    total += topic.mass;
  }
  SynthStream stream(seed_, SynthPurpose::areas, 1);
  std::array<std::uint32_t, synth_areas> order{};
  std::iota(order.begin(), order.end(), 0U);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[stream.below(i)]);
  }
  std::uint64_t human = 0;
  for (const std::uint32_t area : order) {
    if (human < total / 100 * 70) {
      human += mass[area];
      human_area_[area] = 1;
    }
  }
  // Of 2^32; masses lie below 2^36, so eight bits less make room for the product.
  const std::uint64_t human_share = ((human >> 8) << 32) / (total >> 8);
  const auto split = [&](std::uint32_t tag, std::uint64_t in_human_areas) {
    const std::uint64_t all = synth_tag_table[tag].frequency;
    const std::uint64_t theirs = human_share * in_human_areas / whole;
    tag_chance_[1][tag] = static_cast<std::uint32_t>(in_human_areas);
    tag_chance_[0][tag] =
        static_cast<std::uint32_t>((all - theirs) * whole / (whole - human_share));
  };
  for (std::uint32_t tag = 0; tag < synth_tags; ++tag) {
    const SynthTag& entry = synth_tag_table[tag];
    const std::uint64_t given =
        entry.parent == no_tag
            ? entry.frequency
            : std::uint64_t{entry.frequency} * whole / synth_tag_table[entry.parent].frequency;
    tag_chance_[0][tag] = tag_chance_[1][tag] = static_cast<std::uint32_t>(given);
  }
  split(humans_tag, whole * 93 / 100);
  split(animals_tag, whole / 10);
}

}  // namespace somatlas::pipeline
