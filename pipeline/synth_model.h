// The world a synthetic corpus comes from: 100 areas, 5,000 topics in them, and the pieces into
// which each descriptor's frequency is cut and dealt to topics. Always holds: a function of the
// seed alone; drawing by topic, by area or from all gives every descriptor the same frequency on
// average, which is why the corpus follows the table of synth_frequencies.h.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pipeline/synth_alias.h"
#include "pipeline/synth_frequencies.h"

namespace somatlas::pipeline {

inline constexpr std::uint32_t synth_areas = 100;
inline constexpr std::uint32_t synth_topics = 5'000;

/// The number in a synthetic descriptor's UI, and its rank by frequency: one to one.
[[nodiscard]] constexpr std::uint32_t synth_number(std::uint32_t rank) {
  return 1 + rank * 7'919U % synth_descriptors;  // 7,919 is prime to 30,000
}
[[nodiscard]] constexpr std::uint32_t synth_rank(std::uint32_t number) {
  return (number - 1) * 7'679U % synth_descriptors;  // 7,919 * 7,679 is 1 modulo 30,000
}

/// A share of one descriptor's frequency that belongs to one topic.
struct SynthPiece {
  std::uint32_t rank;
  std::uint32_t mass;  // of 2^32 articles
};

class SynthModel {
 public:
  explicit SynthModel(std::uint64_t seed);

  [[nodiscard]] std::uint64_t seed() const { return seed_; }

  struct Topic {
    std::uint32_t area;
    std::uint32_t begin;  // its pieces
    std::uint32_t end;
    std::uint32_t mass;   // their sum
    std::uint32_t limit;  // pieces that may be drawn at once and stay distinct
  };
  [[nodiscard]] std::uint32_t draw_topic(SynthStream& stream) const { return topic_.draw(stream); }
  [[nodiscard]] const Topic& topic(std::uint32_t t) const { return topics_[t]; }
  [[nodiscard]] const SynthPiece& piece(std::uint32_t p) const { return pieces_[p]; }
  /// A rank from a topic's area, by mass.
  [[nodiscard]] std::uint32_t draw_from_area(std::uint32_t area, SynthStream& stream) const {
    return pieces_[area_begin_[area] + area_pieces_[area].draw(stream)].rank;
  }
  /// A rank from all that are no check tags, by frequency.
  [[nodiscard]] std::uint32_t draw_from_all(SynthStream& stream) const {
    return synth_tags + all_.draw(stream);
  }
  /// Share of articles of an area that have a check tag, given its parent, of 2^32.
  [[nodiscard]] std::uint32_t tag_chance(std::uint32_t area, std::uint32_t tag) const {
    return tag_chance_[human_area_[area]][tag];
  }

 private:
  void deal_pieces();
  void set_tag_chances();

  std::uint64_t seed_;
  std::vector<SynthPiece> pieces_;  // by topic
  std::vector<Topic> topics_;       // by area
  std::array<std::uint32_t, synth_areas + 1> area_begin_{};
  AliasTable topic_;
  std::vector<AliasTable> area_pieces_;
  AliasTable all_;
  std::array<std::uint8_t, synth_areas> human_area_{};
  std::array<std::array<std::uint32_t, synth_tags>, 2> tag_chance_{};
};

}  // namespace somatlas::pipeline
