// Descriptors of PMIDs come from the store, a range at a time; a batch is one search.
#include "tools/lookup/article_placer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "gpu/contract.h"
#include "gpu/tile.h"
#include "store/store_error.h"
#include "tools/export/delimited.h"

namespace somatlas::lookup {
namespace {

std::size_t bytes_of(const Article& article) {
  return std::transform_reduce(article.names.begin(), article.names.end(),
                               sizeof article + article.uis.size() * sizeof article.uis.front(),
                               std::plus<>(),
                               [](const std::string& name) { return sizeof name + name.size(); });
}

ingest::NameTable table_of(std::span<const store::AtlasDescriptor> descriptors) {
  ingest::NameTable names;
  for (const store::AtlasDescriptor& descriptor : descriptors) {
    names.add(descriptor.name,
              {store::descriptor_number(descriptor.code),
               static_cast<std::uint8_t>(store::descriptor_digits(descriptor.code))});
  }
  return names;
}

std::string further(std::uint64_t count, const std::string& noun) {
  return "and " + std::to_string(count) + " further " + noun + (count == 1 ? "" : "s");
}

}  // namespace

std::string name_of(const Article& article) {
  return article.pmid != 0 ? std::to_string(article.pmid) : "line " + std::to_string(article.line);
}

ArticlePlacer::ArticlePlacer(pipeline::AtlasMapper& mapper, store::Store* store, Take take, Say say)
    : mapper_(mapper),
      store_(store),
      take_(std::move(take)),
      say_(std::move(say)),
      codes_(mapper_.descriptors(), mapper_.entry_words(),
             store != nullptr ? store->mesh_view() : std::make_shared<store::MeshView>()) {
  if (store_ != nullptr) {
    check_store();
  }
}

bool ArticlePlacer::place_all(ingest::ByteSource& source) {
  read_articles(source, table_of(mapper_.descriptors()), *this);
  place_batch();
  return finish(source.path());
}

void ArticlePlacer::article(Article article) {
  batch_bytes_ += bytes_of(article);
  batch_.push_back(std::move(article));
  if (batch_.size() == batch_articles || batch_bytes_ >= batch_bytes) {
    place_batch();
  }
}

void ArticlePlacer::remark(const std::string& text) {
  if (++remarks_ <= most_named) {
    say_(exports::tsv_field(text));
  }
}

void ArticlePlacer::check_store() {
  const pipeline::AtlasMeta& meta = mapper_.meta();
  pipeline::require_store_of(meta, mapper_.directory(), *store_);
  if (store_->state_id() != meta.store_state) {
    say_("warning: " + store_->directory() + " has changed since " + mapper_.directory() +
         " was trained; articles are placed by the descriptors they have now");
  }
}

bool ArticlePlacer::finish(const std::string& input) {
  const std::uint64_t unplaced = articles_ - placed_;
  if (unplaced > most_named) {
    say_(further(unplaced - most_named, "article") + " without a place");
  }
  if (remarks_ > most_named) {
    say_(further(remarks_ - most_named, "part") + " of the input that cannot be placed");
  }
  for (const std::string& sentence : unknown_.sentences(codes_.names())) {
    say_(sentence);
  }
  if (articles_ == 0) {
    say_(input + ": holds no article");
    return true;
  }
  say_("articles: " + std::to_string(articles_) + " (" + std::to_string(placed_) + " placed, " +
       std::to_string(unplaced) + " without a place)");
  if (known_ || (unknown_.empty() && !unknown_pmid_)) {
    return true;
  }
  say_(input +
       ": nothing in it is known to the atlas; give MEDLINE XML, or PMIDs, one a line, or a line "
       "an article with MeSH headings by name or UI, separated by `;`");
  return false;
}

void ArticlePlacer::place_batch() {
  std::vector<Query> queries(batch_.size());
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (!batch_[i].only_pmid) {
      queries[i] = query_of(batch_[i]);
    }
  }
  query_pmids(queries);

  std::vector<std::vector<store::DescriptorCode>> codes;
  std::vector<std::uint32_t> unnamed;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    Query& query = queries[i];
    if (query.no_search.empty() && !query.recorded) {
      check(query, batch_[i].line);
    }
    if (query.no_search.empty() && !query.recorded) {
      codes.push_back(query.codes);
      unnamed.push_back(query.unnamed);
    }
  }
  const std::vector<std::optional<pipeline::Place>> found = mapper_.place(codes, unnamed);
  std::size_t next = 0;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    std::optional<pipeline::Place> place;
    std::string reason = queries[i].no_search;
    if (queries[i].recorded) {
      place = mapper_.recorded(batch_[i].pmid);
      reason = "the atlas has no place of it (with --store its descriptors are searched)";
    } else if (reason.empty()) {
      place = found[next++];
      reason = "the atlas knows none of its descriptors";
    }
    take_(batch_[i], place);
    ++articles_;
    if (place) {
      ++placed_;
      known_ = true;
    } else if (articles_ - placed_ <= most_named) {
      say_(name_of(batch_[i]) + ": " + reason);
    }
    unknown_pmid_ = unknown_pmid_ || (!place && queries[i].recorded);
  }
  batch_.clear();
  batch_bytes_ = 0;
}

ArticlePlacer::Query ArticlePlacer::query_of(const Article& article) {
  Query query;
  query.no_search = article.fault;
  ArticleCodes::Found found = codes_.of(article);
  query.codes = std::move(found.codes);
  query.unnamed = static_cast<std::uint32_t>(found.unknown.size());
  for (const std::string& name : found.unknown) {
    unknown_.add(name, article.line);
  }
  return query;
}

// Descriptors of lines that are PMIDs, from the store; each range of PMIDs is read once a batch.
void ArticlePlacer::query_pmids(std::vector<Query>& queries) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (batch_[i].only_pmid) {
      queries[i].recorded = store_ == nullptr;
      order.push_back(i);
    }
  }
  if (store_ == nullptr) {
    return;
  }
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return batch_[a].pmid < batch_[b].pmid; });
  std::optional<std::uint32_t> range;
  std::optional<store::Shard> shard;
  for (const std::size_t i : order) {
    const std::uint32_t pmid = batch_[i].pmid;
    if (range != pmid / store::pmids_per_shard) {
      range = pmid / store::pmids_per_shard;
      shard = store_->shard(*range);
    }
    const auto low = static_cast<std::uint16_t>(pmid % store::pmids_per_shard);
    const std::size_t row =
        shard
            ? static_cast<std::size_t>(std::lower_bound(shard->low.begin(), shard->low.end(), low) -
                                       shard->low.begin())
            : 0;
    if (!shard || row == shard->rows() || shard->low[row] != low) {
      queries[i].no_search = "the store has no such article";
      unknown_pmid_ = true;
      continue;
    }
    known_ = true;
    if (shard->state[row] == store::ArticleState::deleted) {
      queries[i].no_search = "it was deleted";
    } else {
      const auto codes = shard->row(row);
      queries[i].codes.assign(codes.begin(), codes.end());
    }
  }
}

// Counts what the atlas does not know, and finds articles that cannot be searched.
void ArticlePlacer::check(Query& query, std::uint64_t line) {
  for (const store::DescriptorCode code : query.codes) {
    if (mapper_.knows(code)) {
      known_ = true;
    } else {
      unknown_.add(store::descriptor_ui(code), line);
    }
  }
  const std::size_t k = query.codes.size() + query.unnamed;
  if (k == 0) {
    query.no_search = "it has no descriptors";
  } else if (k > gpu::max_descriptors) {
    query.no_search = "it has " + std::to_string(k) + " descriptors, more than " +
                      std::to_string(gpu::max_descriptors);
  }
}

}  // namespace somatlas::lookup
