// From files to the lists that a store keeps.
#include "pipeline/mesh_change_lists.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <span>
#include <utility>

#include "ingest/input_error.h"

namespace somatlas::pipeline {

namespace {

using store::DescriptorCode;
using store::MeshChangeKind;
using store::MeshChangeList;

DescriptorCode code_of(const ingest::DescriptorUi& ui) {
  return store::descriptor_code(ui.number, ui.digits);
}

MeshChangeList list_of(const ingest::MeshChangeFile& file) {
  MeshChangeList list;
  list.name = std::filesystem::path(file.path).filename().string();
  list.md5 = file.md5;
  list.taken_at = std::chrono::duration_cast<std::chrono::seconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count();
  for (const ingest::DescriptorChange& change : file.changes) {
    const MeshChangeKind kind = !change.after                    ? MeshChangeKind::removed
                                : *change.after == change.before ? MeshChangeKind::renamed
                                                                 : MeshChangeKind::merged;
    list.changes.push_back({kind, code_of(change.before), change.name_before,
                            change.after ? code_of(*change.after) : 0, change.name_after});
  }
  return list;
}

// A circle that came with this file: it goes through one of its lines.
void refuse_circle(const ingest::MeshChangeFile& file, std::vector<DescriptorCode> circle) {
  const auto in_circle = [&](const ingest::DescriptorChange& change) {
    return std::ranges::find(circle, code_of(change.before)) != circle.end();
  };
  const auto line = std::ranges::find_if(file.changes, in_circle);
  std::string text;
  if (line != file.changes.end()) {
    std::rotate(circle.begin(), std::ranges::find(circle, code_of(line->before)), circle.end());
  }
  constexpr std::size_t most_named = 5;
  const std::size_t named = std::min(circle.size(), most_named);
  for (const DescriptorCode code : std::span(circle).first(named)) {
    text +=
        store::descriptor_ui(code) + (text.empty() ? " would become " : ", which would become ");
  }
  text += (named < circle.size()
               ? "one of " + std::to_string(circle.size() - named) + " others, and in the end "
               : "") +
          store::descriptor_ui(circle.front()) + " again";
  throw ingest::InputError(file.path, line == file.changes.end() ? 0 : line->line,
                           text +
                               "; take one of these changes out, or take the lists that the "
                               "store has back first with --mesh-changes none");
}

void count(const MeshChangeList& list, MeshChangeCounts& counts) {
  ++counts.lists_taken;
  for (const store::MeshChange& change : list.changes) {
    ++(change.kind == MeshChangeKind::renamed  ? counts.renamed
       : change.kind == MeshChangeKind::merged ? counts.merged
                                               : counts.removed);
  }
}

}  // namespace

MeshChangeSteps read_mesh_changes(const std::vector<std::string>& paths) {
  MeshChangeSteps steps;
  for (const std::string& path : paths) {
    steps.emplace_back();
    if (path != no_mesh_changes) {
      steps.back() = ingest::read_mesh_change_file(path);
    }
  }
  MeshChangeCounts counts;
  (void)next_mesh_changes({}, steps, counts);
  return steps;
}

std::vector<MeshChangeList> next_mesh_changes(std::vector<MeshChangeList> lists,
                                              const MeshChangeSteps& steps,
                                              MeshChangeCounts& counts) {
  for (const auto& file : steps) {
    if (!file) {
      counts.lists_taken_back += lists.size();
      lists.clear();
    } else if (std::ranges::find(lists, file->md5, &MeshChangeList::md5) != lists.end()) {
      ++counts.lists_known;
    } else {
      lists.push_back(list_of(*file));
      if (auto circle = store::circle_of(lists); !circle.empty()) {
        refuse_circle(*file, std::move(circle));
      }
      count(lists.back(), counts);
    }
  }
  return lists;
}

}  // namespace somatlas::pipeline
