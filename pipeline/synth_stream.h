// The numbers that a synthetic corpus is drawn from: a SplitMix64 stream whose start is a function
// of (seed, purpose, index). Always holds: integers only, so every machine and every thread count
// draws the same; streams of different purposes or indices are unrelated.
#pragma once

#include <cstdint>

namespace somatlas::pipeline {

/// What a stream is drawn for; each has streams of its own.
enum class SynthPurpose : std::uint64_t {
  areas = 1,   // sizes of areas and topics
  pieces = 2,  // which topics a descriptor belongs to
  article = 3,
  gaps = 4,      // PMIDs that no article has
  revision = 5,  // what an update changes
  updates = 6,   // which articles it changes
  record = 7,    // the text around the headings
  text = 8,      // the words of that text
};

class SynthStream {
 public:
  SynthStream(std::uint64_t seed, SynthPurpose purpose, std::uint64_t index)
      : state_(mix(mix(seed + golden * static_cast<std::uint64_t>(purpose)) + golden * index)) {}

  /// 64 random bits. SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number
  /// generators", 2014.
  std::uint64_t next() { return mix(state_ += golden); }

  /// A number in [0, bound); bound above 0. The high half of a product: its bias is below
  /// bound / 2^64.
  std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((Wide{next()} * bound) >> 64);
  }

  /// True with probability of_2_32 / 2^32; never at 0.
  bool chance(std::uint32_t of_2_32) { return (next() >> 32) < of_2_32; }

  /// True once in n, on average.
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15U;

  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  std::uint64_t state_;
};

}  // namespace somatlas::pipeline
