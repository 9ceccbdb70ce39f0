// Always holds: a gain's logarithm is that of integers; a library's, which differs in its last bit
// from machine to machine, is taken only where its last bits decide nothing.
#include "pipeline/lift.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "gpu/contract.h"

namespace somatlas::pipeline {
namespace {

constexpr int share_bits = 40;  // of L as an integer

}  // namespace

std::uint32_t log2_by_digits(std::uint64_t value) {
  const auto whole = static_cast<unsigned>(std::bit_width(value)) - 1;
  // In [2^31, 2^32): squared, its top bit is the next binary digit of the logarithm.
  std::uint64_t mantissa = whole >= 31 ? value >> (whole - 31) : value << (31 - whole);
  std::uint32_t result = whole;
  for (int digit = 0; digit < 16; ++digit) {
    mantissa *= mantissa;
    const auto bit = static_cast<std::uint32_t>(mantissa >> 63);
    mantissa >>= 31 + bit;
    result = result << 1 | bit;
  }
  return result;
}

std::uint32_t log2_of(std::uint64_t value) {
  // What the digits leave off below the 32 bits they keep is less than this of the last one, and a
  // library's error far less.
  constexpr double doubt = 1.0 / 4096;
  const double exact = 65'536 * std::log2(static_cast<double>(value));
  const double whole = std::floor(exact);
  const bool clear = exact - whole > doubt && exact - whole < 1 - doubt;
  return clear ? static_cast<std::uint32_t>(whole) : log2_by_digits(value);
}

double least_share(double share, double of) {
  if (!(of > 0)) {
    return 0;
  }
  // Two standard errors: z^2 = 4.
  return (share * of + 2 - 2 * std::sqrt(of * share * (1 - share) + 1)) / (of + 4);
}

LiftScale::LiftScale(std::uint64_t with, std::uint64_t all) {
  if (with == 0 || with > all || all >> 40 != 0) {
    throw std::invalid_argument("a descriptor's share of the corpus lies above 0 and up to 1");
  }
  log2_corpus_ = std::int64_t{log2_of(all)} - std::int64_t{log2_of(with)};
  // L <= 1; one more a weight for what rounding may add to L.
  const std::uint64_t most = static_cast<std::uint64_t>(std::max<std::int64_t>(0, log2_corpus_))
                             << 8;
  most_per_weight_ = static_cast<std::uint32_t>(most / gpu::weight_one + 2);
}

std::uint32_t LiftScale::gain(double share, double of) const {
  const double least = least_share(share, of);
  if (!(least > 0)) {
    return 0;
  }
  const auto scaled =
      static_cast<std::uint64_t>(std::min(least, 1.0) * static_cast<double>(1ULL << share_bits));
  if (scaled == 0) {
    return 0;
  }
  const std::int64_t bits =
      std::int64_t{log2_of(scaled)} - (std::int64_t{share_bits} << 16) + log2_corpus_;
  return bits <= 0
             ? 0
             : static_cast<std::uint32_t>((scaled >> 16) * static_cast<std::uint64_t>(bits) >> 16);
}

double growth(std::uint64_t recent, std::uint64_t dated, std::uint64_t corpus_recent,
              std::uint64_t corpus_dated) {
  if (corpus_recent == 0 || corpus_dated == 0) {
    return 1;
  }
  constexpr double added = 10;
  const double expected = static_cast<double>(corpus_recent) / static_cast<double>(corpus_dated);
  return (static_cast<double>(recent) + added * expected) / (static_cast<double>(dated) + added) /
         expected;
}

}  // namespace somatlas::pipeline
