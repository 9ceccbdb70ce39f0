// Checks what was asked, builds the world of the seed and hands it to the form that was chosen.
#include "pipeline/synth.h"

#include <stdexcept>

#include "pipeline/synth_output.h"

namespace somatlas::pipeline {

std::string synth_file_name(std::uint64_t file) {
  const std::string number = std::to_string(file);
  return "synthetic26n" + std::string(number.size() < 4 ? 4 - number.size() : 0, '0') + number +
         ".xml.gz";
}

SynthSummary synthesize(const SynthOptions& options) {
  if (options.store_directory.empty() == options.xml_directory.empty()) {
    throw std::invalid_argument("a synthetic corpus goes either into a store or into XML files");
  }
  if (options.articles == 0 || options.articles > synth_most_articles ||
      options.articles_per_file == 0) {
    throw std::invalid_argument("a synthetic corpus has 1 to " +
                                std::to_string(synth_most_articles) +
                                " articles, one or more a file");
  }
  const SynthModel model(options.seed);
  return options.store_directory.empty() ? synthesize_xml(options, model)
                                         : synthesize_store(options, model);
}

}  // namespace somatlas::pipeline
