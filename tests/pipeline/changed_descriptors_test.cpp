// Training through lists of changed descriptors: as if the articles had been filed with what their
// descriptors have become; and an atlas of before sees which articles that touches.
#include <algorithm>

#include "store/store.h"
#include "tests/pipeline/random_corpus.h"
#include "tests/pipeline/training_fixture.h"

namespace somatlas::pipeline {
namespace {

using testing_corpus::commit;
using testing_corpus::Corpus;
using testing_corpus::random_corpus;

class ChangedDescriptors : public TrainingTest {
 protected:
  void SetUp() override {
    TrainingTest::SetUp();
    corpus_ = random_corpus(random_, 150);
    std::map<store::DescriptorCode, std::size_t> articles;
    for (const auto& [pmid, codes] : corpus_) {
      for (const store::DescriptorCode code : codes) {
        ++articles[code];
      }
    }
    std::vector<std::pair<std::size_t, store::DescriptorCode>> frequent;
    for (const auto& [code, count] : articles) {
      frequent.emplace_back(count, code);
    }
    std::ranges::sort(frequent, std::greater());
    merged_ = frequent.at(0).second;
    into_ = frequent.at(1).second;
    removed_ = frequent.at(2).second;
    commit(path("store"), "pubmed26n0001.xml.gz", corpus_);
  }
  void change() const {
    using enum store::MeshChangeKind;
    const store::MeshChangeList list{
        "list", "1", 0, {{merged, merged_, "a", into_, "b"}, {removed, removed_, "c", 0, ""}}};
    store::Store::open(path("store"), store::Store::Access::write)->put_mesh_changes({&list, 1});
  }
  [[nodiscard]] std::vector<store::DescriptorCode> changed(
      const std::vector<store::DescriptorCode>& codes) const {
    std::set<store::DescriptorCode> now;
    for (const store::DescriptorCode code : codes) {
      if (code != removed_) {
        now.insert(code == merged_ ? into_ : code);
      }
    }
    return {now.begin(), now.end()};
  }

  Corpus corpus_;
  store::DescriptorCode merged_ = 0;
  store::DescriptorCode into_ = 0;
  store::DescriptorCode removed_ = 0;
};

TEST_F(ChangedDescriptors, AreTrainedAsIfTheyHadBeenFiledSo) {
  change();
  Recorder through_view;
  ASSERT_FALSE(train(options("view"), through_view).stopped);
  Corpus now = corpus_;
  for (auto& [pmid, codes] : now) {
    codes = changed(codes);
  }
  std::filesystem::remove_all(path("store"));
  commit(path("store"), "pubmed26n0001.xml.gz", now);
  Recorder filed;
  ASSERT_FALSE(train(options("filed"), filed).stopped);
  AtlasContent expected = read_content(path("filed"));
  AtlasContent content = read_content(path("view"));
  ASSERT_FALSE(content.assignment.empty());
  content.meta = expected.meta;  // names the store
  // The list of changes has names, which the other store has not.
  for (AtlasContent* const each : {&content, &expected}) {
    for (std::vector<store::AtlasRegion>& level : each->cells.levels) {
      for (store::AtlasRegion& region : level) {
        region.name.clear();
      }
    }
  }
  EXPECT_EQ(content, expected);
}

TEST_F(ChangedDescriptors, AreSeenByAnAtlasOfBefore) {
  Recorder seen;
  ASSERT_FALSE(train(options("first"), seen).stopped);
  Recorder stopping;
  stopping.stop_after_ = 0;
  TrainingOptions half = options("half");
  half.stop = stopping.stop_.get_token();
  ASSERT_TRUE(train(half, stopping).stopped);
  change();
  TrainingOptions resumed = options("half");
  resumed.resume = true;
  EXPECT_THROW((void)train(resumed, seen), TrainingError);  // the store is in another state

  TrainingOptions next = options("second");
  next.from = path("first");
  Recorder after;
  ASSERT_FALSE(train(next, after).stopped);
  ArticleChanges expected;
  const AtlasContent before = read_content(path("first"));
  for (const auto& [pmid, neuron] : before.assignment) {
    const std::vector<store::DescriptorCode> now = changed(corpus_.at(pmid));
    ++(now.size() < next.settings.min_descriptors ? expected.gone
       : now == corpus_.at(pmid)                  ? expected.unchanged
                                                  : expected.changed);
  }
  EXPECT_GT(expected.changed, 0U);
  EXPECT_EQ(after.changes_->changed, expected.changed);
  EXPECT_EQ(after.changes_->unchanged, expected.unchanged);
  EXPECT_EQ(after.changes_->gone, expected.gone);
  EXPECT_EQ(after.changes_->added, 0U);

  store::Store::open(path("store"), store::Store::Access::write)->put_mesh_changes({});
  EXPECT_FALSE(train(resumed, seen).stopped);  // taken back, the state is that of before
  EXPECT_EQ(read_content(path("half")), before);
}

}  // namespace
}  // namespace somatlas::pipeline
