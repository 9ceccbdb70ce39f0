#include "tests/pipeline/random_corpus.h"

#include "store/store.h"

namespace somatlas::testing_corpus {

std::vector<store::DescriptorCode> random_codes(std::mt19937_64& random, std::size_t most) {
  std::set<store::DescriptorCode> codes;
  const std::size_t count = 1 + random() % most;
  const std::uint64_t topic = random() % 6;
  while (codes.size() < count) {
    const auto number = static_cast<std::uint32_t>(
        random() % 2 == 0 ? random() % 12 : 20 + topic * 8 + random() % 8);
    codes.insert(store::descriptor_code(number, number % 3 == 0 ? 9 : 6));
  }
  return {codes.begin(), codes.end()};
}

Corpus random_corpus(std::mt19937_64& random, std::size_t articles) {
  Corpus corpus;
  while (corpus.size() < articles) {
    // Four shards, one of them crowded.
    const std::uint32_t range = random() % 2 == 0 ? 3 : static_cast<std::uint32_t>(random() % 4);
    const auto pmid =
        static_cast<std::uint32_t>(range * store::pmids_per_shard + 1 + random() % 5000);
    corpus[pmid] =
        random() % 20 == 0 ? std::vector<store::DescriptorCode>{} : random_codes(random, 9);
  }
  return corpus;
}

void commit(const std::string& directory, const std::string& file, const Corpus& corpus,
            const std::set<std::uint32_t>& deleted) {
  std::map<std::uint32_t, const std::vector<store::DescriptorCode>*> rows;
  for (const auto& [pmid, codes] : corpus) {
    rows[pmid] = &codes;
  }
  for (const std::uint32_t pmid : deleted) {
    rows[pmid] = nullptr;
  }
  store::LedgerEntry entry;
  entry.key = store::file_key(file);
  entry.md5 = std::string(32, 'a');
  std::vector<store::Shard> shards;
  for (const auto& [pmid, codes] : rows) {
    if (shards.empty() || shards.back().range != pmid / store::pmids_per_shard) {
      shards.emplace_back();
      shards.back().range = pmid / store::pmids_per_shard;
      shards.back().keys = {entry.key};
      shards.back().offsets = {0};
    }
    store::Shard& shard = shards.back();
    shard.low.push_back(static_cast<std::uint16_t>(pmid % store::pmids_per_shard));
    shard.version.push_back(1);
    const bool article = codes != nullptr && !codes->empty();
    shard.year.push_back(article ? 2001 : 0);
    shard.state.push_back(codes == nullptr ? store::ArticleState::deleted
                          : article        ? store::ArticleState::article
                                           : store::ArticleState::bare);
    shard.key.push_back(0);
    shard.records.push_back(codes == nullptr ? 0 : 1);
    if (article) {
      shard.descriptors.insert(shard.descriptors.end(), codes->begin(), codes->end());
    }
    shard.offsets.push_back(static_cast<std::uint32_t>(shard.descriptors.size()));
    shard.major.resize(shard.descriptors.size(), 0);
    if (codes == nullptr) {
      ++entry.deletions;
    } else {
      ++entry.citations;
      entry.with_descriptors += article ? 1 : 0;
    }
  }
  store::Store::open(directory, store::Store::Access::create)->commit(shards, entry);
}

}  // namespace somatlas::testing_corpus
