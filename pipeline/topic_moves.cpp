// Descriptors of both atlases are walked in UI order, in step. Always holds: planes are read over
// all threads, but every sum takes its terms in that order, so that threads change no bit.
#include "pipeline/topic_moves.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "pipeline/made_ahead.h"
#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

constexpr double weight_one = 16383;
constexpr std::size_t descriptors_at_once = 64;

/// One descriptor over the parts of one map.
struct Profile {
  std::vector<double> articles;  // that carry it, by part, from weights and hits
  std::vector<double> mean;      // weight, by part
  double total = 0;              // of articles
  std::uint32_t cell = 0;
};

class Map {
 public:
  Map(const MapParts& parts, const store::AtlasCells& cells) : parts_(parts), cells_(cells) {
    // As pipeline/region_levels.h has it: every usable cell counts for its hits and one more.
    mass_.resize(parts.parts);
    for (std::size_t i = 0; i < parts.part.size(); ++i) {
      mass_[parts.part[i]] += mass(i);
    }
    for (const double part : mass_) {
      all_ += part;
    }
  }

  [[nodiscard]] Profile profile(store::DescriptorCode code) const {
    const auto plane = parts_.atlas.plane(code);
    if (!plane || plane->size() != parts_.part.size()) {
      throw store::StoreError(parts_.atlas.directory() + ": the plane of " +
                              store::descriptor_ui(code) +
                              " is missing or cut; verify the atlas and train it again");
    }
    Profile profile;
    profile.articles.resize(parts_.parts);
    profile.mean.resize(parts_.parts);
    std::uint16_t greatest = 0;
    for (std::size_t i = 0; i < plane->size(); ++i) {
      const std::uint16_t weight = (*plane)[i];
      if (weight == 0) {
        continue;
      }
      profile.articles[parts_.part[i]] += weight / weight_one * cells_.hits[i];
      profile.mean[parts_.part[i]] += weight / weight_one * mass(i);
      if (weight > greatest) {
        greatest = weight;
        profile.cell = static_cast<std::uint32_t>(i);
      }
    }
    double sum = 0;
    for (std::size_t part = 0; part < parts_.parts; ++part) {
      profile.total += profile.articles[part];
      sum += profile.mean[part];
    }
    // Less the mean over the map; a part of vacant cells is like none.
    for (std::size_t part = 0; part < parts_.parts; ++part) {
      double& mean = profile.mean[part];
      mean = mass_[part] > 0 ? mean / mass_[part] - sum / all_ : 0;
    }
    return profile;
  }

 private:
  [[nodiscard]] double mass(std::size_t cell) const {
    return cells_.vacant[cell] != 0 ? 0 : cells_.hits[cell] + 1.0;
  }
  const MapParts& parts_;
  const store::AtlasCells& cells_;
  std::vector<double> mass_;
  double all_ = 0;
};

TopicPlace place_of(const Profile& profile, std::uint64_t articles) {
  const auto most = std::ranges::max_element(profile.articles);
  return {articles, static_cast<std::uint32_t>(most - profile.articles.begin()),
          profile.total > 0 ? *most / profile.total : 0, profile.cell};
}

// What of the descriptor's later profile is not where the shared articles of its earlier parts are.
std::optional<double> moved(const Profile& before, const Profile& after,
                            const AtlasOverlap& overlap) {
  std::vector<double> expected(after.articles.size());
  double carried = 0;
  for (std::size_t from = 0; from < before.articles.size(); ++from) {
    for (const AtlasOverlap::Flow& flow : overlap.flows[from]) {
      const double articles = before.articles[from] * static_cast<double>(flow.articles) /
                              static_cast<double>(overlap.before.shared[from]);
      expected[flow.part] += articles;
      carried += articles;
    }
  }
  if (carried <= 0 || after.total <= 0) {
    return std::nullopt;
  }
  double common = 0;
  for (std::size_t to = 0; to < expected.size(); ++to) {
    common += std::min(expected[to] / carried, after.articles[to] / after.total);
  }
  return std::clamp(1 - common, 0.0, 1.0);
}

/// A descriptor of one of the atlases or of both, by its places in their lists.
struct Pair {
  std::optional<std::size_t> before;
  std::optional<std::size_t> after;
  bool enough = false;  // articles in both for a move
};

struct Profiles {
  std::optional<Profile> before;  // where its plane was read
  std::optional<Profile> after;
  std::optional<TopicMove> move;
};

/// Sums of products over descriptors.
class Likeness {
 public:
  Likeness(std::size_t before, std::size_t after)
      : product_(before * after), before_(before), after_(after) {}

  void add(const std::vector<Profiles>& profiles) {
    for (const Profiles& one : profiles) {
      if (one.after) {
        add(after_, *one.after);
      }
      if (one.before) {
        add(before_, *one.before);
      }
    }
    const std::size_t columns = after_.size();
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, before_.size()), [&](const auto& range) {
      for (std::size_t i = range.begin(); i != range.end(); ++i) {
        double* const row = product_.data() + i * columns;
        for (const Profiles& one : profiles) {
          if (one.before && one.after) {
            const double mean = one.before->mean[i];
            for (std::size_t k = 0; k < columns; ++k) {
              row[k] += mean * one.after->mean[k];
            }
          }
        }
      }
    });
  }

  [[nodiscard]] std::vector<double> correlation() const {
    if (before_.size() == 1 && after_.size() == 1) {
      return {1};  // each is all of its map, and nothing sets it apart
    }
    std::vector<double> result = product_;
    for (std::size_t i = 0; i < before_.size(); ++i) {
      for (std::size_t k = 0; k < after_.size(); ++k) {
        const double lengths = std::sqrt(before_[i] * after_[k]);
        double& value = result[i * after_.size() + k];
        value = lengths > 0 ? std::clamp(value / lengths, -1.0, 1.0) : 0;
      }
    }
    return result;
  }

 private:
  static void add(std::vector<double>& squares, const Profile& profile) {
    for (std::size_t part = 0; part < squares.size(); ++part) {
      squares[part] += profile.mean[part] * profile.mean[part];
    }
  }
  std::vector<double> product_;
  std::vector<double> before_;  // squared lengths
  std::vector<double> after_;
};

/// All descriptors of both lists in UI order.
std::vector<Pair> pairs_of(const std::vector<store::AtlasDescriptor>& old_list,
                           const std::vector<store::AtlasDescriptor>& new_list,
                           std::uint64_t least_articles) {
  // UIs are in the order of their text.
  const auto ui_less = [](const store::AtlasDescriptor& a, const store::AtlasDescriptor& b) {
    return store::descriptor_ui(a.code) < store::descriptor_ui(b.code);
  };
  std::vector<Pair> pairs;
  for (std::size_t i = 0, k = 0; i < old_list.size() || k < new_list.size();) {
    const bool old_first =
        k == new_list.size() || (i < old_list.size() && ui_less(old_list[i], new_list[k]));
    const bool new_first =
        i == old_list.size() || (!old_first && ui_less(new_list[k], old_list[i]));
    Pair pair;
    if (!new_first) {
      pair.before = i++;
    }
    if (!old_first) {
      pair.after = k++;
    }
    pair.enough = pair.before && pair.after &&
                  std::min(old_list[*pair.before].articles, new_list[*pair.after].articles) >=
                      std::max<std::uint64_t>(1, least_articles);
    pairs.push_back(pair);
  }
  return pairs;
}

}  // namespace

TopicMoves topic_moves(const MapParts& before, const store::AtlasCells& before_cells,
                       const MapParts& after, const store::AtlasCells& after_cells,
                       const AtlasOverlap& overlap, const TopicRequest& request) {
  const Map old_map(before, before_cells);
  const Map new_map(after, after_cells);
  std::vector<store::AtlasDescriptor> old_list = before.atlas.descriptors();
  std::vector<store::AtlasDescriptor> new_list = after.atlas.descriptors();
  const std::vector<Pair> pairs = pairs_of(old_list, new_list, request.least_articles);
  TopicMoves result;
  Likeness likeness(request.likeness ? before.parts : 0, request.likeness ? after.parts : 0);
  MadeAhead<Profiles> made(
      pairs.size(),
      [&](std::size_t i) {
        const Pair& pair = pairs[i];
        Profiles profiles;
        if (pair.before && (pair.enough || request.likeness)) {
          profiles.before = old_map.profile(old_list[*pair.before].code);
        }
        if (pair.after && (pair.enough || request.likeness)) {
          profiles.after = new_map.profile(new_list[*pair.after].code);
        }
        if (pair.enough) {
          const store::AtlasDescriptor& old_one = old_list[*pair.before];
          profiles.move = TopicMove{
              old_one.code, place_of(*profiles.before, old_one.articles),
              place_of(*profiles.after, new_list[*pair.after].articles),
              request.moved ? moved(*profiles.before, *profiles.after, overlap) : std::nullopt};
        }
        return profiles;
      },
      descriptors_at_once);
  std::vector<Profiles> batch;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i % descriptors_at_once == 0 &&
        !request.progress(static_cast<double>(i) / static_cast<double>(pairs.size()))) {
      return result;
    }
    batch.push_back(std::move(made.next().value()));
    if (batch.back().move) {
      result.moves.push_back(*batch.back().move);
    }
    if (batch.size() == descriptors_at_once || i + 1 == pairs.size()) {
      if (request.likeness) {
        likeness.add(batch);
      }
      batch.clear();
    }
  }
  for (const Pair& pair : pairs) {
    if (!pair.after) {
      result.gone.push_back(std::move(old_list[*pair.before]));
    } else if (!pair.before) {
      result.appeared.push_back(std::move(new_list[*pair.after]));
    }
  }
  const auto more = [](const store::AtlasDescriptor& a, const store::AtlasDescriptor& b) {
    return a.articles > b.articles;
  };
  std::ranges::stable_sort(result.gone, more);
  std::ranges::stable_sort(result.appeared, more);
  if (request.likeness) {
    result.likeness = likeness.correlation();
  }
  return result;
}

}  // namespace somatlas::pipeline
