// How often a synthetic corpus uses its descriptors: check tags one by one, the others by a curve
// over rank, and how many an article has. Fitted to the descriptor counts of the MEDLINE baseline
// of 2017 (27,804 descriptors, 247,415,844 uses, 11.1 an article) as found in the public repository
// jzsh2000/pubmed; the curve stays within 2.5 % of them down to rank 22,000 and within 3 articles
// of 22 million below. It is no power law: the tail falls much faster than the head.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace somatlas::pipeline {

inline constexpr std::uint32_t synth_descriptors = 30'000;

/// A descriptor so common that it says little of a topic. It occurs only where its parent does.
struct SynthTag {
  std::uint32_t frequency;  // share of all articles, of 2^32
  std::uint32_t parent;     // rank of another tag
};
inline constexpr std::uint32_t no_tag = 0xFFFF'FFFF;
inline constexpr std::uint32_t synth_tags = 24;
inline constexpr std::array<SynthTag, synth_tags> synth_tag_table{{
    {3100846590U, no_tag},  // Humans
    {1424036441U, 0},       // Female
    {1407028424U, 0},       // Male
    {1137407016U, no_tag},  // Animals
    {826156457U, 0},        // Adult
    {703375476U, 0},        // Middle Aged
    {494383055U, 0},        // Aged
    {336717206U, 0},        // Adolescent
    {285878712U, 3},        // Rats
    {285610876U, 0},        // Child
    {250681690U, 3},        // Mice
    {206207112U, no_tag},   // Time Factors
    {155131419U, 0},        // Child, Preschool
    {152942095U, no_tag},   // United States
    {150526554U, 0},        // Pregnancy
    {144429318U, 0},        // Treatment Outcome
    {137804695U, 0},        // Aged, 80 and over
    {135008210U, 0},        // Infant
    {125327357U, 0},        // Risk Factors
    {124630018U, no_tag},   // Molecular Sequence Data
    {115102545U, 0},        // Retrospective Studies
    {106267787U, 0},        // Follow-Up Studies
    {103480936U, 0},        // Infant, Newborn
    {101842315U, 0},        // Young Adult
}};
inline constexpr std::uint32_t humans_tag = 0;
inline constexpr std::uint32_t animals_tag = 3;

/// A point of the curve: from one to the next the frequency falls in a straight line over rank.
struct SynthKnot {
  std::uint32_t rank;
  std::uint32_t frequency;  // share of all articles, of 2^32
};
inline constexpr std::array<SynthKnot, 38> synth_knots{{
    {24, 90693469},  {27, 81047590},  {33, 76074134},  {35, 69869021},  {39, 67390989},
    {42, 61788517},  {51, 57393618},  {52, 52671119},  {63, 45382285},  {80, 40327980},
    {100, 36142372}, {106, 33394270}, {120, 30503966}, {202, 21188555}, {300, 16101566},
    {434, 12727889}, {652, 9776613},  {867, 7937155},  {1144, 6438104}, {1547, 4932171},
    {2148, 3753458}, {2905, 2784799}, {3795, 2093282}, {4828, 1553906}, {6252, 1100923},
    {8064, 748474},  {9692, 546065},  {11636, 375766}, {13960, 243694}, {15968, 166667},
    {17839, 115253}, {19628, 79320},  {21612, 48930},  {23112, 31537},  {23976, 23509},
    {25777, 10703},  {27776, 191},    {29999, 191},
}};

/// Of 65,536 articles, how many have 1, 2, 3, ... descriptors that are no check tags. The mean is
/// the sum of the curve.
inline constexpr std::array<std::uint16_t, 34> synth_sizes{{
    200,  1344, 3262, 5222, 6656, 7344, 7335, 6811, 5982, 5028, 4079, 3214,
    2470, 1859, 1375, 1000, 718,  509,  357,  248,  171,  116,  79,   53,
    36,   24,   16,   10,   7,    4,    3,    2,    1,    1,
}};

/// The curve and the tags: share of all articles that carry the descriptor of a rank, of 2^32.
[[nodiscard]] constexpr std::uint32_t synth_frequency(std::uint32_t rank) {
  if (rank < synth_tags) {
    return synth_tag_table[rank].frequency;
  }
  std::size_t right = 1;
  while (synth_knots[right].rank < rank) {
    ++right;
  }
  const SynthKnot a = synth_knots[right - 1];
  const SynthKnot b = synth_knots[right];
  const std::uint64_t fall =
      std::uint64_t{a.frequency - b.frequency} * (rank - a.rank) / (b.rank - a.rank);
  return a.frequency - static_cast<std::uint32_t>(fall);
}

}  // namespace somatlas::pipeline
