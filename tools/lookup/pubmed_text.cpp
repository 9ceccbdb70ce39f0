// Tags take six letters; a line that begins with six blanks goes on with the one before.
#include "tools/lookup/pubmed_text.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace somatlas::lookup {
namespace {

constexpr std::size_t tag_length = 6;
constexpr std::string_view pmid_tag = "PMID- ";
constexpr std::string_view heading_tag = "MH  - ";
constexpr std::string_view goes_on = "      ";
constexpr std::size_t longest_heading = 1000;
constexpr std::size_t most_headings = 10'000;  // many times what an article may have

// "PMID" or PMID, before a comma.
std::string_view first_field(std::string_view line) {
  std::string_view field = line.substr(0, line.find(','));
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
  }
  return trimmed(field);
}

}  // namespace

bool begins_nbib(std::string_view line) {
  return line.starts_with(pmid_tag);
}

bool begins_csv(std::string_view line) {
  return line.find(',') != std::string_view::npos && first_field(line) == "PMID";
}

std::optional<std::uint32_t> pmid_of(std::string_view text) {
  std::uint32_t pmid = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, pmid);
  return error == std::errc{} && end == last && pmid != 0 ? std::optional(pmid) : std::nullopt;
}

void NbibReader::end_heading() {
  if (heading_.empty()) {
    return;
  }
  std::string name = heading_.substr(0, heading_.find('/'));
  std::erase(name, '*');
  const std::string_view text = trimmed(name);
  if (article_ && article_->names.size() == most_headings) {
    article_->fault = "it has too many descriptors";
  } else if (article_ && !text.empty()) {
    article_->names.emplace_back(text);
  }
  heading_.clear();
}

void NbibReader::line(std::string_view raw, std::uint64_t number) {
  const std::string_view tag = raw.substr(0, std::min(tag_length, raw.size()));
  const std::string_view text = trimmed(raw.substr(tag.size()));
  if (tag == goes_on) {
    if (tag_ == heading_tag && heading_.size() + text.size() < longest_heading) {
      heading_ += ' ';
      heading_ += text;
    }
    return;
  }
  end_heading();
  tag_ = tag;
  if (tag == pmid_tag) {
    end();
    article_.emplace();
    article_->line = number;
    if (const auto pmid = pmid_of(text)) {
      article_->pmid = *pmid;
      article_->line = 0;
    } else {
      article_->fault = "it is no PMID, a number from 1 to 4294967295";
    }
  } else if (tag == heading_tag) {
    heading_ = text.substr(0, longest_heading);
  }
}

void NbibReader::end() {
  end_heading();
  if (article_) {
    std::sort(article_->names.begin(), article_->names.end());
    article_->names.erase(std::unique(article_->names.begin(), article_->names.end()),
                          article_->names.end());
    article_->only_pmid = article_->fault.empty() && article_->names.empty();
    sink_.article(*std::exchange(article_, std::nullopt));
  }
}

Article csv_article(std::string_view line, std::uint64_t number) {
  Article article;
  if (const auto pmid = pmid_of(first_field(line))) {
    article.pmid = *pmid;
    article.only_pmid = true;
  } else {
    article.line = number;
    article.fault = "its first field is no PMID, a number from 1 to 4294967295";
  }
  return article;
}

}  // namespace somatlas::lookup
