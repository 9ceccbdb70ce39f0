// The comparison of two atlases as CSV and JSON: everything, in the order of the regions' numbers
// and of the UIs.
#include <nlohmann/json.hpp>

#include "tools/diff_report.h"
#include "tools/export/delimited.h"
#include "tools/figures.h"

namespace somatlas::tools {
namespace {

using nlohmann::ordered_json;
using pipeline::Fate;

const char* fate_name(Fate fate) {
  switch (fate) {
    case Fate::goes_on:
      return "goes on";
    case Fate::split:
      return "split";
    case Fate::merged:
      return "merged";
    case Fate::vanished:
      return "vanished";
    case Fate::appeared:
      break;
  }
  return "appeared";
}

template <typename Value>
ordered_json or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

std::string optional_text(const std::optional<double>& value, int digits) {
  return value ? fixed(value, digits) : "";
}

}  // namespace

void DiffReport::print_regions(Output& out) const {
  out << exports::csv_line(
      std::vector<std::string>{"atlas", "region", "name", "articles", "articles_in_both", "fate",
                               "linked_with", "best_match", "best_match_name", "best_match_share",
                               "articles_before", "relative_growth", "q"});
  for (const Side side : {Side::before, Side::after}) {
    const bool old = side == Side::before;
    const auto& counts = old ? diff_.overlap.before : diff_.overlap.after;
    const auto& fates = old ? diff_.fates.before : diff_.fates.after;
    const auto& matches = old ? diff_.matches.successor : diff_.matches.predecessor;
    for (std::uint32_t number = 0; number < fates.size(); ++number) {
      const auto& match = matches[number];
      const pipeline::RegionGrowth* const growth =
          old || !diff_.growth[number] ? nullptr : &*diff_.growth[number];
      out << exports::csv_line(std::vector<std::string>{
          old ? "before" : "after", std::to_string(number), region(side, number),
          std::to_string(counts.in[number]), std::to_string(counts.shared[number]),
          fate_name(fates[number]), links(side, number), match ? std::to_string(match->region) : "",
          match ? region(old ? Side::after : Side::before, match->region) : "",
          match ? fixed(match->share, 4) : "", growth ? fixed(growth->before, 1) : "",
          growth ? fixed(growth->relative, 4) : "", growth ? optional_text(growth->q, 6) : ""});
    }
  }
}

void DiffReport::print_topics(Output& out) const {
  std::vector<std::string> header{"ui", "name"};
  for (const std::string when : {"before", "after"}) {
    for (const std::string what : {"articles", "region", "region_name", "share", "row", "column"}) {
      header.push_back(what + "_" + when);
    }
  }
  header.insert(header.end(), {"regions_linked", "moved"});
  out << exports::csv_line(header);
  for (const pipeline::TopicMove& move : diff_.topics.moves) {
    std::vector<std::string> fields{store::descriptor_ui(move.code), name(move.code)};
    const auto add = [&](Side side, const pipeline::TopicPlace& place, std::uint32_t columns) {
      fields.insert(fields.end(),
                    {std::to_string(place.articles), std::to_string(place.part),
                     region(side, place.part), fixed(place.share, 4),
                     std::to_string(place.cell / columns), std::to_string(place.cell % columns)});
    };
    add(Side::before, move.before, diff_.before_meta.settings.side);
    add(Side::after, move.after, diff_.after_meta.settings.side);
    fields.insert(fields.end(), {linked(move) ? "1" : "0", optional_text(move.moved, 4)});
    out << exports::csv_line(fields);
  }
}

void DiffReport::print_json(Output& out) const {
  const auto& overlap = diff_.overlap;
  ordered_json json;
  const auto add_atlas = [&](const char* which, Side side, const std::string& directory,
                             const pipeline::AtlasMeta& meta) {
    const bool old = side == Side::before;
    const auto& counts = old ? overlap.before : overlap.after;
    const auto& fates = old ? diff_.fates.before : diff_.fates.after;
    const auto& linked = old ? diff_.fates.successors : diff_.fates.predecessors;
    const auto& matches = old ? diff_.matches.successor : diff_.matches.predecessor;
    ordered_json& atlas = json[which];
    atlas = {{"directory", directory},
             {"side", meta.settings.side},
             {"store_state", meta.store_state},
             {"articles", counts.articles},
             {"regions", ordered_json::array()}};
    for (std::uint32_t number = 0; number < fates.size(); ++number) {
      ordered_json entry{{"name", region(side, number)},
                         {"articles", counts.in[number]},
                         {"articles_in_both", counts.shared[number]},
                         {"fate", fate_name(fates[number])},
                         {"linked_with", linked[number]}};
      const auto& match = matches[number];
      entry["best_match"] =
          match ? ordered_json{{"region", match->region}, {"share", match->share}} : nullptr;
      if (!old) {
        const auto& growth = diff_.growth[number];
        entry["growth"] = growth ? ordered_json{{"articles_before", growth->before},
                                                {"relative", growth->relative},
                                                {"q", or_null(growth->q)}}
                                 : nullptr;
      }
      atlas["regions"].push_back(std::move(entry));
    }
  };
  add_atlas("before", Side::before, before_, diff_.before_meta);
  add_atlas("after", Side::after, after_, diff_.after_meta);
  json["articles_in_both"] = overlap.shared;
  json["trained_in_both"] = overlap.trained;
  json["same_descriptors"] = overlap.same_descriptors;
  json["cells_compare"] = diff_.goes_on;
  json["same_cell"] = diff_.goes_on ? ordered_json(overlap.same_cell) : ordered_json(nullptr);
  json["corpus_growth"] = diff_.corpus_growth;
  json["matched_by"] = diff_.by == pipeline::MatchBy::articles ? "articles" : "weights";
  json["topics"] = ordered_json::array();
  for (const pipeline::TopicMove& move : diff_.topics.moves) {
    ordered_json topic{{"ui", store::descriptor_ui(move.code)}, {"name", name(move.code)}};
    const auto add = [&](const char* when, const pipeline::TopicPlace& place,
                         std::uint32_t columns) {
      topic[when] = {{"articles", place.articles},
                     {"region", place.part},
                     {"share", place.share},
                     {"row", place.cell / columns},
                     {"column", place.cell % columns}};
    };
    add("before", move.before, diff_.before_meta.settings.side);
    add("after", move.after, diff_.after_meta.settings.side);
    topic["regions_linked"] = linked(move);
    topic["moved"] = or_null(move.moved);
    json["topics"].push_back(std::move(topic));
  }
  const auto add_list = [&](const char* which, const std::vector<store::AtlasDescriptor>& topics) {
    json[which] = ordered_json::array();
    for (const store::AtlasDescriptor& topic : topics) {
      json[which].push_back({{"ui", store::descriptor_ui(topic.code)},
                             {"name", name(topic.code)},
                             {"articles", topic.articles}});
    }
  };
  add_list("descriptors_after_alone", diff_.topics.appeared);
  add_list("descriptors_before_alone", diff_.topics.gone);
  out << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace somatlas::tools
