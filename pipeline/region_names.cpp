#include "pipeline/region_names.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "pipeline/lift.h"

namespace somatlas::pipeline {
namespace {

constexpr std::uint32_t none = 0xFFFF'FFFF;

/// The share of articles that have none of several descriptors, heading by heading; forgets only
/// what it was told of.
class Lacking {
 public:
  explicit Lacking(std::size_t headings) : share_(headings, 1.0), told_(headings) {}

  void multiply(std::uint32_t heading, double share) {
    share_[heading] *= share;
    if (told_[heading] == 0) {
      told_[heading] = 1;
      touched_.push_back(heading);
    }
  }
  [[nodiscard]] double share(std::uint32_t heading) const { return share_[heading]; }
  [[nodiscard]] const std::vector<std::uint32_t>& touched() const { return touched_; }
  void clear() {
    for (const std::uint32_t heading : touched_) {
      share_[heading] = 1.0;
      told_[heading] = 0;
    }
    touched_.clear();
  }

 private:
  std::vector<double> share_;
  std::vector<std::uint8_t> told_;
  std::vector<std::uint32_t> touched_;
};

double share_without(std::uint64_t with, std::uint64_t all) {
  return with >= all ? 0.0 : static_cast<double>(all - with) / static_cast<double>(all);
}

std::string joined(std::vector<std::string> names) {
  std::string text;
  for (const std::string& name : names) {
    text += text.empty() ? name : std::string(between_headings) + name;
  }
  return text;
}

}  // namespace

RegionNames::RegionNames(const LabelCorpus& corpus, const RegionWeights& weights,
                         std::span<const std::uint64_t> hits)
    : corpus_(corpus),
      weights_(weights),
      hits_(hits),
      under_(corpus.descriptors.size()),
      number_(corpus.descriptors.size(), none) {
  const MeshTopics& topics = corpus.topics;
  const std::span<const LabelDescriptor> descriptors = corpus.descriptors;
  std::unordered_map<store::DescriptorCode, std::uint32_t> numbers;
  const auto number_of = [&](store::DescriptorCode heading) {
    const auto [found, is_new] =
        numbers.emplace(heading, static_cast<std::uint32_t>(headings_.size()));
    if (is_new) {
      headings_.push_back(heading);
    }
    return found->second;
  };
  for (std::size_t d = 0; d < descriptors.size(); ++d) {
    if (descriptors[d].topic && descriptors[d].articles != 0) {
      for (const store::DescriptorCode heading : topics.headings(descriptors[d].code)) {
        under_[d].push_back(number_of(heading));
        if (heading == descriptors[d].code) {
          number_[d] = under_[d].back();
        }
      }
    }
  }
  for (std::size_t h = 0; h < headings_.size(); ++h) {
    std::vector<std::uint32_t> above;
    for (const store::DescriptorCode heading : topics.headings(headings_[h])) {
      if (const auto found = numbers.find(heading); found != numbers.end()) {
        above.push_back(found->second);
      }
    }
    above_.push_back(std::move(above));
  }
  below_.resize(headings_.size());
  for (std::uint32_t d = 0; d < descriptors.size(); ++d) {
    for (const std::uint32_t heading : under_[d]) {
      below_[heading].push_back(d);
    }
  }
  const std::vector<std::uint8_t> nothing(descriptors.size());
  for (std::uint32_t heading = 0; heading < headings_.size(); ++heading) {
    without_.push_back(corpus_without(heading, nothing));
  }
}

bool RegionNames::below(std::uint32_t heading, std::uint32_t other) const {
  return std::find(above_[heading].begin(), above_[heading].end(), other) != above_[heading].end();
}

double RegionNames::corpus_without(std::uint32_t heading,
                                   std::span<const std::uint8_t> taken) const {
  double share = 1;
  for (const std::uint32_t d : below_[heading]) {
    if (taken[d] == 0) {
      share *= share_without(corpus_.descriptors[d].articles, corpus_.articles);
    }
  }
  return share;
}

std::vector<RegionNames::Candidate> RegionNames::candidates(
    std::span<const std::uint32_t> group, std::span<const std::uint32_t> chosen) const {
  std::vector<std::uint8_t> taken(corpus_.descriptors.size());
  for (const std::uint32_t heading : chosen) {
    for (const std::uint32_t d : below_[heading]) {
      taken[d] = 1;
    }
  }
  // Articles that are covered by what was chosen, those that each heading adds, and the most that
  // one descriptor has of what is below a heading.
  Lacking lacking(headings_.size());
  std::vector<double> added(headings_.size());
  std::vector<std::uint64_t> own(corpus_.descriptors.size());
  double covered_before = 0;
  std::uint64_t hits = 0;
  for (const std::uint32_t region : group) {
    double left = 1;
    for (const RegionWeight& weight : weights_.of(region)) {
      const std::uint32_t d = weight.descriptor;
      const std::uint64_t with = weight.articles();
      if (with == 0) {
        continue;
      }
      const double without = share_without(with, hits_[region]);
      own[d] += with;
      if (taken[d] != 0) {
        left *= without;
      } else {
        for (const std::uint32_t heading : under_[d]) {
          lacking.multiply(heading, without);
        }
      }
    }
    const auto of = static_cast<double>(hits_[region]);
    hits += hits_[region];
    covered_before += of * (1 - left);
    for (const std::uint32_t heading : lacking.touched()) {
      added[heading] += of * (left * (1 - lacking.share(heading)));
    }
    lacking.clear();
  }
  std::vector<std::uint64_t> most(headings_.size());
  std::vector<std::uint8_t> shared(headings_.size());  // with what was chosen
  double left = 1;                                     // of the corpus: without what was chosen
  for (std::uint32_t d = 0; d < corpus_.descriptors.size(); ++d) {
    if (taken[d] != 0) {
      left *= share_without(corpus_.descriptors[d].articles, corpus_.articles);
      for (const std::uint32_t heading : under_[d]) {
        shared[heading] = 1;
      }
    } else if (own[d] != 0) {
      for (const std::uint32_t heading : under_[d]) {
        if (heading != number_[d]) {
          most[heading] = std::max(most[heading], own[d]);
        }
      }
    }
  }
  std::vector<Candidate> result;
  const auto of = static_cast<double>(hits);
  const auto corpus = static_cast<double>(corpus_.articles);
  for (std::uint32_t heading = 0; heading < headings_.size(); ++heading) {
    if (!(added[heading] > 0) || static_cast<double>(most[heading]) >= 0.9 * added[heading] ||
        std::any_of(chosen.begin(), chosen.end(), [&](std::uint32_t other) {
          return below(heading, other) || below(other, heading);
        })) {
      continue;
    }
    const double without =
        shared[heading] != 0 ? corpus_without(heading, taken) : without_[heading];
    const auto with = static_cast<std::uint64_t>(corpus * (1 - left * without) + 0.5);
    const double share = std::min(1.0, (covered_before + added[heading]) / of);
    const std::uint32_t gain =
        LiftScale(std::clamp<std::uint64_t>(with, 1, corpus_.articles), corpus_.articles)
            .gain(share, of);
    if (gain != 0) {
      result.push_back({gain, heading, share});
    }
  }
  std::sort(result.begin(), result.end(), [&](const Candidate& a, const Candidate& b) {
    return a.gain != b.gain ? a.gain > b.gain
                            : store::ui_less(headings_[a.heading], headings_[b.heading]);
  });
  return result;
}

RegionNames::Choice RegionNames::choose(std::span<const std::uint32_t> group) const {
  Choice choice;
  choice.firsts = candidates(group, {});
  if (choice.firsts.empty()) {
    return choice;
  }
  Candidate last = choice.firsts.front();
  choice.headings.push_back(last.heading);
  while (last.share < share_alone && choice.headings.size() < most_headings) {
    const std::vector<Candidate> next = candidates(group, choice.headings);
    if (next.empty() || next.front().gain <= last.gain) {
      break;
    }
    last = next.front();
    choice.headings.push_back(last.heading);
  }
  return choice;
}

std::string RegionNames::name_of(std::uint32_t heading) const {
  const store::DescriptorEntry* const entry = corpus_.topics.find(headings_[heading]);
  return entry == nullptr || entry->name.empty() ? store::descriptor_ui(headings_[heading])
                                                 : entry->name;
}

std::vector<std::string> RegionNames::names(
    std::span<const std::vector<std::uint32_t>> groups) const {
  std::vector<Choice> choices(groups.size());
  tbb::parallel_for(std::size_t{0}, groups.size(),
                    [&](std::size_t group) { choices[group] = choose(groups[group]); });
  std::vector<std::string> result;
  std::set<std::string> taken;  // in one order, so that A / B is B / A
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto& [headings, firsts] = choices[group];
    std::string name;
    const auto take = [&](std::span<const std::uint32_t> wanted) {
      if (!name.empty()) {
        return;
      }
      std::vector<std::string> names;
      for (const std::uint32_t heading : wanted) {
        names.push_back(name_of(heading));
      }
      const std::string text = joined(names);
      std::sort(names.begin(), names.end());
      if (taken.insert(joined(std::move(names))).second) {
        name = text;
      }
    };
    if (!firsts.empty()) {
      take(headings);
      const std::uint32_t first = firsts.front().heading;
      for (const Candidate& next : firsts) {
        if (next.share >= share_alone && next.gain >= firsts.front().gain / 2 &&
            !below(first, next.heading)) {
          take(std::span(&next.heading, 1));
        }
      }
      for (const Candidate& next : firsts) {
        if (!below(first, next.heading) && !below(next.heading, first)) {
          take(std::array{first, next.heading});
        }
      }
    }
    const bool empty = std::all_of(groups[group].begin(), groups[group].end(),
                                   [&](std::uint32_t region) { return hits_[region] == 0; });
    const std::string plain = !firsts.empty() ? name_of(firsts.front().heading)
                              : empty         ? "no articles"
                                              : "mixed topics";
    for (std::size_t n = 1; name.empty(); ++n) {
      const std::string numbered = n == 1 ? plain : plain + " (" + std::to_string(n) + ")";
      if (taken.insert(numbered).second) {
        name = numbered;
      }
    }
    result.push_back(std::move(name));
  }
  return result;
}

}  // namespace somatlas::pipeline
