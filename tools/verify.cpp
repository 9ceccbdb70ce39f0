// somatlas verify: every checksum and every invariant of a store or an atlas; a line a fault on
// standard output, and exit code 1 where there is any.
#include <memory>
#include <string>

#include "pipeline/ingest_files.h"
#include "store/atlas.h"
#include "store/store.h"
#include "tools/command.h"
#include "tools/figures.h"

namespace somatlas::tools {

namespace {

struct Options {
  std::string store;
  std::string atlas;
};

class Faults {
 public:
  explicit Faults(Output& out) : out_(out) {}
  void add(const store::Fault& fault) {
    ++count_;
    out_ << fault.where << '\t' << fault.what << '\n';
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  Output& out_;
  std::uint64_t count_ = 0;
};

// That no record is unaccounted for; asked only of a store whose parts are sound.
void check_census(store::Store& store, Faults& faults) {
  const pipeline::StoreCensus census = pipeline::take_census(store);
  const std::uint64_t found =
      census.articles + census.bare + census.superseded + census.deleted + census.left_out;
  if (found != census.records) {
    faults.add({store.directory() + ": ledger",
                "the ledger counts " + std::to_string(census.records) +
                    " records, but the shards account for " + std::to_string(found) +
                    "; ingest the files into a new store"});
  }
}

int verify(Session& session, const Options& options) {
  Faults faults(session.out());
  const auto add = [&faults](const store::Fault& fault) { faults.add(fault); };
  if (!options.store.empty()) {
    const auto store = store::Store::open(options.store, store::Store::Access::read);
    store->verify(add);
    if (faults.count() == 0) {
      check_census(*store, faults);
    }
  } else {
    store::Atlas::open(options.atlas, store::Atlas::Access::read)->verify(add);
  }
  const std::string& what = options.store.empty() ? options.atlas : options.store;
  session.say(what + ": " + (faults.count() == 0 ? "sound" : count_of(faults.count(), "fault")) +
              ".");
  return faults.count() == 0 ? exit_done : exit_failed;
}

}  // namespace

Run define_verify(CLI::App& command) {
  auto options = std::make_shared<Options>();
  add_one_of_store_and_atlas(command, options->store, options->atlas);
  return [options](Session& session) { return verify(session, *options); };
}

}  // namespace somatlas::tools
