// A comparison of two atlases as text, as tables and as JSON. Always holds: all forms say the same;
// a region is named by the map it is on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "pipeline/atlas_diff.h"
#include "tools/output.h"

namespace somatlas::tools {

class DiffReport {
 public:
  /// most: entries of each list of print(). What is referred to must outlive it.
  DiffReport(const pipeline::AtlasDiff& diff, store::Atlas& before, store::Atlas& after,
             std::size_t level, std::size_t most);

  void print(Output& out) const;
  /// A table (CSV) with a row a region of either map.
  void print_regions(Output& out) const;
  /// A table (CSV) with a row a descriptor.
  void print_topics(Output& out) const;
  void print_json(Output& out) const;

 private:
  enum class Side : std::uint8_t { before, after };
  [[nodiscard]] const std::vector<store::AtlasRegion>& regions(Side side) const;
  [[nodiscard]] const std::string& region(Side side, std::uint32_t number) const {
    return regions(side)[number].name;
  }
  [[nodiscard]] std::string name(store::DescriptorCode code) const;
  /// Whether the regions where the topic lies are linked.
  [[nodiscard]] bool linked(const pipeline::TopicMove& move) const;
  /// Of all moves, those to a region that is neither linked nor of the same name, the clearest
  /// first.
  [[nodiscard]] std::vector<const pipeline::TopicMove*> clearest() const;
  /// "Asthma (62 %), Allergens (51 %)": the linked regions of the other map with the shares, or the
  /// correlation, that link them.
  [[nodiscard]] std::string links(Side side, std::uint32_t number) const;

  void print_sides(Output& out) const;
  void print_growth(Output& out) const;
  void print_fates(Output& out) const;
  void print_topic_lists(Output& out) const;

  const pipeline::AtlasDiff& diff_;
  std::string before_;
  std::string after_;
  std::size_t level_;
  std::size_t most_;
  std::unordered_map<store::DescriptorCode, std::string> names_;
};

}  // namespace somatlas::tools
