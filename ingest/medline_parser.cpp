// The state machine over MEDLINE's elements: which element means what depends on its parent, so a
// PMID in a comment or a reference is never the record's own.
// Always holds: every record of the document is counted or the document refused; text is collected
// only in the few elements that are kept, and bounded there; a record's memory is bounded by the
// most descriptors an article may have.
#include "ingest/medline_parser.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "ingest/input_error.h"
#include "ingest/xml_reader.h"

namespace somatlas::ingest {
namespace {

constexpr std::size_t most_descriptors = 1023;
// In one record, of those that are looked at: real ones have some hundreds.
constexpr std::uint64_t most_elements = 1'000'000;
constexpr std::size_t longest_text_bytes = 1024;  // of a number, a date, a heading's name

constexpr std::string_view white = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// A positive decimal number up to most, or 0 where text is none.
std::uint32_t positive_number(std::string_view text, std::uint32_t most) {
  std::uint64_t number = 0;
  for (const char c : text) {
    if (!is_digit(c)) {
      return 0;
    }
    number = number * 10 + static_cast<std::uint64_t>(c - '0');
    if (number > most) {
      return 0;
    }
  }
  return static_cast<std::uint32_t>(number);
}

/// The first run of exactly four digits from 1000 up, or 0: "1998 Dec-1999 Jan" is 1998, "Spring
/// 2000" is 2000.
std::uint16_t year_in(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_digit(text[end])) {
      ++end;
    }
    if (end - at == 4 && text[at] != '0') {
      return static_cast<std::uint16_t>(positive_number(text.substr(at, 4), 9999));
    }
    at = std::max(end, at + 1);
  }
  return 0;
}

/// The elements that begin a record, or a list of deletions.
constexpr std::array<std::string_view, 5> records = {
    "PubmedArticle", "MedlineCitation", "PubmedBookArticle", "BookDocument", "DeleteCitation"};

bool begins_record(std::string_view name) {
  return std::find(records.begin(), records.end(), name) != records.end();
}

bool known_root(std::string_view name) {
  constexpr std::array<std::string_view, 4> roots = {"PubmedArticleSet", "MedlineCitationSet",
                                                     "PubmedBookArticleSet", "RAW_DATA"};
  return std::find(roots.begin(), roots.end(), name) != roots.end() || begins_record(name);
}

/// Where the parser stands: an element whose children mean something, or one whose text is kept.
enum class Place : std::uint8_t {
  outside,  // above any record, at any depth
  book,
  book_document,  // without a PubmedBookArticle around it
  citation,
  article,
  journal,
  issue,
  pub_date,
  article_date,
  mesh_list,
  heading,
  deletions,
  // In the places from here on the text is kept.
  pmid,
  pub_year,
  medline_date,
  article_year,
  descriptor,
  deleted_pmid,
};

constexpr Place parent_of(Place place) {
  switch (place) {
    case Place::pmid:
    case Place::article:
    case Place::mesh_list:
      return Place::citation;
    case Place::journal:
    case Place::article_date:
      return Place::article;
    case Place::issue:
      return Place::journal;
    case Place::pub_date:
      return Place::issue;
    case Place::pub_year:
    case Place::medline_date:
      return Place::pub_date;
    case Place::article_year:
      return Place::article_date;
    case Place::heading:
      return Place::mesh_list;
    case Place::descriptor:
      return Place::heading;
    case Place::deleted_pmid:
      return Place::deletions;
    default:
      return Place::outside;
  }
}

class MedlineReceiver final : public XmlReceiver {
 public:
  MedlineReceiver(const std::string& path, const NameTable& names, CitationSink& sink)
      : path_(path), names_(names), sink_(sink) {
    headings_.reserve(most_descriptors);
    text_.reserve(longest_text_bytes);
  }

  [[nodiscard]] Interest start_element(std::string_view name, XmlAttributes attributes,
                                       std::uint64_t line) override {
    count_element();
    check_place(name, line);
    if (!enter(name, attributes, line)) {
      return Interest::none;
    }
    return place_ >= Place::pmid ? Interest::text : Interest::elements;
  }

  [[nodiscard]] std::span<const std::string_view> watched() const override { return records; }
  void hidden_element(std::string_view name, std::uint64_t line) override {
    refuse_inside(name, line);
  }

  void end_element(std::string_view name) override {
    if (place_ == Place::outside) {
      leave_outer(name);
    } else {
      leave();
      place_ = parent_of(place_);
    }
  }

  void text(std::string_view piece) override {
    const std::string_view taken = piece.substr(0, longest_text_bytes - text_.size());
    text_.append(taken);
    text_is_cut_ = text_is_cut_ || taken.size() < piece.size();
  }

  [[nodiscard]] const ParseSummary& summary() const { return summary_; }

 private:
  /// Refuses a document that is something else than MEDLINE, and a record where it would not be
  /// counted: inside another one, or among references.
  void check_place(std::string_view name, std::uint64_t line) {
    if (!root_seen_) {
      root_seen_ = true;
      if (!known_root(name)) {
        throw InputError(path_, line,
                         "is no MEDLINE XML: its root element is " +
                             std::string(name.substr(0, 64)) +
                             ", not PubmedArticleSet or the like; name a file that PubMed wrote");
      }
    }
    if (!begins_record(name)) {
      return;
    }
    const bool own_part = name == "BookDocument" && place_ == Place::book;
    if ((place_ != Place::outside && !own_part) || (in_wrapper_ && name == wrapper)) {
      refuse_inside(name, line);
    }
  }

  [[noreturn]] void refuse_inside(std::string_view name, std::uint64_t line) const {
    throw InputError(path_, line,
                     "a " + std::string(name) +
                         " begins inside another record; fetch the file again or repair it");
  }

  void count_element() {
    if (place_ != Place::outside && place_ != Place::deletions && ++elements_ > most_elements) {
      throw InputError(path_, record_line_,
                       "has a record of more than " + std::to_string(most_elements) +
                           " headings and dates, which no MEDLINE file has; fetch it again or "
                           "repair it");
    }
  }

  /// Enters the place that the element means, or tells that it means nothing here.
  bool enter(std::string_view name, XmlAttributes attributes, std::uint64_t line) {
    switch (place_) {
      case Place::outside:
        return enter_outer(name, line);
      case Place::citation:
        if (name == "PMID" && !has_pmid_) {
          has_pmid_ = true;
          return keep(Place::pmid, attributes, line);
        }
        return go(name == "Article", Place::article) ||
               go(name == "MeshHeadingList", Place::mesh_list);
      case Place::article:
        return go(name == "Journal", Place::journal) ||
               go(name == "ArticleDate", Place::article_date);
      case Place::journal:
        return go(name == "JournalIssue", Place::issue);
      case Place::issue:
        return go(name == "PubDate", Place::pub_date);
      case Place::pub_date:
        return (name == "Year" && keep(Place::pub_year, attributes, line)) ||
               (name == "MedlineDate" && keep(Place::medline_date, attributes, line));
      case Place::article_date:
        return name == "Year" && keep(Place::article_year, attributes, line);
      case Place::mesh_list:
        return name == "MeshHeading" && enter_heading(line);
      case Place::heading:
        if (trimmed(attributes.find("MajorTopicYN").value_or("")) == "Y" &&
            (name == "DescriptorName" || name == "QualifierName")) {
          major_ = true;
        }
        return name == "DescriptorName" && enter_descriptor(attributes, line);
      case Place::deletions:
        return name == "PMID" && keep(Place::deleted_pmid, attributes, line);
      default:
        return false;
    }
  }

  bool go(bool wanted, Place place) {
    if (wanted) {
      place_ = place;
    }
    return wanted;
  }

  bool keep(Place place, XmlAttributes attributes, std::uint64_t line) {
    text_.clear();
    text_is_cut_ = false;
    text_line_ = line;
    if (place == Place::pmid || place == Place::deleted_pmid) {
      version_text_ = trimmed(attributes.find("Version").value_or("1")).substr(0, 64);
    }
    place_ = place;
    return true;
  }

  /// Elements that are no record stay outside: a record may stand at any depth below them.
  bool enter_outer(std::string_view name, std::uint64_t line) {
    if (name == "MedlineCitation") {
      wrapper_is_empty_ = false;
      record_line_ = line;
      elements_ = 0;
      ++summary_.citations;
      has_pmid_ = false;
      pmid_ = 0;
      version_ = 1;
      fault_.reset();
      year_ = 0;
      medline_year_ = 0;
      article_year_ = 0;
      headings_.clear();
      place_ = Place::citation;
    } else if (name == wrapper) {
      in_wrapper_ = true;
      wrapper_is_empty_ = true;
      wrapper_line_ = line;
    } else if (name == "PubmedBookArticle" || name == "BookDocument") {
      ++summary_.books;
      sink_.book(line);
      place_ = name == "BookDocument" ? Place::book_document : Place::book;
    } else if (name == "DeleteCitation") {
      place_ = Place::deletions;
    } else if (name == "PubmedData" || name == "DeleteDocument") {
      return false;  // references and book numbers: nothing below is a record
    }
    return true;
  }

  void leave_outer(std::string_view name) {
    if (name != wrapper) {
      return;
    }
    in_wrapper_ = false;
    if (wrapper_is_empty_) {
      wrapper_is_empty_ = false;
      ++summary_.citations;
      sink_.left_out(LeftOut::no_pmid, wrapper_line_, {});
    }
  }

  bool enter_heading(std::uint64_t line) {
    heading_line_ = line;
    heading_has_descriptor_ = false;
    heading_ui_.reset();
    major_ = false;
    place_ = Place::heading;
    return true;
  }

  /// A heading has one descriptor; where there are more, each counts.
  bool enter_descriptor(XmlAttributes attributes, std::uint64_t line) {
    heading_has_descriptor_ = true;
    ui_text_ = trimmed(attributes.find("UI").value_or("")).substr(0, longest_text_bytes);
    return keep(Place::descriptor, attributes, line);
  }

  void leave() {
    switch (place_) {
      case Place::citation:
        emit();
        break;
      case Place::pmid:
        pmid_ = pmid();
        version_ = version();
        if (pmid_ == 0 || version_ == 0) {
          fault_ = pmid_ == 0 ? LeftOut::bad_pmid : LeftOut::bad_version;
          fault_text_ = number_text(*fault_);
        }
        break;
      case Place::pub_year:
        year_ = year();
        break;
      case Place::medline_date:
        medline_year_ = year();
        break;
      case Place::article_year:
        article_year_ = year();
        break;
      case Place::descriptor:
        resolve_descriptor();
        break;
      case Place::heading:
        if (heading_ui_) {
          add_heading();
        } else if (!heading_has_descriptor_) {
          sink_.unknown_heading(heading_line_, pmid_, {});
        }
        break;
      case Place::deleted_pmid:
        emit_deletion();
        break;
      default:
        break;
    }
  }

  // Text that was cut is never taken for what its beginning says.
  [[nodiscard]] std::uint32_t pmid() const {
    return text_is_cut_
               ? 0
               : positive_number(trimmed(text_), std::numeric_limits<std::uint32_t>::max());
  }
  [[nodiscard]] std::uint16_t year() const {
    return text_is_cut_ ? std::uint16_t{0} : year_in(text_);
  }
  [[nodiscard]] std::uint16_t version() const {
    return static_cast<std::uint16_t>(
        positive_number(version_text_, std::numeric_limits<std::uint16_t>::max()));
  }

  /// What stood in a PMID element, for the message that it, or its version, cannot be used.
  [[nodiscard]] std::string number_text(LeftOut fault) const {
    const std::string shown(trimmed(text_).substr(0, 64));
    return fault == LeftOut::bad_version ? "PMID " + shown + ", Version '" + version_text_ + "'"
                                         : shown;
  }

  void resolve_descriptor() {
    if (heading_ui_) {  // of an earlier DescriptorName in this heading
      add_heading();
      heading_ui_.reset();
    }
    const std::string_view name = trimmed(text_);
    if (!ui_text_.empty()) {
      heading_ui_ = parse_descriptor_ui(ui_text_);
    } else if (!text_is_cut_) {
      heading_ui_ = names_.find(name);
    }
    if (!heading_ui_) {
      sink_.unknown_heading(text_line_, pmid_, ui_text_.empty() ? name : ui_text_);
    }
  }

  void add_heading() {
    if (fault_) {
      return;  // the record is left out, whatever else it says
    }
    const auto known = std::find_if(headings_.begin(), headings_.end(),
                                    [this](const Heading& h) { return h.ui == *heading_ui_; });
    if (known != headings_.end()) {
      known->major_topic = known->major_topic || major_;
    } else if (headings_.size() < most_descriptors) {
      headings_.push_back({*heading_ui_, major_});
    } else {
      fault_ = LeftOut::too_many_descriptors;
      fault_text_ = std::to_string(pmid_);
    }
  }

  void emit() {
    if (!has_pmid_) {
      sink_.left_out(LeftOut::no_pmid, record_line_, {});
    } else if (fault_) {
      sink_.left_out(*fault_, record_line_, fault_text_);
    } else {
      const std::uint16_t year = year_ != 0           ? year_
                                 : medline_year_ != 0 ? medline_year_
                                                      : article_year_;
      sink_.citation({pmid_, version_, year, headings_});
    }
  }

  /// A deletion that names no article is a record left out like any other.
  void emit_deletion() {
    const std::uint32_t deleted = pmid();
    if (deleted == 0 || version() == 0) {
      ++summary_.citations;
      const LeftOut fault = deleted == 0 ? LeftOut::bad_pmid : LeftOut::bad_version;
      sink_.left_out(fault, text_line_, number_text(fault));
      return;
    }
    ++summary_.deletions;
    sink_.deletion(deleted, version());
  }

  static constexpr std::string_view wrapper = "PubmedArticle";

  const std::string& path_;
  const NameTable& names_;
  CitationSink& sink_;
  ParseSummary summary_;
  bool root_seen_ = false;

  Place place_ = Place::outside;
  std::string text_;  // of the element in place_, its children's included
  bool text_is_cut_ = false;
  std::uint64_t text_line_ = 0;
  std::string version_text_;

  bool in_wrapper_ = false;
  bool wrapper_is_empty_ = false;  // a PubmedArticle in which no MedlineCitation came yet
  std::uint64_t wrapper_line_ = 0;

  std::uint64_t record_line_ = 0;
  std::uint64_t elements_ = 0;  // in the record so far
  bool has_pmid_ = false;
  std::uint32_t pmid_ = 0;
  std::uint16_t version_ = 1;
  std::optional<LeftOut> fault_;
  std::string fault_text_;
  std::uint16_t year_ = 0;
  std::uint16_t medline_year_ = 0;
  std::uint16_t article_year_ = 0;
  std::vector<Heading> headings_;

  std::uint64_t heading_line_ = 0;
  bool heading_has_descriptor_ = false;
  std::optional<DescriptorUi> heading_ui_;
  std::string ui_text_;
  bool major_ = false;
};

}  // namespace

ParseSummary parse_medline(ByteSource& source, const NameTable& names, CitationSink& sink) {
  MedlineReceiver receiver(source.path(), names, sink);
  const std::uint64_t bytes = parse_xml(source, receiver);
  ParseSummary summary = receiver.summary();
  summary.xml_bytes = bytes;
  return summary;
}

}  // namespace somatlas::ingest
