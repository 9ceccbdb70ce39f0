#include "tools/import/text_file.h"

#include <algorithm>
#include <utility>

#include "ingest/input_error.h"
#include "tools/lookup/clean_text.h"

namespace somatlas::imports {

TextFile::TextFile(const std::string& path, std::size_t longest, std::string advice)
    : source_(ingest::open_byte_source(path, ingest::Md5::left_out)),
      lines_(*source_, longest, std::move(advice)) {}

void TextFile::refuse(const std::string& problem) const {
  throw ingest::InputError(source_->path(), lines_.number(), problem);
}

std::string_view next_word(std::string_view& line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

std::string quoted(std::string_view word) {
  constexpr std::size_t most = 60;
  const std::string_view shown = lookup::cut_to(word, most);
  return "\"" + (lookup::is_clean_utf8(shown) ? std::string(shown) : "(no text)") +
         (word.size() > shown.size() ? "...\"" : "\"");
}

}  // namespace somatlas::imports
