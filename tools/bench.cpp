// somatlas bench: what this machine makes of somatlas's work, each kind measured in one run beside
// what it is to be compared with. A new kind is a file in bench/ and a line here.
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "tools/bench/bench.h"
#include "tools/command.h"

namespace somatlas::tools {

Run define_bench(CLI::App& command) {
  constexpr std::array<Registration, 5> kinds{{
      {"ingest", "Reading MEDLINE files, against inflating and parsing them alone",
       bench::define_ingest_bench},
      {"search", "Finding best-matching units on an atlas, by several methods",
       bench::define_search_bench},
      {"update", "Making a codebook, by radius", bench::define_update_bench},
      {"epoch", "The first epochs of a training, or some from an atlas on",
       bench::define_epoch_bench},
      {"train", "A whole training, epoch by epoch", bench::define_train_bench},
  }};
  auto runs = std::make_shared<std::vector<std::pair<CLI::App*, Run>>>();
  for (const Registration& kind : kinds) {
    CLI::App* app = command.add_subcommand(kind.name, kind.summary);
    runs->emplace_back(app, kind.define(*app));
  }
  command.require_subcommand(1);
  return [runs](Session& session) {
    for (const auto& [app, run] : *runs) {
      if (app->parsed()) {
        return run(session);
      }
    }
    return exit_wrong_arguments;
  };
}

}  // namespace somatlas::tools
