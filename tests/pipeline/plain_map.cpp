#include "tests/pipeline/plain_map.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <tuple>
#include <utility>

#include "store/descriptor_code.h"
#include "store/store.h"

namespace somatlas::plain {
namespace {

using Random = std::mt19937_64;

std::uint32_t below(Random& random, std::uint32_t bound) {
  return static_cast<std::uint32_t>(random() % bound);
}

// A few PMIDs at the edges of a few ranges, so that files meet in them often.
std::uint32_t random_pmid(Random& random, std::uint32_t spread) {
  constexpr std::array<std::uint32_t, 4> bases{1, 65'530, 131'070, 38'000'000};
  return bases[below(random, bases.size())] + below(random, spread);
}

}  // namespace

File random_file(Random& random, std::uint32_t number, Shape shape) {
  File file{number, {}};
  const std::uint32_t count = below(random, shape.records + 1);
  for (std::uint32_t r = 0; r < count; ++r) {
    Record record;
    record.pmid = random_pmid(random, shape.spread);
    record.version = static_cast<std::uint16_t>(1 + below(random, 3));
    record.deletion = below(random, 4) == 0;
    if (!record.deletion) {
      record.year = static_cast<std::uint16_t>(below(random, 2) * (1950 + below(random, 70)));
      const std::uint32_t descriptors = below(random, 6);
      for (std::uint32_t d = 0; d < descriptors; ++d) {
        const unsigned digits = below(random, 2) == 0 ? 6 : 9;
        record.descriptors[store::descriptor_code(60'000 + below(random, 9), digits)] =
            below(random, 3) == 0;
      }
    }
    file.records.push_back(record);
  }
  return file;
}

std::string file_name(const File& file) {
  return "pubmed26n" + std::string(4 - std::to_string(file.number).size(), '0') +
         std::to_string(file.number) + ".xml";
}

std::string xml_of(const Record& record) {
  const std::string pmid = "<PMID Version=\"" + std::to_string(record.version) + "\">" +
                           std::to_string(record.pmid) + "</PMID>";
  if (record.deletion) {
    return "<DeleteCitation>" + pmid + "</DeleteCitation>\n";
  }
  std::string text = "<PubmedArticle><MedlineCitation>" + pmid;
  if (record.year != 0) {
    text += "<Article><Journal><JournalIssue><PubDate><Year>" + std::to_string(record.year) +
            "</Year></PubDate></JournalIssue></Journal></Article>";
  }
  text += "<MeshHeadingList>";
  for (const auto& [code, major] : record.descriptors) {
    text += "<MeshHeading><DescriptorName UI=\"" + store::descriptor_ui(code) +
            "\" MajorTopicYN=\"" + (major ? "Y" : "N") + "\">x</DescriptorName></MeshHeading>";
  }
  return text + "</MeshHeadingList></MedlineCitation></PubmedArticle>\n";
}

std::string xml_of(const File& file) {
  std::string text = "<PubmedArticleSet>\n";
  for (const Record& record : file.records) {
    text += xml_of(record);
  }
  return text + "</PubmedArticleSet>\n";
}

void write_file(const std::string& path, const File& file) {
  std::ofstream(path, std::ios::binary) << xml_of(file);
}

bool State::operator==(const State& other) const {
  return std::tuple(record.pmid, record.version, record.deletion, record.descriptors, file,
                    citations) == std::tuple(other.record.pmid, other.record.version,
                                             other.record.deletion, other.record.descriptors,
                                             other.file, other.citations) &&
         (record.descriptors.empty() || record.year == other.record.year);
}

// A file's own last word on each PMID, by walking it twice: citations, then deletions.
void add_to_model(Model& model, const File& file) {
  Model own;
  for (const bool deletions : {false, true}) {
    for (const Record& record : file.records) {
      if (record.deletion != deletions) {
        continue;
      }
      State& state = own[record.pmid];
      state.file = file.number;
      state.citations += deletions ? 0 : 1;
      if (state.record.pmid == 0 || record.version >= state.record.version) {
        state.record = record;
      }
    }
  }
  for (const auto& [pmid, said] : own) {
    const auto known = model.find(pmid);
    if (known == model.end()) {
      model[pmid] = said;
      continue;
    }
    State& state = known->second;
    const std::uint32_t citations = state.citations + said.citations;
    if (std::pair(said.record.version, said.file) >= std::pair(state.record.version, state.file)) {
      state = said;
    }
    state.citations = citations;
  }
}

Model model_of(const std::vector<File>& files) {
  Model model;
  for (const File& file : files) {
    add_to_model(model, file);
  }
  return model;
}

std::string text_of(const Model& model) {
  std::string text;
  for (const auto& [pmid, state] : model) {
    text += xml_of(state.record) + " file " + std::to_string(state.file) + ", citations " +
            std::to_string(state.citations) + "\n";
  }
  return text;
}

Model model_in(store::Store& store) {
  Model model;
  for (const std::uint32_t range : store.ranges()) {
    const auto shard = store.shard(range);
    for (std::size_t r = 0; shard && r < shard->rows(); ++r) {
      State& state = model[shard->pmid(r)];
      state.record.pmid = shard->pmid(r);
      state.record.version = shard->version[r];
      state.record.year = shard->year[r];
      state.record.deletion = shard->state[r] == store::ArticleState::deleted;
      for (std::uint32_t d = shard->offsets[r]; d < shard->offsets[r + 1]; ++d) {
        state.record.descriptors[shard->descriptors[d]] = shard->major[d] != 0;
      }
      if ((shard->state[r] == store::ArticleState::article) == state.record.descriptors.empty()) {
        state.record.pmid = 0;  // nothing is equal to that
      }
      state.file = static_cast<std::uint32_t>(shard->keys[shard->key[r]].number);
      state.citations = shard->records[r];
    }
  }
  return model;
}

std::string dump_of(const Model& model) {
  std::string text;
  for (const auto& [pmid, state] : model) {
    const Record& record = state.record;
    const bool dated = record.year != 0 && !record.descriptors.empty();
    text += std::to_string(pmid) + "\t" + std::to_string(record.version) + "\t" +
            (dated ? std::to_string(record.year) : "-") + "\t" + (record.deletion ? "deleted" : "");
    std::vector<std::string> uis;
    for (const auto& [code, major] : record.descriptors) {
      uis.push_back(store::descriptor_ui(code) + (major ? "*" : ""));
    }
    std::ranges::sort(uis);
    for (std::size_t i = 0; i < uis.size(); ++i) {
      text += (i == 0 ? "" : " ") + uis[i];
    }
    text += "\n";
  }
  return text;
}

}  // namespace somatlas::plain
