// The three hashes by which articles are drawn. Always holds: the bytes hashed are little-endian on
// every machine, and what is drawn depends on (PMID, seed) alone.
#include "pipeline/article_hash.h"

#include <xxhash.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

namespace somatlas::pipeline {

std::uint64_t article_hash(Salt salt, std::uint32_t pmid, std::uint64_t seed) {
  const std::array<std::uint64_t, 3> words{static_cast<std::uint64_t>(salt), pmid, seed};
  if constexpr (std::endian::native == std::endian::little) {
    return XXH3_64bits(words.data(), sizeof(words));
  }
  std::array<unsigned char, 24> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<unsigned char>(words[i / 8] >> (8 * (i % 8)));
  }
  return XXH3_64bits(bytes.data(), bytes.size());
}

bool held_out(std::uint32_t pmid, std::uint64_t seed, double share) {
  if (!(share > 0)) {
    return false;
  }
  // hash < x is hash < ceil(x); below 1, share * 2^64 is exact and fits 64 bits.
  return share >= 1 || article_hash(Salt::holdout, pmid, seed) <
                           static_cast<std::uint64_t>(std::ceil(share * 0x1p64));
}

std::uint32_t random_neuron(std::uint32_t pmid, std::uint64_t seed, std::uint64_t neurons) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint32_t>((Wide{article_hash(Salt::start, pmid, seed)} * neurons) >> 64);
}

}  // namespace somatlas::pipeline
