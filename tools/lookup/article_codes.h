// The descriptors of an article of `map`'s input as an atlas has them. Always holds: a name is that
// of the atlas's table, what it was before a change of the store's lists, or an entry word, and
// leads to what the descriptor has become; a descriptor counts once, however often the article has
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "store/mesh_changes.h"
#include "tools/lookup/article_input.h"
#include "tools/lookup/descriptor_names.h"

namespace somatlas::lookup {

class ArticleCodes {
 public:
  /// descriptors: the atlas's, which outlive this, and words their entry words. view: the store's
  /// lists of changes.
  ArticleCodes(std::span<const store::AtlasDescriptor> descriptors,
               std::span<const store::EntryWords> words,
               std::shared_ptr<const store::MeshView> view);
  ArticleCodes(const ArticleCodes&) = delete;
  ArticleCodes& operator=(const ArticleCodes&) = delete;

  struct Found {
    std::vector<store::DescriptorCode> codes;  // ascending
    std::vector<std::string> unknown;          // names that lead to none, each once
  };
  [[nodiscard]] Found of(const Article& article) const;
  [[nodiscard]] const DescriptorNames& names() const { return names_; }

 private:
  DescriptorNames names_;
  std::shared_ptr<const store::MeshView> view_;
  std::vector<store::AtlasDescriptor> former_;
  DescriptorNames former_names_;
};

}  // namespace somatlas::lookup
