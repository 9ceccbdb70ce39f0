// Invented words, phrases, names and journals for the text around the headings of synthetic
// records. Always holds: the same for every seed, and none of it comes from a real record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/synth_stream.h"

namespace somatlas::pipeline {

/// Appends a number in decimal, with leading zeros up to width.
void append_number(std::string& out, std::uint64_t number, std::size_t width = 1);

class SynthText {
 public:
  SynthText();

  struct Journal {
    std::string head;   // ISSN element
    std::string names;  // Title and ISOAbbreviation elements
    std::string info;   // MedlineJournalInfo element
    std::string brief;  // the abbreviation alone
  };

  [[nodiscard]] std::string_view word(SynthStream& stream) const;
  [[nodiscard]] std::string_view surname(SynthStream& stream) const;
  [[nodiscard]] const Journal& journal(SynthStream& stream) const;
  /// Appends a sentence of phrases and words, of at least bytes, with a capital and a full stop.
  void sentence(std::string& out, std::size_t bytes, SynthStream& stream) const;
  /// Sentences of some 140 bytes until at least bytes are there.
  void paragraph(std::string& out, std::size_t bytes, SynthStream& stream) const;
  /// A qualifier element; most are no major topics where the heading itself is one.
  void qualifier(std::string& out, bool major, SynthStream& stream) const;

 private:
  std::vector<std::string> words_;
  std::vector<std::string> phrases_;
  std::vector<std::string> surnames_;
  std::vector<std::string> qualifiers_;
  std::vector<Journal> journals_;
};

}  // namespace somatlas::pipeline
