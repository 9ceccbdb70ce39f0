// somatlas serve with clients that mean harm to its connections: addresses past a connection's
// memory, clients that leave within a request, NULs, and an atlas that cannot be read.
#include <rocksdb/db.h>
#include <signal.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "tests/program/serving.h"
#include "tests/seed.h"

namespace somatlas::program_test {
namespace {

using Clock = std::chrono::steady_clock;

class ServeConnections : public Serve {
 protected:
  [[nodiscard]] std::string request(const std::string& target) const {
    return "GET " + target + " HTTP/1.1\r\nHost: " + host() + "\r\nConnection: close\r\n\r\n";
  }
};

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

TEST_F(ServeConnections, TooManyArgumentsAreRefusedAtOnceAndLeaveNothing) {
  const auto begun = Clock::now();
  for (int round = 0; round < 100; ++round) {
    for (const std::string& target :
         {"/?" + std::string(60'000, '&'), "/?" + std::string(100, '&'),
          "/api/place?" + repeated("line=a&", 8000), "/" + std::string(50'000, 'a')}) {
      ASSERT_EQ(get(target).status, 414) << target.substr(0, 20);
    }
  }
  // 400 that wait for their time to end would take 20 s in 256 places at once, 4,000 s in turn.
  EXPECT_LT(Clock::now() - begun, std::chrono::seconds(20));
  EXPECT_EQ(get("/?" + std::string(99, '&')).status, 200);
  EXPECT_EQ(get("/" + std::string(40'000, 'a')).status, 404);
  // LeakSanitizer's exit code would be another.
  server_->send(SIGTERM);
  const Ending ending = server_->wait();
  EXPECT_EQ(ending.exit_code, 143) << ending.err;
  EXPECT_EQ(ending.err.find("LeakSanitizer"), std::string::npos) << ending.err;
}

TEST_F(ServeConnections, MemoryStaysWhatItIsUnderRefusals) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer keeps what was freed; it finds leaks itself";
#endif
  const auto refuse = [this] {
    for (int i = 0; i < 300; ++i) {
      ASSERT_EQ(get("/?" + std::string(60'000, '&')).status, 414);
    }
  };
  refuse();
  server_->send(SIGTERM);
  const std::uint64_t few = server_->wait().peak_bytes;
  start({});
  for (int round = 0; round < 5; ++round) {
    refuse();
  }
  server_->send(SIGTERM);
  // 1,200 requests more would leave 72 MB.
  EXPECT_LT(server_->wait().peak_bytes, few + (36ULL << 20));
}

TEST_F(ServeConnections, ClientsThatLeftHoldNoPlace) {
  const std::string whole = request("/");
  std::mt19937_64 random(test_seed());
  std::uniform_int_distribution<std::size_t> cut(0, whole.size() - 1);
  const auto begun = Clock::now();
  for (int round = 0; round < 3; ++round) {
    // More than there are places, fewer than would have to come again.
    for (int i = 0; i < 300; ++i) {
      const Socket left(port_);
      left.send(whole.substr(0, cut(random)));
    }
    EXPECT_EQ(get("/").status, 200);
  }
  // Places that wait for their time to end take ten seconds a round.
  EXPECT_LT(Clock::now() - begun, std::chrono::seconds(20));
}

TEST_F(ServeConnections, AClientThatOnlyEndsItsSideIsAnswered) {
  for (int i = 0; i < 20; ++i) {
    const Socket socket(port_);
    socket.send(request("/"));
    socket.end();
    EXPECT_EQ(socket.read_all().substr(9, 3), "200");
  }
}

TEST_F(ServeConnections, ANulIsNowhereTakenForAnEnd) {
  const std::string nul(1, '\0');
  const std::string own = "Host: " + host();
  for (const std::string& text :
       {"GET /" + nul + "/api HTTP/1.1\r\n" + own, "GET /?a" + nul + "b HTTP/1.1\r\n" + own,
        "GET /" + nul + " HTTP/1.1\r\n" + own, "GET" + nul + "X / HTTP/1.1\r\n" + own,
        "GET / HTTP/1.1" + nul + "\r\n" + own, "GET / HTTP/1.1\r\n" + own + nul + "evil",
        "GET / HTTP/1.1\r\n" + own + nul + "evil\r\nAccept: a"}) {
    EXPECT_EQ(raw(text + "\r\nConnection: close\r\n\r\n").status, 400) << text;
  }
  EXPECT_EQ(raw("GET / HTTP/1.1\r\nHost: 127.0.0.1:0" + std::to_string(port_) + "\r\n\r\n").status,
            421);
}

class ServeDamaged : public Serve {
 protected:
  /// Every plane is one letter.
  void make_atlas(const std::string& directory) override {
    Serve::make_atlas(directory);
    std::vector<std::string> names;
    ASSERT_TRUE(rocksdb::DB::ListColumnFamilies({}, directory, &names).ok());
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (const std::string& name : names) {
      families.emplace_back(name, rocksdb::ColumnFamilyOptions());
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* opened = nullptr;
    ASSERT_TRUE(rocksdb::DB::Open({}, directory, families, &handles, &opened).ok());
    const std::unique_ptr<rocksdb::DB> database(opened);
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      if (handle->GetName() == "planes") {
        const std::unique_ptr<rocksdb::Iterator> at(database->NewIterator({}, handle));
        for (at->SeekToFirst(); at->Valid(); at->Next()) {
          ASSERT_TRUE(database->Put({}, handle, at->key(), "x").ok());
        }
        ASSERT_TRUE(database->Flush({}, handle).ok());
      }
      ASSERT_TRUE(database->DestroyColumnFamilyHandle(handle).ok());
    }
  }
};

TEST_F(ServeDamaged, TellsTheReaderNoFileAndItsOwnerTheReason) {
  const Answer answer = get("/tile/D009369/0/0/0.png");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body,
            "a part of the atlas cannot be read: the reason is in the window where somatlas serve "
            "runs\n");
  EXPECT_EQ(get("/tile/D009369/0/0/0.png").status, 500);
  server_->send(SIGTERM);
  const std::string said = server_->wait().err;
  const std::string own_line = scratch_ / "atlas";
  const std::size_t first = said.find(own_line, said.find("Ctrl-C"));
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find(own_line, said.find('\n', first)), std::string::npos) << said;
}

}  // namespace
}  // namespace somatlas::program_test
