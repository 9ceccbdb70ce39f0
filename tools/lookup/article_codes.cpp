// Names are looked up in the atlas first, then among the old names of the store's lists, at last
// among entry words.
#include "tools/lookup/article_codes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace somatlas::lookup {
namespace {

// What the names were before the changes of the store's lists, the last list first.
std::vector<store::AtlasDescriptor> former_descriptors(const store::MeshView& view) {
  std::vector<store::AtlasDescriptor> former;
  for (auto list = view.lists().rbegin(); list != view.lists().rend(); ++list) {
    for (const store::MeshChange& change : list->changes) {
      former.push_back({change.from, change.old_name, {}, 0});
    }
  }
  return former;
}

}  // namespace

ArticleCodes::ArticleCodes(std::span<const store::AtlasDescriptor> descriptors,
                           std::span<const store::EntryWords> words,
                           std::shared_ptr<const store::MeshView> view)
    : names_(descriptors, words),
      view_(std::move(view)),
      former_(former_descriptors(*view_)),
      former_names_(former_) {}

ArticleCodes::Found ArticleCodes::of(const Article& article) const {
  Found found;
  std::vector<store::DescriptorCode> filed;
  for (const ingest::DescriptorUi& ui : article.uis) {
    filed.push_back(store::descriptor_code(ui.number, ui.digits));
  }
  std::set<std::string> unknown;
  for (const std::string& name : article.names) {
    const store::AtlasDescriptor* descriptor = names_.find_heading(name);
    if (descriptor == nullptr) {
      descriptor = former_names_.find(name);
    }
    if (descriptor == nullptr) {
      descriptor = names_.find(name);
    }
    if (descriptor != nullptr) {
      filed.push_back(descriptor->code);
    } else if (unknown.insert(folded(name)).second) {
      found.unknown.push_back(name);
    }
  }
  for (const store::DescriptorCode code : filed) {
    if (const auto current = view_->current(code)) {
      found.codes.push_back(*current);
    }
  }
  std::sort(found.codes.begin(), found.codes.end());
  found.codes.erase(std::unique(found.codes.begin(), found.codes.end()), found.codes.end());
  return found;
}

}  // namespace somatlas::lookup
