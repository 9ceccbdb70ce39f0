// The state machine over descriptor XML: DescriptorRecord with DescriptorUI, DescriptorName/String,
// TreeNumberList/TreeNumber and ConceptList/Concept/TermList/Term/String as its own children.
// Always holds: a record without a UI or a name, or with one that is none, refuses the file.
#include "ingest/mesh_xml.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "ingest/input_error.h"
#include "ingest/xml_reader.h"

namespace somatlas::ingest {
namespace {

constexpr std::size_t longest_text_bytes = 4096;
constexpr std::size_t most_entry_words = 10'000;  // of a descriptor; MeSH gives one some hundreds

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  const std::size_t first = text.find_first_not_of(white);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(white) - first + 1);
}

// Bytes past ASCII stay as they are.
std::string in_small_letters(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

// A line break of the document is none of a name, which is a column of tables.
std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\t' || c == '\r' || c == '\n'; }, ' ');
  return line;
}

class MeshReceiver final : public XmlReceiver {
 public:
  explicit MeshReceiver(const std::string& path) : path_(path) {}

  [[nodiscard]] Interest start_element(std::string_view name, XmlAttributes attributes,
                                       std::uint64_t line) override {
    line_ = line;
    if (!enter(name, attributes, line)) {
      return Interest::none;
    }
    return place_ >= Place::ui ? Interest::text : Interest::elements;
  }

  void end_element(std::string_view /*name*/) override { leave(); }

  void text(std::string_view piece) override {
    if (text_.size() + piece.size() > longest_text_bytes) {
      refuse("has a UI, name, tree number or term of more than " +
             std::to_string(longest_text_bytes) + " bytes; fetch the file again");
    }
    text_.append(piece);
  }

  [[nodiscard]] std::vector<MeshDescriptor> take() {
    if (!record_seen_) {
      throw InputError(path_, 0, "holds no DescriptorRecord: is it MeSH's descriptor XML?");
    }
    return std::move(descriptors_);
  }

 private:
  // In the places from ui on the text is kept.
  enum class Place : std::uint8_t {
    outside,
    set,
    record,
    name,
    trees,
    concept_list,
    one_concept,
    term_list,
    one_term,
    ui,
    name_text,
    tree_number,
    term_text
  };

  [[noreturn]] void refuse(const std::string& problem) const {
    throw InputError(path_, line_, problem);
  }

  bool go(bool wanted, Place place) {
    if (wanted) {
      place_ = place;
      text_.clear();
    }
    return wanted;
  }

  bool enter(std::string_view name, XmlAttributes attributes, std::uint64_t line) {
    switch (place_) {
      case Place::outside:
        return go(true, Place::set);  // the root, whatever its name
      case Place::set:
        if (name == "DescriptorRecord") {
          record_seen_ = true;
          record_line_ = line;
          ui_.reset();
          descriptor_ = {};
          place_ = Place::record;
          return true;
        }
        return false;
      case Place::record:
        return go(name == "DescriptorUI", Place::ui) || go(name == "DescriptorName", Place::name) ||
               go(name == "TreeNumberList", Place::trees) || go_to_concepts(name);
      case Place::name:
        return go(name == "String", Place::name_text);
      case Place::trees:
        return go(name == "TreeNumber", Place::tree_number);
      case Place::concept_list:
        return go(name == "Concept", Place::one_concept);
      case Place::one_concept:
        return go(name == "TermList", Place::term_list);
      case Place::term_list:
        // "Infarction, Myocardial" beside "Myocardial Infarction": searching by words finds it.
        return go(name == "Term" && attributes.find("IsPermutedTermYN") != "Y", Place::one_term);
      case Place::one_term:
        return go(name == "String", Place::term_text);
      default:
        return false;
    }
  }

  bool go_to_concepts(std::string_view name) {
    if (name == "ConceptList" && !descriptor_.entry_words) {
      descriptor_.entry_words.emplace();
    }
    return go(name == "ConceptList", Place::concept_list);
  }

  void leave() {
    const std::string_view kept = trimmed(text_);
    switch (place_) {
      case Place::ui:
        ui_ = parse_descriptor_ui(kept);
        if (!ui_) {
          refuse("'" + std::string(kept.substr(0, 64)) +
                 "' is no descriptor UI (D and six or nine digits); fetch the file again");
        }
        place_ = Place::record;
        break;
      case Place::name_text:
        descriptor_.name = on_one_line(kept);
        place_ = Place::name;
        break;
      case Place::tree_number:
        if (!is_tree_number(kept)) {
          refuse("'" + std::string(kept.substr(0, 64)) +
                 "' is no tree number; fetch the file again");
        }
        descriptor_.tree_numbers.emplace_back(kept);
        place_ = Place::trees;
        break;
      case Place::term_text:
        add_entry_word(on_one_line(kept));
        place_ = Place::one_term;
        break;
      case Place::one_term:
        place_ = Place::term_list;
        break;
      case Place::term_list:
        place_ = Place::one_concept;
        break;
      case Place::one_concept:
        place_ = Place::concept_list;
        break;
      case Place::name:
      case Place::trees:
      case Place::concept_list:
        place_ = Place::record;
        break;
      case Place::record:
        finish_record();
        place_ = Place::set;
        break;
      default:
        place_ = Place::outside;
        break;
    }
  }

  void add_entry_word(std::string word) {
    std::vector<std::string>& words = *descriptor_.entry_words;
    if (word.empty() || !terms_.insert(in_small_letters(word)).second) {
      return;
    }
    if (words.size() == most_entry_words) {
      refuse("has a DescriptorRecord with more than " + std::to_string(most_entry_words) +
             " terms; fetch the file again");
    }
    words.push_back(std::move(word));
  }

  void finish_record() {
    line_ = record_line_;
    if (!ui_ || descriptor_.name.empty()) {
      refuse("has a DescriptorRecord without a UI or a name; fetch the file again");
    }
    if (!seen_.insert(*ui_)) {
      refuse("has a DescriptorRecord whose UI stands in an earlier one; fetch the file again");
    }
    descriptor_.ui = *ui_;
    terms_.clear();
    if (descriptor_.entry_words) {
      const std::string name = in_small_letters(descriptor_.name);
      std::erase_if(*descriptor_.entry_words,
                    [&](const std::string& word) { return in_small_letters(word) == name; });
    }
    descriptors_.push_back(std::move(descriptor_));
  }

  const std::string& path_;
  Place place_ = Place::outside;
  std::uint64_t line_ = 0;
  std::uint64_t record_line_ = 0;
  bool record_seen_ = false;
  std::string text_;
  std::optional<DescriptorUi> ui_;
  MeshDescriptor descriptor_;
  std::unordered_set<std::string> terms_;  // of it so far, in small letters
  DescriptorUiSet seen_;
  std::vector<MeshDescriptor> descriptors_;
};

}  // namespace

bool is_tree_number(std::string_view text) {
  const auto digits = [&](std::size_t at, std::size_t count) {
    for (std::size_t i = at; i < at + count; ++i) {
      if (text[i] < '0' || text[i] > '9') {
        return false;
      }
    }
    return true;
  };
  if (text.size() < 3 || (text.size() - 3) % 4 != 0 || text[0] < 'A' || text[0] > 'Z' ||
      !digits(1, 2)) {
    return false;
  }
  for (std::size_t at = 3; at < text.size(); at += 4) {
    if (text[at] != '.' || !digits(at + 1, 3)) {
      return false;
    }
  }
  return true;
}

std::vector<MeshDescriptor> read_mesh_xml(ByteSource& source) {
  MeshReceiver receiver(source.path());
  parse_xml(source, receiver);
  return receiver.take();
}

}  // namespace somatlas::ingest
