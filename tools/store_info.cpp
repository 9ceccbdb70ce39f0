// Printing the figures of a store.
#include "tools/store_info.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "tools/export/delimited.h"
#include "tools/figures.h"
#include "tools/store_figures.h"

namespace somatlas::tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_frequent = 10;

void put_json(Output& out, const Json& json) {
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::span<const DescriptorFrequency> frequent(const StoreFigures& figures) {
  return std::span(figures.descriptors).first(std::min(most_frequent, figures.descriptors.size()));
}

std::optional<double> ratio(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? std::nullopt
                 : std::optional(static_cast<double>(part) / static_cast<double>(of));
}

Json or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

// "2026-11-30T09:12:59Z".
std::string time_of(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const auto two = [](auto number) {
    const std::string text = std::to_string(number);
    return text.size() < 2 ? "0" + text : text;
  };
  return std::to_string(static_cast<int>(date.year())) + "-" +
         two(static_cast<unsigned>(date.month())) + "-" + two(static_cast<unsigned>(date.day())) +
         "T" + two(clock.hours().count()) + ":" + two(clock.minutes().count()) + ":" +
         two(clock.seconds().count()) + "Z";
}

// Of production, from the two digits in a file's name.
std::string year_of_files(std::uint32_t digits) {
  return std::to_string(digits < 100 ? digits + 2000 : digits);
}

Json json_of(const DescriptorFrequency& frequency) {
  return {{"ui", store::descriptor_ui(frequency.code)},
          {"name", frequency.name},
          {"articles", frequency.articles},
          {"major_topics", frequency.major_topics}};
}

Json json_of(const store::MeshView& view, const store::MeshView::Effect& effect) {
  Json json{{"lists", Json::array()},
            {"replaced_descriptors", view.replaced()},
            {"removed_descriptors", view.removed()},
            {"articles", effect.articles},
            {"articles_emptied", effect.emptied}};
  for (const store::MeshChangeList& list : view.lists()) {
    json["lists"].push_back({{"name", list.name},
                             {"md5", list.md5},
                             {"changes", list.changes.size()},
                             {"taken_at", time_of(list.taken_at)}});
  }
  return json;
}

void print_store_json(store::Store& store, const StoreFigures& figures, Output& out) {
  const std::uint64_t bytes = store.disk_bytes();
  Json json{{"store", store.directory()},
            {"store_id", store.id()},
            {"state_id", store.state_id()},
            {"files", figures.total.files},
            {"citations", figures.articles + figures.bare},
            {"articles_with_descriptors", figures.articles},
            {"articles_without_descriptors", figures.bare},
            {"tombstones", figures.tombstones},
            {"mean_descriptors", or_null(ratio(figures.uses, figures.articles))},
            {"distinct_descriptors", figures.descriptors.size()},
            {"disk_bytes", bytes},
            {"bytes_an_article", or_null(ratio(bytes, figures.articles))}};
  const auto years = figures.year_range();
  json["first_year"] = years ? Json(years->first) : nullptr;
  json["last_year"] = years ? Json(years->second) : nullptr;
  json["articles_without_year"] = figures.without_year();
  json["articles_by_decade"] = Json::object();
  for (const auto& [decade, articles] : figures.decades()) {
    json["articles_by_decade"][std::to_string(decade)] = articles;
  }
  json["articles_by_year"] = Json::object();
  for (const auto& [year, articles] : figures.years) {
    if (year != 0) {
      json["articles_by_year"][std::to_string(year)] = articles;
    }
  }
  json["most_frequent"] = Json::array();
  for (const DescriptorFrequency& frequency : frequent(figures)) {
    json["most_frequent"].push_back(json_of(frequency));
  }
  json["ledger"] = {{"file_bytes", figures.total.file_bytes},
                    {"xml_bytes", figures.total.xml_bytes},
                    {"citations", figures.total.citations},
                    {"deletions", figures.total.deletions},
                    {"books", figures.total.books},
                    {"left_out", figures.total.left_out},
                    {"unknown_headings", figures.total.unknown_headings}};
  json["files_by_year"] = Json::object();
  for (const auto& [year, files] : figures.of_year) {
    json["files_by_year"][year == 0 ? "none" : year_of_files(year)] = {
        {"files", files.files},
        {"file_bytes", files.file_bytes},
        {"xml_bytes", files.xml_bytes},
        {"citations", files.citations}};
  }
  json["entry_words"] = store::count_words(store.entry_words());
  json["disk_bytes_by_part"] = store.disk_parts();
  json["mesh_changes"] = json_of(*store.mesh_view(), figures.effect);
  put_json(out, json);
}

void print_view(const store::MeshView& view, const store::MeshView::Effect& effect, Output& out) {
  if (view.lists().empty()) {
    return;
  }
  report_line(out, "changed descriptors",
              std::to_string(view.replaced()) + " replaced, " + std::to_string(view.removed()) +
                  " removed: " + count_of(effect.articles, "article") +
                  " read with other descriptors than filed, " + std::to_string(effect.emptied) +
                  " of them left without any");
  for (const store::MeshChangeList& list : view.lists()) {
    report_line(out, "  " + exports::tsv_field(list.name), std::to_string(list.changes.size()),
                "changes, taken " + time_of(list.taken_at));
  }
}

void print_store_text(store::Store& store, const StoreFigures& figures, Output& out) {
  const std::uint64_t bytes = store.disk_bytes();
  report_line(out, "store", store.directory());
  report_line(out, "state id", store.state_id(),
              "changes with every file taken, and with lists of changed descriptors");
  report_line(out, "files", std::to_string(figures.total.files));
  for (const auto& [year, files] : figures.of_year) {
    report_line(out, year == 0 ? "  of other names" : "  of " + year_of_files(year),
                std::to_string(files.files),
                size_text(files.file_bytes) + ", " + count_of(files.citations, "citation") +
                    (year == 0 ? "; not called pubmedYYnNNNN" : ""));
  }
  report_line(out, "citations", std::to_string(figures.articles + figures.bare),
              "kept now, of those that the files brought");
  report_line(out, "  with descriptors", std::to_string(figures.articles),
              "the articles that dump prints and train uses");
  report_line(out, "  without", std::to_string(figures.bare));
  report_line(out, "deletions kept", std::to_string(figures.tombstones),
              "of articles that were here or may come in an older file");
  report_line(out, "mean descriptors", fixed(ratio(figures.uses, figures.articles), 2),
              "of the articles with descriptors");
  report_line(out, "distinct descriptors", std::to_string(figures.descriptors.size()));
  if (const std::uint64_t words = store::count_words(store.entry_words()); words != 0) {
    report_line(out, "entry words", std::to_string(words), "further names that find descriptors");
  }
  print_view(*store.mesh_view(), figures.effect, out);
  const auto years = figures.year_range();
  report_line(out, "years",
              years ? std::to_string(years->first) + " to " + std::to_string(years->second) : "-");
  for (const auto& [decade, articles] : figures.decades()) {
    report_line(out, "  " + std::to_string(decade) + "s", std::to_string(articles));
  }
  if (const std::uint64_t articles = figures.without_year(); articles != 0) {
    report_line(out, "  no year", std::to_string(articles));
  }
  if (!figures.descriptors.empty()) {
    report_line(out, "most frequent descriptors", "");
    for (const DescriptorFrequency& frequency : frequent(figures)) {
      report_line(out, "  " + store::descriptor_ui(frequency.code),
                  std::to_string(frequency.articles) + "  " +
                      (frequency.name.empty() ? "-" : frequency.name));
    }
  }
  report_line(out, "bytes on disk", std::to_string(bytes), size_text(bytes));
  for (const auto& [part, size] : store.disk_parts()) {
    report_line(out, "  " + part, std::to_string(size), size_text(size));
  }
  report_line(out, "bytes an article", fixed(ratio(bytes, figures.articles), 1),
              "all of the above over the articles with descriptors");
  report_line(out, "read from files",
              size_text(figures.total.file_bytes) + " (" + size_text(figures.total.xml_bytes) +
                  " of XML): " + count_of(figures.total.citations, "citation") + ", " +
                  count_of(figures.total.deletions, "deletion") + ", " +
                  count_of(figures.total.books, "book") + ", " +
                  std::to_string(figures.total.left_out) + " left out, " +
                  count_of(figures.total.unknown_headings, "unknown heading"));
}

}  // namespace

void print_store(store::Store& store, bool json, Output& out) {
  (json ? print_store_json : print_store_text)(store, count_store(store), out);
}

void print_files(store::Store& store, bool json, Output& out) {
  if (json) {
    Json files = Json::array();
    for (const store::LedgerEntry& entry : store.ledger()) {
      files.push_back({{"name", entry.key.name},
                       {"file_bytes", entry.file_bytes},
                       {"md5", entry.md5},
                       {"xml_bytes", entry.xml_bytes},
                       {"citations", entry.citations},
                       {"with_descriptors", entry.with_descriptors},
                       {"deletions", entry.deletions},
                       {"taken_at", time_of(entry.taken_at)}});
    }
    put_json(out, files);
    return;
  }
  out << "name\tbytes\tMD5\tcitations\twith descriptors\tdeletions\ttaken\n";
  for (const store::LedgerEntry& entry : store.ledger()) {
    out << exports::tsv_field(entry.key.name) << '\t' << entry.file_bytes << '\t' << entry.md5
        << '\t' << entry.citations << '\t' << entry.with_descriptors << '\t' << entry.deletions
        << '\t' << time_of(entry.taken_at) << '\n';
  }
}

void print_frequencies(store::Store& store, bool json, Output& out) {
  const StoreFigures figures = count_store(store);
  if (json) {
    Json all = Json::array();
    for (const DescriptorFrequency& frequency : figures.descriptors) {
      all.push_back(json_of(frequency));
    }
    put_json(out, all);
    return;
  }
  out << "UI\tname\tarticles\tmajor topics\n";
  for (const DescriptorFrequency& frequency : figures.descriptors) {
    put_ui(out, frequency.code);
    out << '\t' << exports::tsv_field(frequency.name) << '\t' << frequency.articles << '\t'
        << frequency.major_topics << '\n';
  }
}

}  // namespace somatlas::tools
