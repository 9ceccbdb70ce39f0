// The stream of one file: source, parser, sink. A stop reaches the parser as an exception from the
// source, which is caught here.
#include "pipeline/file_reading.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "ingest/byte_source.h"
#include "ingest/citation.h"
#include "ingest/input_error.h"
#include "ingest/medline_parser.h"
#include "pipeline/stopwatch.h"

namespace somatlas::pipeline {

namespace {

class StopAsked : public std::exception {};

// Passes a source on, counts its bytes and seconds and ends the stream when a stop is asked for.
class WatchedSource final : public ingest::ByteSource {
 public:
  WatchedSource(ingest::ByteSource& source, const ReadingContext& context, FileReading& reading)
      : source_(source), context_(context), reading_(reading) {}
  std::size_t read(std::span<std::byte> out) override {
    if (context_.stop.stop_requested()) {
      throw StopAsked();
    }
    const Stopwatch watch;
    const std::size_t bytes = source_.read(out);
    reading_.seconds.inflate += watch.seconds();
    const std::uint64_t before = std::exchange(reading_.file_bytes_read, source_.file_bytes());
    if (context_.bytes_read) {
      context_.bytes_read(bytes, reading_.file_bytes_read - before);
    }
    return bytes;
  }
  const std::string& path() const override { return source_.path(); }
  std::uint64_t file_bytes() const override { return source_.file_bytes(); }
  ingest::Md5Hex md5() const override { return source_.md5(); }

 private:
  ingest::ByteSource& source_;
  const ReadingContext& context_;
  FileReading& reading_;
};

std::string reason_text(ingest::LeftOut reason) {
  switch (reason) {
    case ingest::LeftOut::no_pmid:
      return "the record has no PMID";
    case ingest::LeftOut::bad_pmid:
      return "the record's PMID is no number from 1 to 4294967295:";
    case ingest::LeftOut::bad_version:
      return "the version of the record's PMID is no number from 1 to 65535:";
    case ingest::LeftOut::too_many_descriptors:
      return "the record has more than 1,023 descriptors";
  }
  return "the record cannot be kept";
}

class ReadingSink final : public ingest::CitationSink {
 public:
  ReadingSink(const std::string& path, FileReading& reading)
      : path_(ingest::printable(path)), reading_(reading) {}

  void citation(const ingest::CitationView& citation) override {
    require_room(citation.headings.size());
    reading_.entry.with_descriptors += citation.headings.empty() ? 0 : 1;
    reading_.builder.add_citation(citation);
  }
  void deletion(std::uint32_t pmid, std::uint16_t version) override {
    require_room(0);
    reading_.builder.add_deletion(pmid, version);
  }
  void book(std::uint64_t) override {}
  void left_out(ingest::LeftOut reason, std::uint64_t line, std::string_view text) override {
    // The ledger counts an unusable number and an unusable version of it as one reason.
    const auto counted =
        reason == ingest::LeftOut::bad_version ? ingest::LeftOut::bad_pmid : reason;
    ++reading_.entry.left_out[static_cast<std::size_t>(counted)];
    if (reading_.left_out_reports.size() < most_reports) {
      reading_.left_out_reports.push_back(at(line) + reason_text(reason) + " \"" + shown(text) +
                                          "\"; it is left out");
    }
  }
  void unknown_heading(std::uint64_t line, std::uint32_t, std::string_view name) override {
    ++reading_.entry.unknown_headings;
    UnknownHeadings& headings = reading_.unknown_headings;
    const std::string key = shown(name);
    const auto known = headings.find(key);
    if (known != headings.end()) {
      ++known->second.times;
    } else if (headings.size() < most_unknown_names) {
      headings.emplace(key, UnknownHeading{1, path_ + ":" + std::to_string(line)});
    }
  }

 private:
  void require_room(std::size_t descriptors) const {
    if (!reading_.builder.has_room(descriptors)) {
      throw ingest::InputError(path_, 0,
                               "holds more than " + std::to_string(most_records) +
                                   " records and deletions, or " +
                                   std::to_string(most_descriptors) +
                                   " descriptors, which is more than is taken of one file at once; "
                                   "split it into several");
    }
  }
  [[nodiscard]] std::string at(std::uint64_t line) const {
    return path_ + ":" + std::to_string(line) + ": ";
  }
  // What a file says reaches a terminal: long or unprintable text is not passed on as it is.
  static std::string shown(std::string_view text) {
    constexpr std::size_t longest = 80;
    std::size_t length = std::min(text.size(), longest);
    while (length < text.size() && length > 0 && (text[length] & 0xC0) == 0x80) {
      --length;  // not in the middle of a character
    }
    const std::string out = ingest::printable(std::string(text.substr(0, length)));
    return length < text.size() ? out + "..." : out;
  }

  std::string path_;  // as it can be shown
  FileReading& reading_;
};

ingest::InputError wrong_md5(const InputFile& file, const std::string& found,
                             const std::string& expected) {
  return {file.path, 0,
          "its MD5 sum is " + found + ", but " + file.path + ".md5 says " + expected +
              "; fetch both again, or pass --no-md5 if the companion is wrong"};
}

// Whether the ledger has this very text of the file.
bool known(const InputFile& file, const ReadingContext& context, const std::string& companion) {
  const auto entry = context.ledger.find(file.key);
  return entry != context.ledger.end() && entry->second.file_bytes == file.bytes &&
         entry->second.md5 == (companion.empty() ? ingest::md5_of_file(file.path) : companion);
}

void parse(const InputFile& file, const ReadingContext& context, const std::string& companion,
           FileReading& reading) {
  const std::unique_ptr<ingest::ByteSource> source = ingest::open_byte_source(file.path);
  WatchedSource watched(*source, context, reading);
  ReadingSink sink(file.path, reading);
  const Stopwatch watch;
  const ingest::ParseSummary summary = ingest::parse_medline(watched, context.names, sink);
  reading.seconds.parse = watch.seconds() - reading.seconds.inflate;
  store::LedgerEntry& entry = reading.entry;
  entry.key = file.key;
  entry.file_bytes = source->file_bytes();
  entry.md5 = source->md5();
  entry.xml_bytes = summary.xml_bytes;
  entry.citations = summary.citations;
  entry.deletions = summary.deletions;
  entry.books = summary.books;
  entry.taken_at = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  if (!companion.empty() && entry.md5 != companion) {
    throw wrong_md5(file, entry.md5, companion);
  }
  if (const auto earlier = context.ledger.find(file.key); earlier != context.ledger.end()) {
    const store::LedgerEntry& old = earlier->second;
    entry.earlier_citations = old.earlier_citations + old.citations;
    entry.earlier_left_out = old.earlier_left_out;
    for (const std::uint64_t count : old.left_out) {
      entry.earlier_left_out += count;
    }
  }
  const Stopwatch encoding;
  reading.deltas = reading.builder.build(file.key);
  reading.encoded.reserve(reading.deltas.size());
  for (const store::Shard& delta : reading.deltas) {
    reading.encoded.push_back(store::encode_delta(delta));
  }
  reading.seconds.encode = encoding.seconds();
}

// A dry run does not read what is new, but a file that the store has and whose companion says that
// it has changed may as well be damaged.
void check_changed(const InputFile& file, const FileReading& reading,
                   const std::string& companion) {
  if (!reading.known_before || companion.empty()) {
    return;
  }
  const std::string found = ingest::md5_of_file(file.path);
  if (found != companion) {
    throw wrong_md5(file, found, companion);
  }
}

void forget(FileReading& reading) {
  reading.refusal.clear();
  reading.entry = {};
  reading.deltas.clear();
  reading.encoded.clear();
  reading.seconds = {};
  reading.left_out_reports.clear();
  reading.unknown_headings.clear();
  reading.builder.clear();
}

// Why a file is refused: a damaged download breaks the XML too, but its cause is the download.
std::string refusal_of(const InputFile& file, const std::string& companion,
                       const ingest::InputError& error) {
  try {
    if (!companion.empty()) {
      const std::string found = ingest::md5_of_file(file.path);
      if (found != companion) {
        return wrong_md5(file, found, companion).what();
      }
    }
  } catch (const ingest::InputError&) {
    // It cannot even be read: the first error says it.
  }
  return error.what();
}

}  // namespace

void read_file(const InputFile& file, const ReadingContext& context, FileReading& reading) {
  forget(reading);
  reading.outcome = Outcome::left;
  reading.known_before = context.ledger.contains(file.key);
  reading.file_bytes_read = 0;
  if (context.stop.stop_requested()) {
    return;
  }
  std::string companion;
  try {
    companion = context.check_md5 ? ingest::companion_md5(file.path) : std::string();
    if (known(file, context, companion)) {
      reading.outcome = Outcome::skipped;
      return;
    }
    if (context.dry_run) {
      check_changed(file, reading, companion);
    } else {
      parse(file, context, companion, reading);
    }
    reading.outcome = Outcome::taken;
  } catch (const StopAsked&) {
    forget(reading);
  } catch (const ingest::InputError& error) {
    forget(reading);
    reading.outcome = Outcome::refused;
    reading.refusal = refusal_of(file, companion, error);
  }
}

}  // namespace somatlas::pipeline
