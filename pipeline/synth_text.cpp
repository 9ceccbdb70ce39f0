// Words are made of syllables, phrases of words; sentences mix both so that the text packs about as
// well as real abstracts do.
#include "pipeline/synth_text.h"

#include <array>

namespace somatlas::pipeline {

namespace {

constexpr std::size_t words = 2'048;
constexpr std::size_t phrases = 700;
constexpr std::size_t surnames = 1'500;
constexpr std::size_t qualifiers = 76;
constexpr std::size_t journals = 900;
constexpr std::size_t sentence_bytes = 140;

constexpr std::array<std::string_view, 40> syllables{
    "ba", "cor", "den", "fi",  "gra", "hel", "in", "ka",  "lo",  "mer", "ni",  "or", "pul", "ra",
    "si", "ter", "ul",  "vi",  "xen", "ya",  "zo", "che", "pro", "ste", "tri", "an", "es",  "os",
    "al", "em",  "du",  "qui", "sp",  "ro",  "ti", "gen", "lu",  "mo",  "pha", "ne"};
constexpr std::array<std::string_view, 24> small{
    "the", "of",   "and",  "in", "with", "to",   "a",    "was",     "for", "were", "by",    "that",
    "is",  "from", "were", "on", "as",   "than", "less", "between", "at",  "this", "after", "or"};
constexpr std::array<std::string_view, 8> accented{"é", "ü", "ö", "á", "ñ", "ç", "ø", "ł"};

std::string invent(SynthStream& stream, std::uint64_t shortest, std::uint64_t spread) {
  std::string word;
  for (std::uint64_t n = shortest + stream.below(spread); n > 0; --n) {
    word += syllables[stream.below(syllables.size())];
  }
  return word;
}

std::string capital(std::string word) {
  word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

}  // namespace

void append_number(std::string& out, std::uint64_t number, std::size_t width) {
  std::array<char, 20> digits;
  std::size_t at = digits.size();
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  const std::size_t length = digits.size() - at;
  out.append(width > length ? width - length : 0, '0');
  out.append(digits.data() + at, length);
}

SynthText::SynthText() {
  SynthStream stream(0, SynthPurpose::text, 0);
  for (std::size_t i = 0; i < words; ++i) {
    words_.push_back(i < small.size() ? std::string(small[i]) : invent(stream, 2, 4));
  }
  for (std::size_t i = 0; i < phrases; ++i) {
    std::string phrase(word(stream));
    for (std::uint64_t n = 2 + stream.below(5); n > 0; --n) {
      phrase += ' ';
      phrase +=
          stream.one_in(3) ? std::string_view(small[stream.below(small.size())]) : word(stream);
    }
    if (stream.one_in(12)) {
      phrase += " (P&lt;0.0";
      append_number(phrase, 1 + stream.below(5));
      phrase += ')';
    } else if (stream.one_in(20)) {
      phrase += " 10<sup>-";
      append_number(phrase, 3 + stream.below(6));
      phrase += "</sup>";
    }
    phrases_.push_back(std::move(phrase));
  }
  for (std::size_t i = 0; i < surnames; ++i) {
    std::string name = capital(invent(stream, 2, 2));
    if (stream.one_in(10)) {
      name += accented[stream.below(accented.size())];
    }
    surnames_.push_back(std::move(name));
  }
  for (std::size_t i = 0; i < qualifiers; ++i) {
    std::string text = "UI=\"Q000";
    append_number(text, 101 + i * 7, 3);
    qualifiers_.push_back(std::move(text));
  }
  for (std::size_t i = 0; i < journals; ++i) {
    const std::string first = capital(invent(stream, 3, 2));
    const std::string second = invent(stream, 2, 3);
    std::string issn;
    append_number(issn, 1000 + i * 7, 4);
    issn += '-';
    append_number(issn, 1000 + stream.below(9000), 4);
    Journal journal;
    const bool print = stream.one_in(3);
    journal.head = std::string("<ISSN IssnType=\"") + (print ? "Print" : "Electronic") + "\">" +
                   issn + "</ISSN>";
    journal.brief = first.substr(0, 5) + " " + capital(second).substr(0, 4);
    journal.names = "<Title>" + first + " journal of " + second + " &amp; " + second.substr(0, 3) +
                    "logy</Title><ISOAbbreviation>" + journal.brief + "</ISOAbbreviation>";
    journal.info = "<MedlineJournalInfo><Country>" + capital(invent(stream, 2, 3)) +
                   "</Country><MedlineTA>" + journal.brief + "</MedlineTA><NlmUniqueID>";
    append_number(journal.info, 100'000'000 + i * 1'103, 9);
    journal.info += "</NlmUniqueID><ISSNLinking>" + issn + "</ISSNLinking></MedlineJournalInfo>";
    journals_.push_back(std::move(journal));
  }
}

std::string_view SynthText::word(SynthStream& stream) const {
  // The product of two even draws: few words come often, many rarely.
  const std::uint64_t bits = stream.next();
  return words_[((bits & 2'047U) * (bits >> 11 & 2'047U)) >> 11];
}

std::string_view SynthText::surname(SynthStream& stream) const {
  return surnames_[stream.below(surnames_.size())];
}

const SynthText::Journal& SynthText::journal(SynthStream& stream) const {
  return journals_[stream.below(journals_.size())];
}

void SynthText::sentence(std::string& out, std::size_t bytes, SynthStream& stream) const {
  const std::size_t begin = out.size();
  while (true) {
    out += stream.one_in(3) ? word(stream) : std::string_view(phrases_[stream.below(phrases)]);
    if (out.size() - begin >= bytes) {
      break;
    }
    out += ' ';
  }
  if (out[begin] >= 'a' && out[begin] <= 'z') {
    out[begin] = static_cast<char>(out[begin] - 'a' + 'A');
  }
  out += '.';
}

void SynthText::paragraph(std::string& out, std::size_t bytes, SynthStream& stream) const {
  const std::size_t begin = out.size();
  while (true) {
    sentence(out, sentence_bytes / 2 + stream.below(sentence_bytes), stream);
    if (out.size() - begin >= bytes) {
      return;
    }
    out += ' ';
  }
}

void SynthText::qualifier(std::string& out, bool major, SynthStream& stream) const {
  const std::uint64_t i = stream.below(qualifiers_.size());
  out += "<QualifierName ";
  out += qualifiers_[i];
  out += major ? "\" MajorTopicYN=\"Y\">" : "\" MajorTopicYN=\"N\">";
  out += words_[100 + i];
  out += "</QualifierName>";
}

}  // namespace somatlas::pipeline
