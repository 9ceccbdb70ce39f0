// What regions are called: up to three MeSH headings that together cover a good share of the
// region's articles and stand out against the corpus. Always holds: counts are integers, and what
// follows from them is made of correctly rounded operations in the order of descriptors and
// regions, so that neither batches nor threads change a name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/cell_labels.h"
#include "pipeline/mesh_topics.h"
#include "pipeline/region_weights.h"

namespace somatlas::pipeline {

/// Stands between the headings of a name.
inline constexpr std::string_view between_headings = " / ";

/// What names and labels are given by. What is referred to must outlive its users.
struct LabelCorpus {
  const MeshTopics& topics;
  std::span<const LabelDescriptor> descriptors;  // in the order of planes
  std::uint64_t articles = 0;                    // training articles
};

/// Names of regions and of what they are joined to. A heading covers the articles that carry it or
/// one below it. How many these are is reckoned as if descriptors came independently within a
/// region: of the share 1 - (1 - p)(1 - q).. of its articles. A name begins with the heading that
/// gains most (pipeline/lift.h) by the share that it covers; where it covers less than
/// `share_alone`, the one that makes the two gain most is added, and so a third; none that is above
/// or below one of the name. A heading of which one descriptor below it makes nine tenths gives way
/// to that descriptor.
class RegionNames {
 public:
  static constexpr double share_alone = 0.4;
  static constexpr std::size_t most_headings = 3;

  /// weights: of every descriptor of the corpus; hits: articles of each region. What is referred to
  /// must outlive it.
  RegionNames(const LabelCorpus& corpus, const RegionWeights& weights,
              std::span<const std::uint64_t> hits);

  /// The names of groups of regions, no two alike. The earlier of two groups has the name that both
  /// would share; the other is named by a next heading that covers enough and gains half as much,
  /// else by the first heading and a next one.
  [[nodiscard]] std::vector<std::string> names(
      std::span<const std::vector<std::uint32_t>> groups) const;

 private:
  /// A heading, by its number, with what it covers together with those already chosen.
  struct Candidate {
    std::uint32_t gain = 0;
    std::uint32_t heading = 0;
    double share = 0;
  };
  /// The headings chosen for a group, and what could have been first, best first.
  struct Choice {
    std::vector<std::uint32_t> headings;
    std::vector<Candidate> firsts;
  };

  [[nodiscard]] Choice choose(std::span<const std::uint32_t> group) const;
  [[nodiscard]] std::vector<Candidate> candidates(std::span<const std::uint32_t> group,
                                                  std::span<const std::uint32_t> chosen) const;
  /// The share of the corpus that has none of what is below a heading and not taken.
  [[nodiscard]] double corpus_without(std::uint32_t heading,
                                      std::span<const std::uint8_t> taken) const;
  [[nodiscard]] bool below(std::uint32_t heading, std::uint32_t other) const;
  [[nodiscard]] std::string name_of(std::uint32_t heading) const;

  LabelCorpus corpus_;
  const RegionWeights& weights_;
  std::span<const std::uint64_t> hits_;
  std::vector<store::DescriptorCode> headings_;    // by number
  std::vector<std::vector<std::uint32_t>> above_;  // of each heading, itself included
  std::vector<std::vector<std::uint32_t>> under_;  // of each descriptor: its headings
  std::vector<std::uint32_t> number_;              // of each descriptor, as a heading
  std::vector<std::vector<std::uint32_t>> below_;  // of each heading: the descriptors
  std::vector<double> without_;                    // corpus_without of each heading
};

}  // namespace somatlas::pipeline
