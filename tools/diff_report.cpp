// The report for people: first what the two atlases share and how far that carries, then regions,
// then topics.
#include "tools/diff_report.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tools/figures.h"

namespace somatlas::tools {
namespace {

using pipeline::Fate;
using pipeline::MatchBy;
using pipeline::TopicMove;

constexpr std::array<const char*, store::region_levels> level_names{"regions", "areas",
                                                                    "continents"};
constexpr double most_q = 0.05;

std::string percent(double share) {
  return fixed(100 * share, 0) + " %";
}

std::string percent(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? "-"
                 : fixed(100.0 * static_cast<double>(part) / static_cast<double>(of), 1) + " %";
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(text.size() < width ? width - text.size() : 0, ' ') + text;
}

}  // namespace

DiffReport::DiffReport(const pipeline::AtlasDiff& diff, store::Atlas& before, store::Atlas& after,
                       std::size_t level, std::size_t most)
    : diff_(diff),
      before_(before.directory()),
      after_(after.directory()),
      level_(level),
      most_(most) {
  for (store::Atlas* atlas : {&before, &after}) {
    for (store::AtlasDescriptor& descriptor : atlas->descriptors()) {
      if (!descriptor.name.empty()) {
        names_[descriptor.code] = std::move(descriptor.name);
      }
    }
  }
}

const std::vector<store::AtlasRegion>& DiffReport::regions(Side side) const {
  return (side == Side::before ? diff_.before_cells : diff_.after_cells).levels[level_];
}

std::string DiffReport::name(store::DescriptorCode code) const {
  const auto found = names_.find(code);
  return found == names_.end() ? store::descriptor_ui(code) : found->second;
}

bool DiffReport::linked(const TopicMove& move) const {
  return std::ranges::binary_search(diff_.fates.successors[move.before.part], move.after.part);
}

std::vector<const TopicMove*> DiffReport::clearest() const {
  std::vector<const TopicMove*> moves;
  for (const TopicMove& move : diff_.topics.moves) {
    // Of what a reader takes for one region nothing has moved, linked or not.
    if (!linked(move) &&
        region(Side::before, move.before.part) != region(Side::after, move.after.part)) {
      moves.push_back(&move);
    }
  }
  // Of a topic that lies all over a map the region with most of it says little.
  const auto rank = [](const TopicMove* move) {
    return move->moved.value_or(1) * std::min(move->before.share, move->after.share);
  };
  std::ranges::stable_sort(
      moves, [&](const TopicMove* a, const TopicMove* b) { return rank(a) > rank(b); });
  return moves;
}

std::string DiffReport::links(Side side, std::uint32_t number) const {
  const auto& linked =
      side == Side::before ? diff_.fates.successors[number] : diff_.fates.predecessors[number];
  const Side other = side == Side::before ? Side::after : Side::before;
  std::string text;
  for (const std::uint32_t there : linked) {
    const std::uint32_t from = side == Side::before ? number : there;
    const std::uint32_t to = side == Side::before ? there : number;
    double share = 0;
    if (diff_.by == MatchBy::likeness) {
      share = diff_.topics.likeness[std::size_t{from} * regions(Side::after).size() + to];
    } else {
      const auto& flows = diff_.overlap.flows[from];
      const auto flow = std::ranges::find(flows, to, &pipeline::AtlasOverlap::Flow::part);
      const std::uint64_t all =
          side == Side::before ? diff_.overlap.before.shared[from] : diff_.overlap.after.shared[to];
      share = flow == flows.end() ? 0 : static_cast<double>(flow->articles) / double(all);
    }
    text += (text.empty() ? "" : ", ") + region(other, there) + " (" +
            (diff_.by == MatchBy::likeness ? fixed(share, 2) : percent(share)) + ")";
  }
  return text;
}

void DiffReport::print_sides(Output& out) const {
  const auto& overlap = diff_.overlap;
  const auto side = [&](const char* which, const std::string& directory,
                        const pipeline::AtlasMeta& meta, std::uint64_t articles) {
    report_line(out, which,
                directory + ": side " + std::to_string(meta.settings.side) + ", " +
                    count_of(articles, "article") + " with a place, store state " +
                    meta.store_state);
  };
  side("before", before_, diff_.before_meta, overlap.before.articles);
  side("after", after_, diff_.after_meta, overlap.after.articles);
  report_line(out, "articles in both",
              std::to_string(overlap.shared) + " (" +
                  percent(overlap.shared, overlap.before.articles) + " of those before, " +
                  percent(overlap.shared, overlap.after.articles) + " of those after)");
  if (overlap.trained != 0) {
    report_line(out, "with the same descriptors",
                percent(overlap.same_descriptors, overlap.trained),
                "of the " + std::to_string(overlap.trained) + " that both maps were trained on");
  }
  report_line(out, "growth of the corpus", fixed(diff_.corpus_growth, 3),
              "articles after over articles before");
  if (diff_.goes_on) {
    report_line(out, "rows and columns",
                percent(overlap.same_cell, overlap.shared) +
                    " of the articles in both are in the cell where they were: the later map went "
                    "on from the earlier");
  } else {
    report_line(out, "rows and columns",
                "do not compare: the later map was not trained --from the earlier");
  }
  const char* const why = few_shared(overlap) ? " (less than a tenth of the articles is in both)"
                          : !diff_.one_store && other_articles(overlap)
                              ? " (articles of one PMID have other descriptors here and there)"
                              : "";
  report_line(out, "regions are matched by",
              diff_.by == MatchBy::articles
                  ? std::string("the articles in both")
                  : std::string("the correlation of their mean weights") + why);
}

void DiffReport::print_growth(Output& out) const {
  struct Row {
    std::uint32_t region = 0;
    pipeline::RegionGrowth growth;
  };
  std::vector<Row> rows;
  for (std::uint32_t to = 0; to < diff_.growth.size(); ++to) {
    const auto& growth = diff_.growth[to];
    // What chance alone brings about is left out where it can be told.
    if (growth && growth->q.value_or(0) <= most_q) {
      rows.push_back({to, *growth});
    }
  }
  std::ranges::stable_sort(
      rows, [](const Row& a, const Row& b) { return a.growth.relative > b.growth.relative; });
  const auto grew =
      std::ranges::partition_point(rows, [](const Row& row) { return row.growth.relative > 1; });
  const auto list = [&](const std::string& title, auto begin, auto end) {
    out << '\n' << title << (begin == end ? "\n    none\n" : "\n");
    std::size_t printed = 0;
    for (auto row = begin; row != end && printed < most_; ++row, ++printed) {
      out << right(fixed(row->growth.relative, 2), 8) << right(fixed(row->growth.before, 0), 9)
          << " ->" << right(std::to_string(diff_.overlap.after.in[row->region]), 8) << "  "
          << region(Side::after, row->region) << '\n';
    }
  };
  const std::string against =
      diff_.by == MatchBy::articles
          ? " (beyond chance: q at most 0.05)"
          : " (of those that go on or were merged; chance is not ruled out)";
  list("grew more than the corpus" + against + ": relative growth, articles before and after",
       rows.begin(), grew);
  std::ranges::reverse(rows);
  list("grew less or shrank" + against + ":", rows.begin(),
       std::ranges::partition_point(rows, [](const Row& row) { return row.growth.relative < 1; }));
}

void DiffReport::print_fates(Output& out) const {
  const auto count = [](const std::vector<Fate>& fates, Fate fate) {
    return std::to_string(std::ranges::count(fates, fate));
  };
  const auto& before = diff_.fates.before;
  const auto& after = diff_.fates.after;
  out << '\n';
  report_line(out, std::string(level_names[level_]) + " before",
              std::to_string(before.size()) + ": " + count(before, Fate::goes_on) + " go on, " +
                  count(before, Fate::split) + " split, " + count(before, Fate::merged) +
                  " were merged, " + count(before, Fate::vanished) + " vanished");
  report_line(out, std::string(level_names[level_]) + " after",
              std::to_string(after.size()) + ": " + count(after, Fate::goes_on) + " went on, " +
                  count(after, Fate::split) + " are parts of a split, " +
                  count(after, Fate::merged) + " merged, " + count(after, Fate::appeared) +
                  " appeared");
  const auto list = [&](const std::string& title, Side side, Fate fate, const char* arrow) {
    const auto& fates = side == Side::before ? before : after;
    const auto& in = side == Side::before ? diff_.overlap.before.in : diff_.overlap.after.in;
    std::vector<std::uint32_t> found;
    for (std::uint32_t number = 0; number < fates.size(); ++number) {
      if (fates[number] == fate) {
        found.push_back(number);
      }
    }
    if (found.empty()) {
      return;
    }
    std::ranges::stable_sort(found, [&](auto a, auto b) { return in[a] > in[b]; });
    out << '\n' << title << '\n';
    for (std::size_t i = 0; i < std::min(most_, found.size()); ++i) {
      const std::string linked = links(side, found[i]);
      out << right(std::to_string(in[found[i]]), 8) << "  " << region(side, found[i])
          << (linked.empty() ? "" : arrow + linked) << '\n';
    }
  };
  list("split: articles before, region, its parts", Side::before, Fate::split, " -> ");
  list("merged: articles after, region, what it was", Side::after, Fate::merged, " <- ");
  list("vanished: articles before, region", Side::before, Fate::vanished, "");
  list("appeared: articles after, region", Side::after, Fate::appeared, "");
}

void DiffReport::print_topic_lists(Output& out) const {
  const std::vector<const TopicMove*> moves = clearest();
  out << '\n';
  report_line(out, "topics compared",
              std::to_string(diff_.topics.moves.size()) + ": " + std::to_string(moves.size()) +
                  " lie in a region of another name that is not linked with where they lay");
  if (!moves.empty()) {
    out << "\ntopics that moved: "
        << (moves.front()->moved ? "how far (0 to 1), articles" : "articles")
        << " before and after, from region (share of the topic there) to region\n";
  }
  for (std::size_t i = 0; i < std::min(most_, moves.size()); ++i) {
    const TopicMove& move = *moves[i];
    if (move.moved) {
      out << right(fixed(*move.moved, 2), 8);
    }
    out << right(std::to_string(move.before.articles), 8) << " ->"
        << right(std::to_string(move.after.articles), 7) << "  " << name(move.code) << ": "
        << region(Side::before, move.before.part) << " (" << percent(move.before.share) << ") -> "
        << region(Side::after, move.after.part) << " (" << percent(move.after.share) << ")\n";
  }
  const auto list = [&](const char* title, const std::vector<store::AtlasDescriptor>& topics) {
    out << '\n';
    report_line(out, title, std::to_string(topics.size()));
    for (std::size_t i = 0; i < std::min(most_, topics.size()); ++i) {
      out << right(std::to_string(topics[i].articles), 8) << "  " << name(topics[i].code) << '\n';
    }
  };
  list("descriptors after alone", diff_.topics.appeared);
  list("descriptors before alone", diff_.topics.gone);
}

void DiffReport::print(Output& out) const {
  print_sides(out);
  print_fates(out);
  print_growth(out);
  print_topic_lists(out);
}

}  // namespace somatlas::tools
