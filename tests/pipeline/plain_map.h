// Random MEDLINE files that revise, delete and bring back, and what a plain map knows after them:
// the expected state of a store, told without the code under test.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace somatlas::store {
class Store;
}

namespace somatlas::plain {

struct Record {
  std::uint32_t pmid = 0;
  std::uint16_t version = 1;
  bool deletion = false;
  std::uint16_t year = 0;
  std::map<std::uint32_t, bool> descriptors;  // code -> major topic
  bool operator==(const Record&) const = default;
};

/// `pubmed26nNNNN.xml`.
struct File {
  std::uint32_t number = 0;
  std::vector<Record> records;  // deletions anywhere among them
};

/// At most `records` records of 4 * `spread` PMIDs at the edges of a few ranges: the fewer, the
/// more often files meet in one.
struct Shape {
  std::uint32_t records = 15;
  std::uint32_t spread = 9;
};

[[nodiscard]] File random_file(std::mt19937_64& random, std::uint32_t number, Shape shape = {});
[[nodiscard]] std::string file_name(const File& file);
[[nodiscard]] std::string xml_of(const Record& record);
/// A whole document.
[[nodiscard]] std::string xml_of(const File& file);
void write_file(const std::string& path, const File& file);

/// What is known of a PMID.
struct State {
  Record record;
  std::uint32_t file = 0;       // that decided
  std::uint32_t citations = 0;  // records read of it, deletions left out
  bool operator==(const State& other) const;
};
using Model = std::map<std::uint32_t, State>;

/// Takes a file, in whatever order; a file taken before lies under its new text.
void add_to_model(Model& model, const File& file);
[[nodiscard]] Model model_of(const std::vector<File>& files);
/// What a store holds.
[[nodiscard]] Model model_in(store::Store& store);
/// For the message of a test.
[[nodiscard]] std::string text_of(const Model& model);
/// What `somatlas dump --all` prints of it.
[[nodiscard]] std::string dump_of(const Model& model);

}  // namespace somatlas::plain
