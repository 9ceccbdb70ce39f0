// A synthetic article as a PubmedArticle element. Always holds: what is written is a function of
// (seed, article, round); its PMID, year, headings and major topics are those of the article.
#pragma once

#include <cstdint>
#include <string>

#include "pipeline/synth_article.h"
#include "pipeline/synth_text.h"

namespace somatlas::pipeline {

class SynthRecordWriter {
 public:
  /// number of the article and round (0: the baseline; else the update file that has it) choose the
  /// filler text. full: every element that real files have, at their lengths; else headings only.
  SynthRecordWriter(const SynthText& text, std::uint64_t seed, bool full)
      : text_(text), seed_(seed), full_(full) {}

  /// Appends the record and a line feed.
  void append(std::string& out, const SynthArticle& article, std::uint64_t number,
              std::uint64_t round) const;

 private:
  struct Draft;  // one record being written
  const SynthText& text_;
  std::uint64_t seed_;
  bool full_;
};

/// Appends a DeleteCitation element; nothing for an empty list.
void append_deletions(std::string& out, const std::vector<std::uint32_t>& pmids);

}  // namespace somatlas::pipeline
