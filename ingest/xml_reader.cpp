// libxml2's callbacks and the loop that feeds the parser.
// Always holds: no exception crosses a callback (it is kept, the parser stopped, and thrown again
// outside); the parser is given whole tags only, so it begins none whose length is not known.
#include "ingest/xml_reader.h"

#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "ingest/input_error.h"
#include "ingest/markup_scanner.h"

namespace somatlas::ingest {
namespace {

constexpr std::size_t read_bytes = std::size_t{1} << 16U;
// MEDLINE and MeSH nest about a dozen elements, with MathML some more; they have some 200 names and
// three namespaces.
constexpr std::uint64_t deepest_nesting = 256;
constexpr int most_names = 10'000;
constexpr int most_namespaces = 64;
constexpr std::size_t longest_shown_name = 64;  // in a message
constexpr std::size_t longest_shown_fault = 200;
const std::string no_such_file = ", which no MEDLINE or MeSH file has; fetch it again or repair it";

xmlParserInputPtr refuse_external(const char* /*url*/, const char* /*id*/,
                                  xmlParserCtxtPtr /*context*/) {
  return nullptr;
}

void say_nothing(void* /*context*/, const char* /*format*/, ...) {}

/// The library's global state is set up once, before the first of any number of threads parses.
void set_up_library() {
  static std::once_flag once;
  std::call_once(once, [] {
    xmlInitParser();
    xmlSetExternalEntityLoader(&refuse_external);
  });
}

std::string_view view(const xmlChar* text) {
  return text == nullptr ? std::string_view{} : reinterpret_cast<const char*>(text);
}

/// The text, or as many whole characters of its beginning.
std::string shown(std::string_view text, std::size_t longest = longest_shown_name) {
  if (text.size() <= longest) {
    return std::string(text);
  }
  while (longest > 0 && (static_cast<unsigned char>(text[longest]) & 0xC0U) == 0x80) {
    --longest;
  }
  return std::string(text.substr(0, longest)) + "...";
}

struct Fault {
  std::uint64_t line;
  std::string problem;
};

/// One document's parse: what the callbacks are given as user data.
class Parse {
 public:
  explicit Parse(XmlReceiver& receiver) : receiver_(receiver) {
    set_up_library();
    // A thread's own handlers, for faults that libxml2 does not tie to a document: without them
    // they go to stderr. The document's handler below has precedence.
    xmlSetStructuredErrorFunc(this,
                              [](void* self, xmlErrorPtr error) { of(self).library_error(error); });
    xmlSetGenericErrorFunc(nullptr, &say_nothing);
    xmlSAXHandler handler{};
    handler.initialized = XML_SAX2_MAGIC;
    handler.startDocument = [](void* self) { of(self).guard(&Parse::check_encoding); };
    handler.startElementNs = &Parse::start_element;
    handler.endElementNs = &Parse::end_element;
    handler.serror = &Parse::error;
    handler.entityDecl = [](void* self, const xmlChar* name, int, const xmlChar*, const xmlChar*,
                            xmlChar*) { of(self).refuse_declaration("the entity ", name); };
    handler.unparsedEntityDecl = [](void* self, const xmlChar* name, const xmlChar*, const xmlChar*,
                                    const xmlChar*) {
      of(self).refuse_declaration("the entity ", name);
    };
    // Defaults of the internal subset would be added to every tag: short tags, endless work.
    handler.attributeDecl = [](void* self, const xmlChar* element, const xmlChar*, int, int,
                               const xmlChar*, xmlEnumerationPtr values) {
      xmlFreeEnumeration(values);
      of(self).refuse_declaration("attributes of ", element);
    };
    context_.reset(xmlCreatePushParserCtxt(&handler, this, nullptr, 0, nullptr));
    if (!context_) {
      throw std::bad_alloc();
    }
    xmlCtxtUseOptions(context_.get(), XML_PARSE_NONET);
    // The parser's names are pointers into its dictionary: equal names are equal pointers.
    for (const std::string_view name : receiver.watched()) {
      watched_.push_back(xmlDictLookup(context_->dict,
                                       reinterpret_cast<const xmlChar*>(name.data()),
                                       static_cast<int>(name.size())));
    }
  }

  ~Parse() {
    context_.reset();
    xmlSetStructuredErrorFunc(nullptr, [](void*, xmlErrorPtr) {});
  }
  Parse(const Parse&) = delete;
  Parse& operator=(const Parse&) = delete;

  /// Throws what a callback kept. Returns false once the document is known to be faulty.
  bool feed(std::string_view bytes) { return parse(bytes, false); }

  /// The same for the document's end, which is on line; inside_tag: a tag has begun and not ended.
  bool finish(bool inside_tag, std::uint64_t line) {
    if (!inside_tag && parse({}, true) && depth_ == 0) {
      return true;
    }
    if (converts_badly_) {
      return false;
    }
    // libxml2 would speak of extra content, or take what there is of a tag for all of it.
    if (!inside_tag && root_.empty()) {
      fault_ = Fault{line, "is cut short: it ends before its root element begins; fetch it again"};
    } else if (depth_ != 0) {
      fault_ = Fault{line, "is cut short: it ends before its root element " + root_ +
                               " is closed; fetch it again"};
    } else if (inside_tag) {
      fault_ = Fault{line, "is cut short: it ends inside a tag; fetch it again"};
    }
    return false;
  }

  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }

 private:
  bool parse(std::string_view bytes, bool last) {
    xmlParseChunk(context_.get(), bytes.data(), static_cast<int>(bytes.size()), last ? 1 : 0);
    if (thrown_) {
      std::rethrow_exception(thrown_);
    }
    if (last && !fault_ && context_->wellFormed == 0) {
      fault_ = Fault{line(), "is not well-formed XML; fetch it again or repair it"};
    }
    return !fault_;
  }

  struct FreeContext {
    void operator()(xmlParserCtxt* context) const {
      xmlFreeDoc(context->myDoc);
      xmlFreeParserCtxt(context);
    }
  };

  static Parse& of(void* self) { return *static_cast<Parse*>(self); }

  [[nodiscard]] std::uint64_t line() const {
    const xmlParserInput* const input = context_ ? context_->input : nullptr;
    return input == nullptr || input->line < 1 ? 1 : static_cast<std::uint64_t>(input->line);
  }

  template <typename Call>
  void guarded(const Call& call) noexcept {
    if (thrown_ || fault_) {
      return;
    }
    try {
      call();
    } catch (...) {
      thrown_ = std::current_exception();
    }
    if (thrown_ || fault_) {
      xmlStopParser(context_.get());
    }
  }
  void guard(void (Parse::*member)()) noexcept {
    guarded([this, member] { (this->*member)(); });
  }

  static void start_element(void* self, const xmlChar* name, const xmlChar* /*prefix*/,
                            const xmlChar* /*uri*/, int /*namespaces*/,
                            const xmlChar** /*namespace_parts*/, int attributes, int /*defaulted*/,
                            const xmlChar** attribute_parts) {
    Parse& parse = of(self);
    if (parse.depth_++ == 0) {
      parse.guarded([&] { parse.root_ = shown(view(name)); });
    }
    if (parse.depth_ > deepest_nesting || xmlDictSize(parse.context_->dict) > most_names ||
        parse.context_->nsNr > 2 * most_namespaces) {
      parse.guard(&Parse::refuse_bounds);
    }
    if (parse.hidden_ != 0 || parse.in_text_) {
      ++parse.hidden_;
      if (std::find(parse.watched_.begin(), parse.watched_.end(), name) != parse.watched_.end()) {
        parse.guarded([&] { parse.receiver_.hidden_element(view(name), parse.line()); });
      }
      return;
    }
    parse.guarded([&] {
      const std::span<const xmlChar* const> parts(attribute_parts,
                                                  5 * static_cast<std::size_t>(attributes));
      switch (parse.receiver_.start_element(view(name), XmlAttributes(parts), parse.line())) {
        case Interest::none:
          parse.hidden_ = 1;
          break;
        case Interest::elements:
          break;
        case Interest::text:
          parse.listen(true);
          break;
      }
    });
  }

  static void end_element(void* self, const xmlChar* name, const xmlChar* /*prefix*/,
                          const xmlChar* /*uri*/) {
    Parse& parse = of(self);
    --parse.depth_;
    if (parse.hidden_ != 0) {
      --parse.hidden_;
      return;
    }
    parse.guarded([&] {
      parse.receiver_.end_element(view(name));
      if (parse.in_text_) {
        parse.listen(false);
      }
    });
  }

  // Most of a document's text is of no interest: without a handler libxml2 makes no call for it.
  // One function for both kinds: libxml2 then does not look whether a text is blank.
  void listen(bool on) {
    in_text_ = on;
    context_->sax->characters = on ? &Parse::text : nullptr;
    context_->sax->ignorableWhitespace = context_->sax->characters;
    context_->sax->cdataBlock = context_->sax->characters;
  }

  static void text(void* self, const xmlChar* bytes, int size) {
    Parse& parse = of(self);
    parse.guarded([&] {
      parse.receiver_.text({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    });
  }

  static void error(void* self, xmlErrorPtr error) {
    Parse& parse = of(self);
    if (error->code == XML_ERR_NO_MEMORY) {
      parse.thrown_ = std::make_exception_ptr(std::bad_alloc());  // no fault of the document
      return;
    }
    // With a document type that is not read, libxml2 only warns of an entity it does not know, and
    // drops it from the text.
    const bool unknown_entity = error->code == XML_WAR_UNDECLARED_ENTITY;
    if (parse.thrown_ || parse.fault_ || (error->level != XML_ERR_FATAL && !unknown_entity)) {
      return;
    }
    try {
      const std::uint64_t at = error->line > 0 ? static_cast<std::uint64_t>(error->line) : 0;
      if (error->code == XML_ERR_DOCUMENT_EMPTY) {
        parse.fault_ =
            Fault{at, "is no XML, which begins with <; check that the right file is named"};
        return;
      }
      std::string what = error->message == nullptr ? "unknown fault" : error->message;
      while (!what.empty() && std::isspace(static_cast<unsigned char>(what.back())) != 0) {
        what.pop_back();
      }
      what = shown(what, longest_shown_fault);
      parse.fault_ =
          Fault{at, "is not well-formed XML (" + what + "); fetch it again or repair it"};
    } catch (...) {
      parse.thrown_ = std::current_exception();
    }
  }

  /// Where the conversion of its bytes fails, libxml2 stops as if the document had ended there, or
  /// goes on without them.
  void library_error(xmlErrorPtr error) noexcept {
    if (error->code != XML_I18N_CONV_FAILED || thrown_ || fault_) {
      return;
    }
    try {
      converts_badly_ = true;
      fault_ = Fault{line(),
                     "holds bytes, here or a little further on, that its encoding does not have; "
                     "fetch it again or convert it to UTF-8"};
    } catch (...) {
      thrown_ = std::current_exception();
    }
  }

  void refuse_declaration(const char* what, const xmlChar* name) noexcept {
    guarded([&] {
      fault_ = Fault{line(), std::string("declares ") + what + shown(view(name)) +
                                 "; such declarations are refused, remove them from the document "
                                 "type"};
    });
  }

  /// libxml2 bounds the depth of trees that it builds, not what it reads; it keeps every name that
  /// it meets, and the tables of them and of open namespaces get slow.
  void refuse_bounds() {
    std::string what = "nests elements more than " + std::to_string(deepest_nesting) + " deep";
    if (context_->nsNr > 2 * most_namespaces) {
      what = "declares more than " + std::to_string(most_namespaces) + " namespaces at once";
    } else if (depth_ <= deepest_nesting) {
      what = "has more than " + std::to_string(most_names) + " different names";
    }
    fault_ = Fault{line(), what + no_such_file};
  }

  /// The scanner reads bytes, so the encoding has to leave ASCII bytes to ASCII characters.
  void check_encoding() {
    const xmlChar* const declared =
        context_->encoding != nullptr ? context_->encoding : context_->input->encoding;
    std::string name(view(declared));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::array<std::string_view, 8> begins = {
        "utf-8", "utf8", "us-ascii", "ascii", "iso-8859-", "iso8859-", "windows-125", "latin"};
    if (!name.empty() && std::none_of(begins.begin(), begins.end(), [&](std::string_view begin) {
          return std::string_view(name).substr(0, begin.size()) == begin;
        })) {
      fault_ = Fault{line(), "is encoded in " + shown(name) + "; convert it to UTF-8"};
    }
  }

  XmlReceiver& receiver_;
  std::unique_ptr<xmlParserCtxt, FreeContext> context_;
  std::vector<const xmlChar*> watched_;
  std::uint64_t depth_ = 0;   // open elements
  std::uint64_t hidden_ = 0;  // those that the receiver was not told of
  bool in_text_ = false;      // the innermost that it was told of is one whose text it wants
  std::string root_;
  bool converts_badly_ = false;
  std::exception_ptr thrown_;
  std::optional<Fault> fault_;
};

std::string problem_of(MarkupFault fault) {
  switch (fault) {
    case MarkupFault::section_too_long:
      return "has a comment or CDATA section longer than " + std::to_string(longest_section_bytes) +
             " bytes" + no_such_file;
    case MarkupFault::text_too_long:
      return "has a text longer than " + std::to_string(longest_section_bytes) + " bytes" +
             no_such_file;
    case MarkupFault::tag_too_long:
      return "has a tag longer than " + std::to_string(longest_markup_bytes) + " bytes" +
             no_such_file;
    case MarkupFault::too_many_attributes:
      return "has a tag with more than " + std::to_string(most_attributes) + " attributes" +
             no_such_file;
    case MarkupFault::nul_byte:
      break;
  }
  return "holds a NUL byte, so it is not text in UTF-8; fetch it again or convert it";
}

}  // namespace

std::optional<std::string_view> XmlAttributes::find(std::string_view name) const {
  for (std::size_t at = 0; at + 5 <= parts_.size(); at += 5) {
    if (parts_[at + 1] == nullptr && view(parts_[at]) == name) {
      const auto* const begin = reinterpret_cast<const char*>(parts_[at + 3]);
      const auto* const end = reinterpret_cast<const char*>(parts_[at + 4]);
      return std::string_view(begin, static_cast<std::size_t>(end - begin));
    }
  }
  return std::nullopt;
}

std::uint64_t parse_xml(ByteSource& source, XmlReceiver& receiver) {
  Parse parse(receiver);
  MarkupScanner scanner;
  // Not filled with zeros first: a small document never touches most of it.
  const auto buffer = std::make_unique_for_overwrite<char[]>(read_bytes + longest_markup_bytes);
  std::size_t held = 0;   // bytes at the buffer's front that the parser has not seen
  std::uint64_t fed = 0;  // bytes that it has
  const auto refuse_fault = [&] {
    throw InputError(source.path(), parse.fault()->line, parse.fault()->problem);
  };
  while (true) {
    const std::size_t got =
        source.read(std::as_writable_bytes(std::span(buffer.get() + held, read_bytes)));
    const std::string_view ready(buffer.get(), held + got);
    if (got == 0) {
      if (fed + ready.size() == 0) {
        throw InputError(source.path(), 0, "is empty; fetch it again");
      }
      if (!parse.finish(!ready.empty(), scanner.line())) {
        refuse_fault();
      }
      return fed;
    }
    const auto violation = scanner.scan(ready.substr(held));
    // What stands before a violation is parsed first, so that the earlier fault is the one told.
    const auto settled = static_cast<std::size_t>(scanner.settled() - fed);
    if (!parse.feed(ready.substr(0, settled))) {
      refuse_fault();
    }
    if (violation) {
      throw InputError(source.path(), violation->line, problem_of(violation->fault));
    }
    fed += settled;
    held = ready.size() - settled;
    std::memmove(buffer.get(), buffer.get() + settled, held);
  }
}

}  // namespace somatlas::ingest
