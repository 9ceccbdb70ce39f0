// Descriptors of both atlases are walked in UI order, in step.
#include "pipeline/topic_moves.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "store/store_error.h"

namespace somatlas::pipeline {
namespace {

constexpr double weight_one = 16383;

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

/// Sums of products over descriptors.
class Likeness {
 public:
  Likeness(std::size_t before, std::size_t after)
      : product_(before * after), before_(before), after_(after) {}

  void add_both(const Profile& a, const Profile& b) {
    add(before_, a);
    add(after_, b);
    for (std::size_t i = 0; i < a.mean.size(); ++i) {
      for (std::size_t k = 0; k < b.mean.size(); ++k) {
        product_[i * b.mean.size() + k] += a.mean[i] * b.mean[k];
      }
    }
  }
  void add_before(const Profile& a) { add(before_, a); }
  void add_after(const Profile& b) { add(after_, b); }

  [[nodiscard]] std::vector<double> correlation() const {
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

}  // namespace

TopicMoves topic_moves(const MapParts& before, const store::AtlasCells& before_cells,
                       const MapParts& after, const store::AtlasCells& after_cells,
                       const AtlasOverlap& overlap, const TopicRequest& request) {
  const Map old_map(before, before_cells);
  const Map new_map(after, after_cells);
  std::vector<store::AtlasDescriptor> old_list = before.atlas.descriptors();
  std::vector<store::AtlasDescriptor> new_list = after.atlas.descriptors();
  // UIs are in the order of their text.
  const auto ui_less = [](const store::AtlasDescriptor& a, const store::AtlasDescriptor& b) {
    return store::descriptor_ui(a.code) < store::descriptor_ui(b.code);
  };
  TopicMoves result;
  Likeness likeness(request.likeness ? before.parts : 0, request.likeness ? after.parts : 0);
  const std::size_t all = old_list.size() + new_list.size();
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < old_list.size() || k < new_list.size()) {
    if ((i + k) % 64 == 0 && !request.progress(static_cast<double>(i + k) / double(all))) {
      return result;
    }
    const bool old_first =
        k == new_list.size() || (i < old_list.size() && ui_less(old_list[i], new_list[k]));
    const bool new_first =
        i == old_list.size() || (!old_first && ui_less(new_list[k], old_list[i]));
    if (old_first) {
      if (request.likeness) {
        likeness.add_before(old_map.profile(old_list[i].code));
      }
      result.gone.push_back(std::move(old_list[i++]));
      continue;
    }
    if (new_first) {
      if (request.likeness) {
        likeness.add_after(new_map.profile(new_list[k].code));
      }
      result.appeared.push_back(std::move(new_list[k++]));
      continue;
    }
    const store::AtlasDescriptor& old_one = old_list[i++];
    const store::AtlasDescriptor& new_one = new_list[k++];
    const bool enough = std::min(old_one.articles, new_one.articles) >=
                        std::max<std::uint64_t>(1, request.least_articles);
    if (!enough && !request.likeness) {
      continue;
    }
    const Profile old_profile = old_map.profile(old_one.code);
    const Profile new_profile = new_map.profile(new_one.code);
    if (enough) {
      result.moves.push_back(
          {old_one.code, place_of(old_profile, old_one.articles),
           place_of(new_profile, new_one.articles),
           request.moved ? moved(old_profile, new_profile, overlap) : std::nullopt});
    }
    if (request.likeness) {
      likeness.add_both(old_profile, new_profile);
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
