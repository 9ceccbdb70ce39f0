// One article of a synthetic corpus. Always holds: it is a function of (seed, number) alone, and
// PMIDs ascend with the number.
#pragma once

#include <array>
#include <cstdint>

#include "pipeline/synth_model.h"

namespace somatlas::pipeline {

/// Articles are numbered from 0; a PMID in 14 or so belongs to none.
[[nodiscard]] std::uint64_t synth_pmid(std::uint64_t seed, std::uint64_t article);

struct SynthArticle {
  static constexpr std::size_t most_descriptors = 64;

  std::uint32_t pmid = 0;
  std::uint16_t year = 0;
  std::uint32_t topic = 0;
  std::uint32_t count = 0;
  std::array<std::uint32_t, most_descriptors> number;  // of the UI, ascending, distinct
  std::array<std::uint8_t, most_descriptors> major;    // 1: a major topic
};

/// Draws an article; its PMID fits 32 bits.
void draw_synth_article(const SynthModel& model, std::uint64_t article, SynthArticle& out);

/// The same article as an update has it: other descriptors, for one in 20 none at all. Rounds
/// differ from each other.
void revise_synth_article(const SynthModel& model, std::uint64_t article, std::uint64_t round,
                          SynthArticle& out);

}  // namespace somatlas::pipeline
