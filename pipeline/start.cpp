#include "pipeline/start.h"

#include <memory>

#include "pipeline/article_hash.h"

namespace somatlas::pipeline {
namespace {

SampleRows rows_of(const Sample& sample, const DescriptorIndex& index) {
  SampleRows rows{sample.pmid, sample.offsets, {}};
  rows.descriptors.reserve(sample.codes.size());
  for (const store::DescriptorCode code : sample.codes) {
    rows.descriptors.push_back(index.id(code));
  }
  return rows;
}

}  // namespace

StartRule make_start(const Sample& sample, const DescriptorIndex& index,
                     const TrainingSettings& settings) {
  if (settings.start == Start::random) {
    const std::uint64_t neurons = std::uint64_t{settings.side} * settings.side;
    return [seed = settings.seed, neurons](const PassRow& row) {
      return random_neuron(row.pmid, seed, neurons);
    };
  }
  const auto pca =
      std::make_shared<const PcaStart>(rows_of(sample, index), index.size(), settings.side);
  return [pca](const PassRow& row) { return pca->neuron(row.known, row.pmid); };
}

}  // namespace somatlas::pipeline
