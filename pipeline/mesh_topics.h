// What the MeSH tree says of descriptors to those who name parts of a map: which are topics, under
// which wider headings each lies, and its category, the letter its tree numbers begin with. Always
// holds: the roots of the tree are known also where a table of descriptors leaves their tree
// numbers out, as some do.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "store/store.h"

namespace somatlas::pipeline {

/// The letter of the first tree number, 'A' to 'Z'; '-' where a descriptor has none, as Male and
/// Female have.
[[nodiscard]] char mesh_category(store::DescriptorCode code,
                                 std::span<const std::string> tree_numbers);

/// The descriptors of a store by code, with the tree that they make.
class MeshTopics {
 public:
  explicit MeshTopics(std::vector<store::DescriptorEntry> descriptors);

  /// Nothing where the store knows no name of it.
  [[nodiscard]] const store::DescriptorEntry* find(store::DescriptorCode code) const;

  /// Whether it can say what articles are about. Not so NLM's check tags of sex, age group and
  /// species, which say in whom something was studied, with strains below those species; nor
  /// epidemiologic methods, from Double-Blind Method to Risk Factors, which say how; nor what lies
  /// in the tree only where circumstances of any topic do, as Treatment Outcome, Time Factors,
  /// Chronic Disease, and places.
  [[nodiscard]] bool is_topic(store::DescriptorCode code) const;

  /// The headings that can name a part of a map with it: itself, and of those that it lies under
  /// the ones that are topics. Not so those that have check tags below them (Persons, Vertebrates);
  /// and for what is below them alone, chemicals by their structure, kinds of publications, places,
  /// and the two uppermost levels of the tree but for organisms (B), diseases (C) and psychiatry
  /// (F).
  [[nodiscard]] std::vector<store::DescriptorCode> headings(store::DescriptorCode code) const;

 private:
  [[nodiscard]] static std::vector<std::string> tree_numbers(const store::DescriptorEntry& entry);

  std::vector<store::DescriptorEntry> descriptors_;
  std::unordered_map<store::DescriptorCode, std::uint32_t> place_;
  std::unordered_map<std::string, store::DescriptorCode> at_;  // a tree number's heading
  std::unordered_set<store::DescriptorCode> no_topics_;
  std::unordered_set<store::DescriptorCode> too_wide_;
  std::unordered_set<store::DescriptorCode> vague_;  // names nothing for what is below it
};

}  // namespace somatlas::pipeline
