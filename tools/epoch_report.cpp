// Columns are as wide as their names and figures; the log's keys are the same figures by name.
#include "tools/epoch_report.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "tools/figures.h"

namespace somatlas::tools {

namespace {

constexpr std::array<std::string_view, 11> columns{
    "epoch", "radius", "QE",       "held-out QE", "cosine QE", "topographic error",
    "moved", "unhit",  "search s", "update s",    "waiting s"};
constexpr std::size_t least_width = 7;

std::string row(const std::array<std::string, columns.size()>& fields) {
  std::string line;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const std::size_t width = std::max(columns[c].size(), least_width) + (c == 0 ? 0 : 2);
    line.append(width > fields[c].size() ? width - fields[c].size() : 1, ' ');
    line += fields[c];
  }
  return line;
}

nlohmann::ordered_json or_null(std::optional<double> figure) {
  return figure ? nlohmann::ordered_json(*figure) : nlohmann::ordered_json();
}

}  // namespace

std::string epoch_header() {
  std::array<std::string, columns.size()> names;
  std::ranges::copy(columns, names.begin());
  return row(names);
}

std::string epoch_line(const pipeline::EpochFigures& figures) {
  const pipeline::Quality& quality = figures.quality;
  return row({std::to_string(figures.epoch), std::to_string(figures.radius), fixed(quality.qe, 5),
              fixed(quality.heldout_qe, 5), fixed(quality.cosine_qe, 5),
              fixed(quality.topographic_error, 5), fixed(figures.moved_share, 4),
              fixed(quality.unhit_share, 4), fixed(figures.search_seconds, 3),
              fixed(figures.update_seconds, 3), fixed(figures.waiting_seconds, 3)});
}

EpochLog::EpochLog(std::string path) : path_(std::move(path)), file_(nullptr, &std::fclose) {
  if (path_.empty()) {
    return;
  }
  file_.reset(std::fopen(path_.c_str(), "ax"));
  left_new_ = file_ != nullptr;
  if (!file_) {
    file_.reset(std::fopen(path_.c_str(), "a"));
  }
  if (!file_) {
    throw std::runtime_error("the log " + path_ +
                             " cannot be opened: " + std::generic_category().message(errno) +
                             "; name a file that can be written");
  }
}

EpochLog::~EpochLog() {
  // Another training may have written there meanwhile.
  std::error_code error;
  if (left_new_ && std::filesystem::file_size(path_, error) == 0) {
    std::remove(path_.c_str());
  }
}

void EpochLog::add(const pipeline::EpochFigures& figures) {
  if (!file_) {
    return;
  }
  left_new_ = false;
  const nlohmann::ordered_json json{
      {"epoch", figures.epoch},
      {"radius", figures.radius},
      {"qe", figures.quality.qe},
      {"heldout_qe", or_null(figures.quality.heldout_qe)},
      {"cosine_qe", or_null(figures.quality.cosine_qe)},
      {"topographic_error", or_null(figures.quality.topographic_error)},
      {"moved_share", figures.moved_share},
      {"vacant_share", figures.quality.vacant_share},
      {"unhit_share", figures.quality.unhit_share},
      {"search_seconds", figures.search_seconds},
      {"update_seconds", figures.update_seconds},
      {"waiting_seconds", figures.waiting_seconds},
      {"waiting_share", figures.waiting_share()},
      {"checkpoint_seconds", figures.checkpoint_seconds}};
  const std::string line = json.dump() + '\n';
  if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() ||
      std::fflush(file_.get()) != 0) {
    throw std::runtime_error("the log " + path_ +
                             " cannot be written: " + std::generic_category().message(errno) +
                             "; free some space and add --resume to go on");
  }
}

}  // namespace somatlas::tools
