// Small random corpora for whole trainings, committed to a store as one file.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "store/descriptor_code.h"

namespace somatlas::testing_corpus {

/// PMID to descriptor codes, ascending; an empty set is a citation with no descriptor.
using Corpus = std::map<std::uint32_t, std::vector<store::DescriptorCode>>;

/// 1 to most distinct codes, half of them common to all articles and half of one of six topics.
[[nodiscard]] std::vector<store::DescriptorCode> random_codes(std::mt19937_64& random,
                                                              std::size_t most);

/// Articles over four shards, one of them crowded; one in twenty has no descriptor.
[[nodiscard]] Corpus random_corpus(std::mt19937_64& random, std::size_t articles);

/// Commits a corpus as one file; deleted PMIDs become tombstones.
void commit(const std::string& directory, const std::string& file, const Corpus& corpus,
            const std::set<std::uint32_t>& deleted = {});

}  // namespace somatlas::testing_corpus
