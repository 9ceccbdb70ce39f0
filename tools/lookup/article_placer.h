// Finds the articles of an input on an atlas, batch by batch, and says what has no place or is not
// known. Always holds: every article is handed on once, in the input's order; of what has no place
// or is unknown the first are named and all are counted; memory is one batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/mapping.h"
#include "store/store.h"
#include "tools/lookup/article_codes.h"
#include "tools/lookup/article_input.h"
#include "tools/lookup/unknown_descriptors.h"

namespace somatlas::lookup {

class ArticlePlacer : private ArticleSink {
 public:
  using Take = std::function<void(const Article&, const std::optional<pipeline::Place>&)>;
  using Say = std::function<void(const std::string& sentence)>;

  /// Articles given as PMIDs have the place that the atlas recorded, or with a store the one of the
  /// descriptors that it has of them now; its changes of descriptors then hold for the input too.
  /// All that is given must outlive this. Throws store::StoreError where the store is not the one
  /// of the atlas.
  ArticlePlacer(pipeline::AtlasMapper& mapper, store::Store* store, Take take, Say say);

  /// Places everything that the source holds. Throws ingest::InputError (file, line). Returns
  /// whether anything of it is known to the atlas; where nothing is, that is said. An input without
  /// articles is no fault.
  [[nodiscard]] bool place_all(ingest::ByteSource& source);

  [[nodiscard]] std::uint64_t articles() const { return articles_; }
  [[nodiscard]] std::uint64_t placed() const { return placed_; }

 private:
  // The planes of a batch's descriptors are read once, so a batch is large; its rows are few bytes.
  static constexpr std::size_t batch_articles = 4096;
  static constexpr std::size_t batch_bytes = std::size_t{32} << 20;  // met by hostile rows alone
  static constexpr std::uint64_t most_named = 20;  // of each kind; the rest is counted

  /// What is to be searched for one article, or why it is not.
  struct Query {
    std::vector<store::DescriptorCode> codes;
    std::uint32_t unnamed = 0;
    std::string no_search;  // a reason; empty: searched
    bool recorded = false;  // the place at training is taken
  };

  void article(Article article) override;
  void remark(const std::string& text) override;

  void check_store();
  void place_batch();
  [[nodiscard]] Query query_of(const Article& article);
  void query_pmids(std::vector<Query>& queries);
  void check(Query& query, std::uint64_t line);
  [[nodiscard]] bool finish(const std::string& input);

  pipeline::AtlasMapper& mapper_;
  store::Store* store_;
  Take take_;
  Say say_;
  ArticleCodes codes_;  // as filed where there is no store
  std::vector<Article> batch_;
  std::size_t batch_bytes_ = 0;
  UnknownDescriptors unknown_;
  bool known_ = false;         // anything of the input: a descriptor, or an article of the store
  bool unknown_pmid_ = false;  // a PMID that neither the atlas nor the store has
  std::uint64_t remarks_ = 0;
  std::uint64_t articles_ = 0;
  std::uint64_t placed_ = 0;
};

/// "line 7", or the PMID.
[[nodiscard]] std::string name_of(const Article& article);

}  // namespace somatlas::lookup
