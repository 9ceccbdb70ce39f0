// somatlas dump: the store as text, a line an article, ordered by PMID; or its descriptor table.
// Always holds: the same articles give the same bytes, whatever the files they came in and their
// order.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "store/store.h"
#include "tools/command.h"
#include "tools/figures.h"

namespace somatlas::tools {

namespace {

struct Options {
  std::string store;
  bool all = false;
  bool descriptors = false;
  bool as_filed = false;
};

class Dumper {
 public:
  Dumper(Output& out, bool all) : out_(out), all_(all) {}

  void shard(const store::Shard& shard) {
    for (std::size_t r = 0; r < shard.rows(); ++r) {
      const bool article = shard.state[r] == store::ArticleState::article;
      if (!article && !all_) {
        continue;
      }
      out_ << shard.pmid(r) << '\t' << shard.version[r] << '\t';
      if (shard.year[r] != 0) {
        out_ << shard.year[r] << '\t';
      } else {
        out_ << "-\t";
      }
      if (shard.state[r] == store::ArticleState::deleted) {
        out_ << "deleted";
      } else {
        descriptors(shard, r);
      }
      out_ << '\n';
    }
  }

 private:
  void descriptors(const store::Shard& shard, std::size_t r) {
    row_.clear();
    for (std::uint32_t d = shard.offsets[r]; d < shard.offsets[r + 1]; ++d) {
      row_.emplace_back(shard.descriptors[d], shard.major[d] != 0);
    }
    std::ranges::sort(row_, store::ui_less, &std::pair<store::DescriptorCode, bool>::first);
    const char* separator = "";
    for (const auto& [code, major] : row_) {
      out_ << separator;
      put_ui(out_, code);
      if (major) {
        out_ << '*';
      }
      separator = " ";
    }
  }

  Output& out_;
  bool all_;
  std::vector<std::pair<store::DescriptorCode, bool>> row_;
};

void dump_descriptors(const std::vector<store::DescriptorEntry>& table, Output& out) {
  for (const store::DescriptorEntry& entry : table) {
    put_ui(out, entry.code);
    out << '\t' << entry.name << '\t';
    const char* separator = "";
    for (const std::string& number : entry.tree_numbers) {
      out << separator << number;
      separator = ";";
    }
    out << '\n';
  }
}

int dump(Session& session, const Options& options) {
  const auto store = store::Store::open(options.store, store::Store::Access::read);
  if (options.descriptors) {
    dump_descriptors(options.as_filed ? store->descriptors_as_filed() : store->descriptors(),
                     session.out());
    return exit_done;
  }
  Dumper dumper(session.out(), options.all);
  for (const std::uint32_t range : store->ranges()) {
    if (const auto shard = options.as_filed ? store->shard_as_filed(range) : store->shard(range)) {
      dumper.shard(*shard);
    }
  }
  return exit_done;
}

}  // namespace

Run define_dump(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_store_option(command, options->store)->required();
  auto* all = command.add_flag("--all", options->all,
                               "Print citations without descriptors and deletions too");
  command
      .add_flag("--descriptors", options->descriptors,
                "Print the descriptor table instead: UI, name, tree numbers with `;` between")
      ->excludes(all);
  command.add_flag("--as-filed", options->as_filed,
                   "Print the descriptors that the files gave, whatever lists of changed "
                   "descriptors make of them");
  command.footer(
      "Prints a line an article, ordered by PMID, tab-separated: PMID, version, year of "
      "publication\n"
      "(`-`: none), the UIs of its descriptors with blanks between, a `*` behind each that is a "
      "major\n"
      "topic of the article. With --all, `deleted` stands in the last column of a deletion.");
  return [options](Session& session) { return dump(session, *options); };
}

}  // namespace somatlas::tools
