// Articles of some years in somatlas serve: counted on request where the store is given.
#include <signal.h>

#include <algorithm>
#include <string>
#include <vector>

#include "store/store.h"
#include "tests/program/serving.h"

namespace somatlas::program_test {
namespace {

class ServeYears : public Serve {
 protected:
  void SetUp() override {
    small_.make_store(scratch_ / "store");
    start({"--store", scratch_ / "store"});
  }
  void make_atlas(const std::string& directory) override {
    const auto store = store::Store::open(scratch_ / "store", store::Store::Access::write);
    store->commit(std::vector<store::Shard>{dated()}, entry());
    small_.make_atlas(directory, store->id(), store->state_id());
  }

  const exports::SmallAtlas small_;

 private:
  /// Articles 10 and 11 once more, of 1996 and 2003.
  [[nodiscard]] store::Shard dated() const {
    store::Shard shard;
    shard.keys = {store::FileKey{26, 2, "pubmed26n0002.xml"}};
    shard.offsets = {0};
    for (const std::uint16_t pmid : std::vector<std::uint16_t>{10, 11}) {
      auto codes = small_.articles().at(pmid);
      std::ranges::sort(codes);
      shard.low.push_back(pmid);
      shard.version.push_back(2);
      shard.year.push_back(pmid == 10 ? 1996 : 2003);
      shard.state.push_back(store::ArticleState::article);
      shard.key.push_back(0);
      shard.records.push_back(1);
      shard.descriptors.insert(shard.descriptors.end(), codes.begin(), codes.end());
      shard.major.resize(shard.descriptors.size());
      shard.offsets.push_back(static_cast<std::uint32_t>(shard.descriptors.size()));
    }
    return shard;
  }
  [[nodiscard]] static store::LedgerEntry entry() {
    store::LedgerEntry entry;
    entry.key = store::FileKey{26, 2, "pubmed26n0002.xml"};
    entry.md5 = std::string(32, '1');
    entry.citations = entry.with_descriptors = 2;
    return entry;
  }
};

TEST_F(ServeYears, AreALayerOnceTheyAreCounted) {
  EXPECT_EQ(get("/api/layer/hits.1990-1999").status, 404);
  EXPECT_EQ(get("/tile/hits.1990-1999/0/0/0.png").status, 404);
  EXPECT_EQ(json("/api/timeline"), nlohmann::json({{"ranges", 2},
                                                   {"counted", 2},
                                                   {"step", 1},
                                                   {"undated", 2},
                                                   {"articles", {{1996, 1}, {2003, 1}}}}));
  const auto layer = json("/api/layer/hits.1990-1999");
  EXPECT_EQ(layer["title"], "Articles of 1990 to 1999");
  const auto tile = [this](const std::string& years) {
    const Answer answer = get("/tile/hits." + years + "/0/0/0.png");
    EXPECT_EQ(answer.status, 200) << years;
    return answer.body;
  };
  EXPECT_EQ(tile("1996-1996"), tile("1990-2002"));
  EXPECT_NE(tile("1996-1996"), tile("2003-2003"));
  EXPECT_NE(tile("1996-1996"), tile("1996-2003"));
  EXPECT_NE(tile("1996-1996"), tile("1900-1901"));
  for (const std::string years : {"1999-1990", "199-1999", "1990-19999", "1990", "1990-",
                                  "x990-1999", "1990_1999", "1990-1999-"}) {
    EXPECT_EQ(get("/tile/hits." + years + "/0/0/0.png").status, 404) << years;
  }
}

TEST_F(ServeYears, NeedTheStoreOfTheAtlas) {
  server_->send(SIGINT);
  EXPECT_EQ(server_->wait().exit_code, 130);
  small_.make_store(scratch_ / "other");
  const Ending ending = run_somatlas(
      {"serve", "--atlas", scratch_ / "atlas", "--store", scratch_ / "other", "--port", "0"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find("is not the store that"), std::string::npos) << ending.err;
}

}  // namespace
}  // namespace somatlas::program_test
