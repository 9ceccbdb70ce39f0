// The scanner's states, a byte or a run of bytes at a time. The hot path is text, tag, value.
// Always holds: where a document is not well-formed it may lose its way, but then the parser
// refuses the document.
#include "ingest/markup_scanner.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace somatlas::ingest {
namespace {

/// Line feeds in bytes, counted in lanes of fixed width so that the compiler uses vectors.
std::uint64_t line_feeds(std::string_view bytes) {
  constexpr std::size_t lanes = 32;
  std::uint64_t total = 0;
  std::size_t at = 0;
  while (bytes.size() - at >= lanes) {
    std::array<std::uint8_t, lanes> counts{};
    const std::size_t blocks = std::min<std::size_t>((bytes.size() - at) / lanes, 255);
    for (std::size_t block = 0; block < blocks; ++block, at += lanes) {
      const char* const from = bytes.data() + at;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        counts[lane] = static_cast<std::uint8_t>(counts[lane] + (from[lane] == '\n' ? 1 : 0));
      }
    }
    for (const std::uint8_t count : counts) {
      total += count;
    }
  }
  return total + static_cast<std::uint64_t>(std::count(
                     bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), '\n'));
}

const char* find(const char* at, const char* end, char c) {
  const void* const found = std::memchr(at, c, static_cast<std::size_t>(end - at));
  return found == nullptr ? end : static_cast<const char*>(found);
}

}  // namespace

std::optional<MarkupViolation> MarkupScanner::scan(std::string_view bytes) {
  const std::size_t nul = bytes.find('\0');
  chunk_ = bytes.substr(0, nul);
  chunk_from_ = offset_;
  const char* const begin = chunk_.data();
  const char* const end = begin + chunk_.size();
  const char* at = begin;
  while (at != end && !fault_) {
    const bool was_text = state_ == State::text;
    const bool was_held = held();
    switch (state_) {
      case State::text:
        at = in_text(at, end);
        break;
      case State::comment:
        in_section(*at++, '-', State::text);
        break;
      case State::cdata:
        in_section(*at++, ']', State::text);
        break;
      case State::opened:
        state_ = *at == '!' ? State::declared : *at == '?' ? State::instruction : State::tag;
        at += state_ == State::tag ? 0 : 1;
        matched_ = 0;
        attributes_ = 0;
        break;
      case State::declared:
        at += declared(*at) ? 1 : 0;
        break;
      case State::tag:
      case State::tag_value:
        at = in_tag(at, end);
        break;
      case State::instruction:
        in_section(*at++, '?', State::text);
        break;
      case State::doctype_comment:
        in_section(*at++, '-', State::doctype);
        break;
      case State::doctype_instruction:
        in_section(*at++, '?', State::doctype);
        break;
      case State::doctype:
      case State::doctype_value:
      case State::doctype_opened:
      case State::doctype_declared:
        at += in_doctype(*at) ? 1 : 0;
        break;
    }
    offset_ = chunk_from_ + static_cast<std::uint64_t>(at - begin);
    if (!(was_text && state_ == State::text) && !fault_) {
      check_length(was_held || held());
      if (state_ == State::text && !fault_) {
        markup_from_ = offset_;
      }
    }
  }
  if (fault_) {
    const std::uint64_t line = line_at(markup_from_);
    offset_ = held() ? markup_from_ : std::max(markup_from_, chunk_from_);
    state_ = State::text;
    return MarkupViolation{*fault_, line};
  }
  std::size_t before = 0;  // of the chunk, the bytes that markup_line_ counts
  if (markup_from_ >= chunk_from_) {
    before = static_cast<std::size_t>(markup_from_ - chunk_from_);
    markup_line_ = line_at(markup_from_);
    lines_ = markup_line_ - 1;
  }
  lines_ += line_feeds(chunk_.substr(before));
  if (nul != std::string_view::npos) {
    return MarkupViolation{MarkupFault::nul_byte, lines_ + 1};
  }
  return std::nullopt;
}

void MarkupScanner::check_length(bool is_tag) {
  const std::uint64_t bytes = offset_ - markup_from_;
  if (is_tag && bytes > longest_markup_bytes) {
    fault_ = MarkupFault::tag_too_long;
  } else if (bytes > longest_section_bytes) {
    fault_ = MarkupFault::section_too_long;
  }
}

std::uint64_t MarkupScanner::line_at(std::uint64_t offset) const {
  if (offset < chunk_from_) {
    return markup_line_;
  }
  return lines_ + 1 + line_feeds(chunk_.substr(0, static_cast<std::size_t>(offset - chunk_from_)));
}

/// The hot path: from text at at on, the last "<" before which no tag is long or has many
/// attributes; at itself where that is not seen at a glance. A tag of a well-formed document holds
/// no "<" of its own, so where every block of bytes has one, tags are shorter than two blocks. In a
/// document that is not well-formed the parser stops at such a tag: its ">" is never far either.
const char* MarkupScanner::past_short_tags(const char* at, const char* end) {
  constexpr std::ptrdiff_t block = 1024;
  constexpr std::size_t least_attribute_bytes = 4;
  static_assert(2 * block < longest_markup_bytes &&
                2 * block / least_attribute_bytes < most_attributes);
  const char* const begin = at;
  if (text_bytes(at) + block > longest_section_bytes) {  // a text of earlier chunks may be too long
    return at;
  }
  while (end - at > block) {
    // A plain loop, which the compiler turns into vector code.
    unsigned char opened = 0;
    unsigned char closed = 0;
    unsigned char no_tag = 0;
    for (std::ptrdiff_t i = 0; i < block; ++i) {
      const unsigned char opens = at[i] == '<' ? 1 : 0;
      const unsigned char declares = at[i + 1] == '!' || at[i + 1] == '?' ? 1 : 0;
      opened |= opens;
      closed |= static_cast<unsigned char>(at[i] == '>' ? 1 : 0);
      no_tag |= static_cast<unsigned char>(opens & declares);
    }
    if (opened == 0 || closed == 0 || no_tag != 0) {
      break;
    }
    at += block;
  }
  while (at != begin && *--at != '<') {
  }
  if (at != begin) {
    markup_from_ = chunk_from_ + static_cast<std::uint64_t>(at - chunk_.data());
  }
  return at;
}

/// Texts and whole tags until something else comes up.
const char* MarkupScanner::in_text(const char* at, const char* end) {
  while (true) {
    at = find(past_short_tags(at, end), end, '<');
    if (in_long_text(at) || at == end) {
      return at;
    }
    const char* const opening = at++;
    markup_from_ = chunk_from_ + static_cast<std::uint64_t>(opening - chunk_.data());
    if (at == end || *at == '!' || *at == '?') {
      state_ = State::opened;
      return at;
    }
    state_ = State::tag;
    attributes_ = 0;
    at = in_tag(at, end);
    if (state_ != State::text || fault_) {
      return at;
    }
    if (static_cast<std::size_t>(at - opening) > longest_markup_bytes) {
      fault_ = MarkupFault::tag_too_long;
      return at;
    }
    markup_from_ = chunk_from_ + static_cast<std::uint64_t>(at - chunk_.data());
  }
}

/// Whether the text that goes up to at is a fault.
bool MarkupScanner::in_long_text(const char* at) {
  if (text_bytes(at) > longest_section_bytes) {
    fault_ = MarkupFault::text_too_long;
  }
  return fault_.has_value();
}

/// Bytes of the text that goes up to at.
std::uint64_t MarkupScanner::text_bytes(const char* at) const {
  return chunk_from_ + static_cast<std::uint64_t>(at - chunk_.data()) - markup_from_;
}

const char* MarkupScanner::in_tag(const char* at, const char* end) {
  while (at != end) {
    if (state_ == State::tag_value) {
      // Values are short: a plain loop is quicker than a call.
      while (at != end && *at != quote_) {
        ++at;
      }
      if (at == end) {
        return end;
      }
      state_ = State::tag;
      ++at;
    }
    while (at != end && *at != '>' && *at != '"' && *at != '\'') {
      ++at;
    }
    if (at == end) {
      return end;
    }
    const char c = *at++;
    if (c == '>') {
      state_ = State::text;
      return at;
    }
    quote_ = c;
    state_ = State::tag_value;
    if (++attributes_ > most_attributes) {
      fault_ = MarkupFault::too_many_attributes;
      return at;
    }
  }
  return at;
}

/// Returns whether c was used up.
bool MarkupScanner::declared(char c) {
  if (matched_ == 0) {
    quote_ = c;
  }
  const std::string_view wanted = quote_ == '-' ? "--" : "[CDATA[";
  if (c != wanted[matched_]) {
    state_ = State::doctype;
    brackets_ = 0;
    return false;
  }
  if (++matched_ == wanted.size()) {
    state_ = quote_ == '-' ? State::comment : State::cdata;
    matched_ = 0;
  }
  return true;
}

void MarkupScanner::in_section(char c, char mark, State after) {
  const unsigned needed = mark == '?' ? 1 : 2;
  if (c == mark) {
    matched_ = std::min(matched_ + 1, needed);
  } else {
    if (c == '>' && matched_ == needed) {
      state_ = after;
    }
    matched_ = 0;
  }
}

/// Returns whether c was used up.
bool MarkupScanner::in_doctype(char c) {
  switch (state_) {
    case State::doctype_value:
      if (c == quote_) {
        state_ = State::doctype;
      }
      return true;
    case State::doctype_opened:
      matched_ = 0;
      state_ = c == '!'   ? State::doctype_declared
               : c == '?' ? State::doctype_instruction
                          : State::doctype;
      return state_ != State::doctype;
    case State::doctype_declared:
      if (c != '-') {
        state_ = State::doctype;
        return false;
      }
      if (++matched_ == 2) {
        matched_ = 0;
        state_ = State::doctype_comment;
      }
      return true;
    default:
      break;
  }
  if (c == '"' || c == '\'') {
    quote_ = c;
    state_ = State::doctype_value;
  } else if (c == '<') {
    state_ = State::doctype_opened;
  } else if (c == '[') {
    ++brackets_;
  } else if (c == ']' && brackets_ > 0) {
    --brackets_;
  } else if (c == '>' && brackets_ == 0) {
    state_ = State::text;
  }
  return true;
}

}  // namespace somatlas::ingest
