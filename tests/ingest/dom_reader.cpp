// Walks the document tree. Written for plainness: paths are looked up, texts copied.
#include "tests/ingest/dom_reader.h"

#include <libxml/parser.h>
#include <libxml/tree.h>

#include <cstring>
#include <map>
#include <memory>
#include <regex>
#include <set>

#include "tests/ingest/recorded_events.h"

namespace somatlas::ingest {
namespace {

bool is(const xmlNode* node, const std::string& name) {
  return node->type == XML_ELEMENT_NODE && name == reinterpret_cast<const char*>(node->name);
}

std::vector<xmlNode*> children(const xmlNode* parent, const std::string& name) {
  std::vector<xmlNode*> found;
  for (xmlNode* node = parent->children; node != nullptr; node = node->next) {
    if (is(node, name)) {
      found.push_back(node);
    }
  }
  return found;
}

bool precedes(const xmlNode* sibling, const xmlNode* node) {
  while (sibling != nullptr && sibling != node) {
    sibling = sibling->next;
  }
  return sibling == node;
}

std::string strip(std::string text) {
  while (!text.empty() && std::strchr(" \t\r\n", text.back()) != nullptr) {
    text.pop_back();
  }
  std::size_t white = 0;
  while (white < text.size() && std::strchr(" \t\r\n", text[white]) != nullptr) {
    ++white;
  }
  return text.substr(white);
}

constexpr std::size_t longest_text = 1024;

/// As much as is kept, without the white space around it.
std::string text_of(const xmlNode* node) {
  const std::unique_ptr<xmlChar, decltype(xmlFree)> text(xmlNodeGetContent(node), xmlFree);
  const std::string all = reinterpret_cast<const char*>(text.get());
  return strip(all.substr(0, longest_text));
}

/// The same, or nothing where it is longer than is kept: its beginning says something else.
std::string whole_text_of(const xmlNode* node) {
  const std::unique_ptr<xmlChar, decltype(xmlFree)> text(xmlNodeGetContent(node), xmlFree);
  const std::string all = reinterpret_cast<const char*>(text.get());
  return all.size() > longest_text ? "" : strip(all);
}

std::string attribute_of(xmlNode* node, const std::string& name, const std::string& otherwise) {
  const auto* const key = reinterpret_cast<const xmlChar*>(name.c_str());
  const std::unique_ptr<xmlChar, decltype(xmlFree)> value(xmlGetProp(node, key), xmlFree);
  std::string all = value ? reinterpret_cast<const char*>(value.get()) : otherwise;
  // As libxml2's SAX parser hands it out.
  for (std::size_t at = all.find('&'); at != std::string::npos; at = all.find('&', at + 1)) {
    all.replace(at, 1, "&#38;");
  }
  return strip(all);
}

std::uint64_t number_up_to(const std::string& text, std::uint64_t most) {
  static const std::regex number_form("0*[0-9]{1,18}");
  if (!std::regex_match(text, number_form)) {
    return 0;
  }
  const std::uint64_t number = std::stoull(text);
  return number > most ? 0 : number;
}

int year_of(const std::string& text) {
  static const std::regex year_form("(^|[^0-9])([1-9][0-9]{3})($|[^0-9])");
  std::smatch match;
  return std::regex_search(text, match, year_form) ? std::stoi(match[2]) : 0;
}

/// The year of the last node on a path below node, or 0.
int year_at(const xmlNode* node, const std::vector<std::string>& path) {
  std::vector<const xmlNode*> level = {node};
  for (const std::string& name : path) {
    std::vector<const xmlNode*> next;
    for (const xmlNode* parent : level) {
      for (const xmlNode* child : children(parent, name)) {
        next.push_back(child);
      }
    }
    level = next;
  }
  return level.empty() ? 0 : year_of(whole_text_of(level.back()));
}

bool begins_record(const xmlNode* node) {
  return is(node, "PubmedArticle") || is(node, "MedlineCitation") ||
         is(node, "PubmedBookArticle") || is(node, "BookDocument") || is(node, "DeleteCitation");
}

/// Whether a record stands inside another one or among references, or an entity is referred to.
bool misplaced(const xmlNode* node) {
  if (node->type == XML_ENTITY_REF_NODE) {
    return true;
  }
  if (begins_record(node)) {
    for (const xmlNode* around = node->parent; around->type == XML_ELEMENT_NODE;
         around = around->parent) {
      const bool part =
          (is(around, "PubmedArticle") && !is(node, "PubmedArticle")) ||
          (is(around, "PubmedBookArticle") && is(node, "BookDocument") && around == node->parent);
      if (!part &&
          (begins_record(around) || is(around, "PubmedData") || is(around, "DeleteDocument"))) {
        return true;
      }
    }
  }
  for (const xmlAttr* attribute = node->type == XML_ELEMENT_NODE ? node->properties : nullptr;
       attribute != nullptr; attribute = attribute->next) {
    for (const xmlNode* value = attribute->children; value != nullptr; value = value->next) {
      if (value->type == XML_ENTITY_REF_NODE) {
        return true;
      }
    }
  }
  for (const xmlNode* child = node->children; child != nullptr; child = child->next) {
    if (misplaced(child)) {
      return true;
    }
  }
  return false;
}

/// Whether a document type declares an entity or attributes.
bool declares(const xmlDtd* type) {
  for (const xmlNode* node = type == nullptr ? nullptr : type->children; node != nullptr;
       node = node->next) {
    if (node->type == XML_ENTITY_DECL || node->type == XML_ATTRIBUTE_DECL) {
      return true;
    }
  }
  return false;
}

class DomReader {
 public:
  explicit DomReader(const NameTable& names) : names_(names) {}

  std::vector<std::string> lines;

  /// Returns whether a MedlineCitation stood in it.
  bool walk(xmlNode* node) {
    const std::string line = std::to_string(xmlGetLineNo(node));
    if (is(node, "MedlineCitation")) {
      citation(node);
      return true;
    }
    if (is(node, "PubmedBookArticle") || is(node, "BookDocument")) {
      lines.push_back("book at " + line);
      return false;
    }
    if (is(node, "DeleteCitation")) {
      for (xmlNode* pmid : children(node, "PMID")) {
        deletion(pmid);
      }
      return false;
    }
    if (is(node, "PubmedData") || is(node, "DeleteDocument")) {
      return false;
    }
    bool found = false;
    for (xmlNode* child = node->children; child != nullptr; child = child->next) {
      if (child->type == XML_ELEMENT_NODE && walk(child)) {
        found = true;
      }
    }
    if (is(node, "PubmedArticle") && !found) {
      lines.push_back("left out 0 at " + line + ": ");
    }
    return found;
  }

 private:
  /// Of a PMID whose number is none, or else whose version is none.
  static std::string left_out(xmlNode* at, xmlNode* pmid, std::uint64_t number) {
    return std::string("left out ") + (number == 0 ? "1" : "3") + " at " +
           std::to_string(xmlGetLineNo(at)) + ": " +
           (number == 0 ? text_of(pmid).substr(0, 64)
                        : "PMID " + text_of(pmid).substr(0, 64) + ", Version '" +
                              attribute_of(pmid, "Version", "1").substr(0, 64) + "'");
  }

  void deletion(xmlNode* pmid) {
    const std::uint64_t number = number_up_to(whole_text_of(pmid), 4294967295U);
    const std::uint64_t version = number_up_to(attribute_of(pmid, "Version", "1"), 65535);
    if (number == 0 || version == 0) {
      lines.push_back(left_out(pmid, pmid, number));
    } else {
      lines.push_back("delete " + std::to_string(number) + " v" + std::to_string(version));
    }
  }

  void citation(xmlNode* node) {
    const auto pmids = children(node, "PMID");
    std::uint64_t number = 0;
    std::uint64_t version = 0;
    if (!pmids.empty()) {
      number = number_up_to(whole_text_of(pmids.front()), 4294967295U);
      version = number_up_to(attribute_of(pmids.front(), "Version", "1"), 65535);
    }
    std::map<std::string, bool> majors;
    for (xmlNode* list : children(node, "MeshHeadingList")) {
      // What is reported of a heading names the PMID where that stands before it.
      const bool named = number != 0 && precedes(pmids.front(), list);
      for (xmlNode* heading : children(list, "MeshHeading")) {
        read_heading(heading, named ? number : 0, majors);
      }
    }
    const std::string line = std::to_string(xmlGetLineNo(node));
    if (pmids.empty()) {
      lines.push_back("left out 0 at " + line + ": ");
    } else if (number == 0 || version == 0) {
      lines.push_back(left_out(node, pmids.front(), number));
    } else if (majors.size() > 1023) {
      lines.push_back("left out 2 at " + line + ": " + std::to_string(number));
    } else {
      std::string text = std::to_string(number) + " v" + std::to_string(version) + " " +
                         std::to_string(publication_year(node)) + " =";
      for (const auto& [ui, major] : majors) {
        text += " " + ui + (major ? "*" : "");
      }
      lines.push_back(text);
    }
  }

  static int publication_year(xmlNode* node) {
    for (const auto& path : std::vector<std::vector<std::string>>{
             {"Article", "Journal", "JournalIssue", "PubDate", "Year"},
             {"Article", "Journal", "JournalIssue", "PubDate", "MedlineDate"},
             {"Article", "ArticleDate", "Year"}}) {
      if (const int year = year_at(node, path); year != 0) {
        return year;
      }
    }
    return 0;
  }

  /// A heading has one descriptor. Where there are more, each counts, with the stars up to the
  /// next.
  void read_heading(xmlNode* heading, std::uint64_t pmid, std::map<std::string, bool>& majors) {
    bool major = false;
    std::string pending;
    for (xmlNode* child = heading->children; child != nullptr; child = child->next) {
      const bool descriptor = is(child, "DescriptorName");
      if (!descriptor && !is(child, "QualifierName")) {
        continue;
      }
      major = major || attribute_of(child, "MajorTopicYN", "") == "Y";
      if (descriptor) {
        if (!pending.empty()) {
          majors[pending] |= major;
        }
        pending = descriptor_of(child, pmid);
      }
    }
    if (!pending.empty()) {
      majors[pending] |= major;
    }
    if (children(heading, "DescriptorName").empty()) {
      unknown(heading, pmid, "");
    }
  }

  /// The UI that a DescriptorName means, or nothing, and then it is reported.
  std::string descriptor_of(xmlNode* node, std::uint64_t pmid) {
    const std::string ui = attribute_of(node, "UI", "").substr(0, longest_text);
    const std::string name = text_of(node);
    if (const auto known = names_.find(whole_text_of(node)); ui.empty() && known) {
      return ui_text(*known);
    }
    if ((ui.size() == 7 || ui.size() == 10) && ui[0] == 'D' &&
        ui.find_first_not_of("0123456789", 1) == std::string::npos) {
      return ui;
    }
    unknown(node, pmid, ui.empty() ? name : ui);
    return "";
  }

  void unknown(xmlNode* node, std::uint64_t pmid, const std::string& name) {
    lines.push_back("unknown at " + std::to_string(xmlGetLineNo(node)) + " in " +
                    std::to_string(pmid) + ": " + name);
  }

  const NameTable& names_;
};

}  // namespace

std::optional<std::vector<std::string>> dom_events_of(const std::string& xml,
                                                      const NameTable& names) {
  const std::unique_ptr<xmlDoc, decltype(&xmlFreeDoc)> document(
      xmlReadMemory(
          xml.data(), static_cast<int>(xml.size()), "memory.xml", nullptr,
          XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING | XML_PARSE_BIG_LINES),
      &xmlFreeDoc);
  static const std::regex of_ascii("(utf-?8|us-ascii|ascii|iso-?8859-|windows-125|latin).*",
                                   std::regex::icase);
  const std::string encoding = document && document->encoding != nullptr
                                   ? reinterpret_cast<const char*>(document->encoding)
                                   : "UTF-8";
  if (!document || !std::regex_match(encoding, of_ascii) || xml.find('\0') != std::string::npos ||
      declares(document->intSubset)) {
    return std::nullopt;
  }
  xmlNode* const root = xmlDocGetRootElement(document.get());
  static const std::set<std::string> roots = {"PubmedArticleSet", "MedlineCitationSet",
                                              "PubmedBookArticleSet", "RAW_DATA"};
  if (!(roots.contains(reinterpret_cast<const char*>(root->name)) || begins_record(root)) ||
      misplaced(root)) {
    return std::nullopt;
  }
  DomReader reader(names);
  reader.walk(root);
  return reader.lines;
}

}  // namespace somatlas::ingest
