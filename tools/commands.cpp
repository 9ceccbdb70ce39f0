// The table of subcommands: a new one is a file of its own and a line here.
#include <vector>

#include "tools/command.h"

namespace somatlas::tools {

std::span<const Registration> registrations() {
  static const std::vector<Registration> all{
      {"ingest", "Take MEDLINE files into a store", define_ingest},
      {"info", "Say what a store or an atlas holds", define_info},
      {"dump", "Print the articles of a store, a line each", define_dump},
      {"train", "Train a map on a store and leave an atlas", define_train},
      {"map", "Find articles on an atlas", define_map},
      {"diff", "Compare two atlases: regions that grew, split or merged, topics that moved",
       define_diff},
      {"export", "Write an atlas or the rows of a store for other programs", define_export},
      {"serve", "Show an atlas in a browser", define_serve},
      {"import", "Take another program's rows into a store, or its map as an atlas", define_import},
      {"synth", "Make a synthetic corpus of MEDLINE's shape", define_synth},
      {"bench", "Measure somatlas on this machine", define_bench},
      {"verify", "Check every checksum and invariant of a store or an atlas", define_verify},
  };
  return all;
}

}  // namespace somatlas::tools
