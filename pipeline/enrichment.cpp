// Tails are summed term by term away from their first, each from the one before, so that small
// chances keep their digits.
#include "pipeline/enrichment.h"

#include <math.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace somatlas::pipeline {
namespace {

// std::lgamma writes a global, which threads would race for.
double log_factorial(double n) {
  int sign = 0;
  return ::lgamma_r(n + 1, &sign);
}

double term(double k, double n, double p) {
  return std::exp(log_factorial(n) - log_factorial(k) - log_factorial(n - k) + k * std::log(p) +
                  (n - k) * std::log1p(-p));
}

constexpr double negligible = 1e-18;

double sum_up(double k, double n, double p) {
  double each = term(k, n, p);
  double sum = 0;
  for (; k <= n; ++k) {
    sum += each;
    if (k > n * p && each < sum * negligible) {
      break;
    }
    each *= (n - k) / (k + 1) * (p / (1 - p));
  }
  return std::min(1.0, sum);
}

}  // namespace

BinomialTails binomial_tails(std::uint64_t hits, std::uint64_t draws, double chance) {
  const auto k = static_cast<double>(hits);
  const auto n = static_cast<double>(draws);
  if (chance <= 0) {
    return {.at_most = 1, .at_least = hits == 0 ? 1.0 : 0.0};
  }
  if (chance >= 1) {
    return {.at_most = hits >= draws ? 1.0 : 0.0, .at_least = 1};
  }
  // The lower tail is the upper one of what is no hit. The tail away from the mean is summed; the
  // other is what is left with the term that both have.
  const double once = term(k, n, chance);
  if (k > n * chance) {
    const double at_least = sum_up(k, n, chance);
    return {.at_most = std::min(1.0, 1 - at_least + once), .at_least = at_least};
  }
  const double at_most = sum_up(n - k, n, 1 - chance);
  return {.at_most = at_most, .at_least = std::min(1.0, 1 - at_most + once)};
}

std::vector<double> false_discovery_rates(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [p](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> q(p.size());
  double least = 1;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const std::size_t i = order[rank - 1];
    least = std::min(least, p[i] * static_cast<double>(p.size()) / static_cast<double>(rank));
    q[i] = least;
  }
  return q;
}

std::vector<Enrichment> enrichment(std::span<const std::uint64_t> listed,
                                   std::span<const std::uint64_t> corpus) {
  const std::uint64_t draws = std::accumulate(listed.begin(), listed.end(), std::uint64_t{0});
  const std::uint64_t all = std::accumulate(corpus.begin(), corpus.end(), std::uint64_t{0});
  std::vector<Enrichment> found(listed.size());
  std::vector<double> p(listed.size(), 1);
  for (std::size_t i = 0; i < listed.size() && all > 0; ++i) {
    const double chance = static_cast<double>(corpus[i]) / static_cast<double>(all);
    const BinomialTails tails = binomial_tails(listed[i], draws, chance);
    found[i].expected = chance * static_cast<double>(draws);
    found[i].p = p[i] = std::min(1.0, 2 * std::min(tails.at_most, tails.at_least));
  }
  const std::vector<double> q = false_discovery_rates(p);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    found[i].q = q[i];
  }
  return found;
}

}  // namespace somatlas::pipeline
