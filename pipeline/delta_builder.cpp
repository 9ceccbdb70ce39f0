// Sorting a file's records by PMID and keeping the last word on each.
#include "pipeline/delta_builder.h"

#include <algorithm>
#include <tuple>

namespace somatlas::pipeline {

namespace {

// A descriptor code is below 2 * 10^9, so its top bit is free.
constexpr std::uint32_t major_bit = 0x8000'0000U;

}  // namespace

void DeltaBuilder::clear() {
  records_.clear();
  descriptors_.clear();
}

void DeltaBuilder::add_citation(const ingest::CitationView& citation) {
  const auto first = static_cast<std::uint32_t>(descriptors_.size());
  for (const ingest::Heading& heading : citation.headings) {
    descriptors_.push_back(store::descriptor_code(heading.ui.number, heading.ui.digits) |
                           (heading.major_topic ? major_bit : 0U));
  }
  const auto by_code = [](std::uint32_t code) { return code & ~major_bit; };
  std::ranges::sort(descriptors_.begin() + first, descriptors_.end(), {}, by_code);
  records_.push_back({citation.pmid, citation.version, citation.year, first,
                      static_cast<std::uint16_t>(citation.headings.size()), false,
                      static_cast<std::uint32_t>(records_.size())});
}

void DeltaBuilder::add_deletion(std::uint32_t pmid, std::uint16_t version) {
  records_.push_back({pmid, version, 0, 0, 0, true, static_cast<std::uint32_t>(records_.size())});
}

std::vector<store::Shard> DeltaBuilder::build(const store::FileKey& key) {
  std::ranges::sort(records_, {}, [](const Record& r) {
    return std::tuple(r.pmid, r.version, r.deletion, r.place);
  });
  std::vector<store::Shard> deltas;
  for (auto at = records_.begin(); at != records_.end();) {
    const auto end = std::find_if(at, records_.end(),
                                  [pmid = at->pmid](const Record& r) { return r.pmid != pmid; });
    const auto citations = std::count_if(at, end, [](const Record& r) { return !r.deletion; });
    const std::uint32_t range = at->pmid / store::pmids_per_shard;
    if (deltas.empty() || deltas.back().range != range) {
      store::Shard& fresh = deltas.emplace_back();
      fresh.range = range;
      fresh.keys.push_back(key);
      fresh.offsets.push_back(0);
    }
    append(deltas.back(), *(end - 1), static_cast<std::uint32_t>(citations));
    at = end;
  }
  return deltas;
}

void DeltaBuilder::append(store::Shard& shard, const Record& winner, std::uint32_t records) const {
  using store::ArticleState;
  const ArticleState state = winner.deletion     ? ArticleState::deleted
                             : winner.count == 0 ? ArticleState::bare
                                                 : ArticleState::article;
  shard.low.push_back(static_cast<std::uint16_t>(winner.pmid % store::pmids_per_shard));
  shard.version.push_back(winner.version);
  shard.year.push_back(state == ArticleState::article ? winner.year : std::uint16_t{0});
  shard.state.push_back(state);
  shard.key.push_back(0);
  shard.records.push_back(records);
  for (std::uint32_t d = winner.first; d < winner.first + winner.count; ++d) {
    shard.descriptors.push_back(descriptors_[d] & ~major_bit);
    shard.major.push_back((descriptors_[d] & major_bit) != 0 ? 1 : 0);
  }
  shard.offsets.push_back(static_cast<std::uint32_t>(shard.descriptors.size()));
}

}  // namespace somatlas::pipeline
