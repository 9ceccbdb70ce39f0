// Tells an input's kind by its first bytes and turns it into articles, one at a time.
// Always holds: an error names the file and the line.
#include "tools/lookup/article_input.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "ingest/input_error.h"
#include "ingest/medline_parser.h"
#include "tools/lookup/line_source.h"
#include "tools/lookup/pubmed_text.h"

namespace somatlas::lookup {
namespace {

/// Digits, with or without a sign.
bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// By sorting, so that a hostile line of very many entries costs no more than its length.
void make_distinct(Article& article) {
  const auto before = [](const ingest::DescriptorUi& a, const ingest::DescriptorUi& b) {
    return std::pair(a.digits, a.number) < std::pair(b.digits, b.number);
  };
  std::sort(article.uis.begin(), article.uis.end(), before);
  article.uis.erase(std::unique(article.uis.begin(), article.uis.end()), article.uis.end());
  std::sort(article.names.begin(), article.names.end());
  article.names.erase(std::unique(article.names.begin(), article.names.end()), article.names.end());
}

// What a passed-over part of an input says of itself.
std::string place(const ingest::ByteSource& source, std::uint64_t line) {
  return source.path() + ":" + std::to_string(line) + ": ";
}

class XmlArticles : public ingest::CitationSink {
 public:
  XmlArticles(const ingest::ByteSource& source, ArticleSink& sink) : source_(source), sink_(sink) {}

  void citation(const ingest::CitationView& citation) override {
    Article article;
    article.pmid = citation.pmid;
    for (const ingest::Heading& heading : citation.headings) {
      article.uis.push_back(heading.ui);
    }
    if (unknown_pmid_ == citation.pmid) {
      article.names = std::move(unknown_);
    }
    unknown_.clear();
    make_distinct(article);
    article.only_pmid = article.uis.empty() && article.names.empty();
    sink_.article(std::move(article));
  }
  void deletion(std::uint32_t pmid, std::uint16_t) override {
    sink_.remark(source_.path() + ": the deletion of " + std::to_string(pmid) +
                 " names no article to place");
  }
  void book(std::uint64_t line) override {
    sink_.remark(place(source_, line) + "a book record is not placed");
  }
  void left_out(ingest::LeftOut reason, std::uint64_t line, std::string_view text) override {
    const char* what = reason == ingest::LeftOut::no_pmid       ? "it has no PMID"
                       : reason == ingest::LeftOut::bad_pmid    ? "its PMID cannot be used: "
                       : reason == ingest::LeftOut::bad_version ? "its version cannot be used: "
                                                                : "it has too many descriptors: ";
    sink_.remark(place(source_, line) + "a record is not placed, " + what + std::string(text));
  }
  // Comes before its record's citation().
  void unknown_heading(std::uint64_t line, std::uint32_t pmid, std::string_view name) override {
    if (unknown_pmid_ != pmid) {
      unknown_.clear();
      unknown_pmid_ = pmid;
    }
    if (name.empty()) {
      sink_.remark(place(source_, line) + "a heading of " + std::to_string(pmid) +
                   " has no descriptor");
    } else {
      unknown_.emplace_back(name);
    }
  }

 private:
  const ingest::ByteSource& source_;
  ArticleSink& sink_;
  std::uint32_t unknown_pmid_ = 0;
  std::vector<std::string> unknown_;
};

Article faulty_line(std::uint64_t line, std::string fault) {
  Article article;
  article.line = line;
  article.fault = std::move(fault);
  return article;
}

Article pmid_line(std::string_view text, std::uint64_t line) {
  const auto pmid = pmid_of(text);
  if (!pmid) {
    return faulty_line(line, "it is no PMID, a number from 1 to 4294967295");
  }
  Article article;
  article.only_pmid = true;
  article.pmid = *pmid;
  return article;
}

void read_lines(ingest::ByteSource& source, ArticleSink& sink) {
  LineSource lines(source, longest_line_bytes);
  std::uint64_t first_line = 0;
  bool pmids = false;
  bool csv = false;
  std::optional<NbibReader> nbib;
  std::string_view line;
  while (lines.next(line)) {
    if (nbib) {
      nbib->line(line, lines.number());
      continue;
    }
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#') {
      continue;
    }
    if (csv) {
      sink.article(csv_article(text, lines.number()));
      continue;
    }
    if (text.front() == '<') {
      throw ingest::InputError(source.path(), lines.number(),
                               "XML in the midst of lines; give one kind of input at a time");
    }
    if (first_line == 0) {
      first_line = lines.number();
      pmids = is_number(text);
      if (begins_nbib(line)) {
        nbib.emplace(sink).line(line, lines.number());
        continue;
      }
      csv = begins_csv(text);
      if (csv) {
        continue;
      }
    }
    if (pmids) {
      sink.article(pmid_line(text, lines.number()));
    } else if (is_number(text)) {
      sink.article(faulty_line(lines.number(), "it is a number, and line " +
                                                   std::to_string(first_line) +
                                                   " made this an input of descriptors"));
    } else {
      sink.article(descriptor_line(text, lines.number()));
    }
  }
  if (nbib) {
    nbib->end();
  }
}

// Whether the first thing in the bytes, a byte order mark, blanks and comment lines left out, is a
// tag; unclear (as lines) where they hold nothing else.
bool opens_with_tag(std::string_view bytes) {
  if (bytes.starts_with("\xEF\xBB\xBF")) {
    bytes.remove_prefix(3);
  }
  for (;;) {
    const std::size_t at = bytes.find_first_not_of(" \t\r\n");
    if (at == std::string_view::npos) {
      return false;
    }
    if (bytes[at] != '#') {
      return bytes[at] == '<';
    }
    const std::size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos) {
      return false;
    }
    bytes.remove_prefix(end + 1);
  }
}

// Standard input under the name that a user knows.
class StandardInput : public ingest::ByteSource {
 public:
  StandardInput() : source_(ingest::open_byte_source("/dev/stdin")) {}
  [[nodiscard]] std::size_t read(std::span<std::byte> out) override { return source_->read(out); }
  [[nodiscard]] const std::string& path() const override { return path_; }
  [[nodiscard]] std::uint64_t file_bytes() const override { return source_->file_bytes(); }
  [[nodiscard]] ingest::Md5Hex md5() const override { return source_->md5(); }

 private:
  std::unique_ptr<ingest::ByteSource> source_;
  std::string path_ = "standard input";
};

}  // namespace

Article descriptor_line(std::string_view text, std::uint64_t line) {
  Article article;
  article.line = line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view entry = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (const auto ui = ingest::parse_descriptor_ui(entry)) {
      article.uis.push_back(*ui);
    } else if (!entry.empty()) {
      article.names.emplace_back(entry);
    }
  }
  make_distinct(article);
  return article;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\v\f";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::unique_ptr<ingest::ByteSource> open_input(const std::string& path) {
  if (path == "-") {
    return std::make_unique<StandardInput>();
  }
  return ingest::open_byte_source(path);
}

void read_articles(ingest::ByteSource& source, const ingest::NameTable& names, ArticleSink& sink) {
  // A longer run of blanks and comments before XML than this is not looked behind.
  constexpr std::size_t looked_at = std::size_t{1} << 16;
  std::vector<std::byte> first(looked_at);
  std::size_t filled = 0;
  while (filled < first.size()) {
    const std::size_t got = source.read(std::span(first).subspan(filled));
    if (got == 0) {
      break;
    }
    filled += got;
  }
  first.resize(filled);
  const bool xml = opens_with_tag({reinterpret_cast<const char*>(first.data()), first.size()});
  ReplayedSource whole(std::move(first), source);
  if (xml) {
    XmlArticles articles(source, sink);
    ingest::parse_medline(whole, names, articles);
  } else {
    read_lines(whole, sink);
  }
}

}  // namespace somatlas::lookup
