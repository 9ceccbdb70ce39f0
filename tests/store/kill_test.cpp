// Kill -9 at random moments: what was acknowledged is there, nothing is there by half, and the same
// work run again ends in the same store. Also readers beside a live writer.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <thread>

#include "store/store.h"
#include "tests/store/child_process.h"
#include "tests/store/random_shards.h"

namespace somatlas::store {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t file_count = 12;

/// File number of the seed's corpus; parent and child draw the same.
PlainFile file_of(std::uint64_t seed, std::uint64_t number) {
  Random random(seed * 1'000 + number);
  return random_file(random, baseline_key(number), 4, 60);
}

}  // namespace

int commit_files(const std::string& directory, unsigned long long seed, unsigned long long count) {
  std::unique_ptr<Store> store;
  try {
    store = Store::open(directory, Store::Access::create);
  } catch (const StoreError& error) {
    std::puts(error.what());
    return 3;
  }
  for (std::uint64_t number = 1; number <= count; ++number) {
    const PlainFile file = file_of(seed, number);
    if (store->ledger_entry(file.key))
      continue;
    store->commit(deltas_of(file), entry_of(file));
    const std::string line = std::to_string(number) + "\n";
    if (::write(STDOUT_FILENO, line.data(), line.size()) < 0)
      return 1;
    if (number % 4 == 0)
      store->compact();
  }
  return 0;
}

ChildProcess start_child(const std::vector<std::string>& arguments) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error("no pipe");
  std::vector<char*> argv;
  std::string program = fs::read_symlink("/proc/self/exe").string();
  argv.push_back(program.data());
  for (const std::string& argument : arguments)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t id = ::fork();
  if (id < 0)
    throw std::runtime_error("no child process");
  if (id == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execv(program.c_str(), argv.data());
    ::_exit(127);
  }
  ::close(ends[1]);
  return {id, ends[0]};
}

std::string drain(ChildProcess& child) {
  std::string text;
  char buffer[256];
  for (ssize_t got = 0; (got = ::read(child.output, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  ::close(child.output);
  child.output = -1;
  return text;
}

namespace {

std::set<std::uint64_t> numbers_in(const std::string& lines) {
  std::set<std::uint64_t> numbers;
  std::istringstream in(lines);
  for (std::uint64_t number = 0; in >> number;)
    numbers.insert(number);
  return numbers;
}

/// The store holds exactly the files that its ledger lists, and these include the acknowledged.
void check_store(const std::string& path, std::uint64_t seed,
                 const std::set<std::uint64_t>& acknowledged) {
  const auto store = Store::open(path, Store::Access::read);
  std::map<std::uint32_t, PlainRows> plain;
  std::set<std::uint64_t> taken;
  for (const LedgerEntry& entry : store->ledger()) {
    taken.insert(entry.key.number);
    const PlainFile file = file_of(seed, entry.key.number);
    ASSERT_EQ(entry, entry_of(file));
    for (const auto& [range, rows] : file.ranges)
      merge_rows(plain[range], rows);
  }
  for (const std::uint64_t number : acknowledged)
    ASSERT_TRUE(taken.contains(number)) << "file " << number << " was acknowledged and is gone";
  for (const auto& [range, rows] : plain)
    ASSERT_EQ(to_rows(store->shard(range).value()), rows);
  ASSERT_EQ(store->ranges().size(), plain.size());
  store->verify([](const Fault& fault) { ADD_FAILURE() << fault.where << ": " << fault.what; });
}

TEST(StoreKill, KeepsWhatWasAcknowledgedAndNothingByHalf) {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t seed = test_seed() % 1'000'000'000;
  Random random(seed);
  const auto arguments = [&](const std::string& path) {
    return std::vector<std::string>{commit_files_argument, path, std::to_string(seed),
                                    std::to_string(file_count)};
  };
  const auto finish = [](ChildProcess& child) {
    const std::string said = drain(child);
    int status = 0;
    ::waitpid(child.id, &status, 0);
    return std::pair(numbers_in(said), status);
  };

  // How long it takes when nobody interferes, so that kills hit every part of it.
  const TemporaryDirectory directory;
  const auto begin = Clock::now();
  ChildProcess whole = start_child(arguments(directory / "whole"));
  const auto [all, status] = finish(whole);
  auto duration =
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin).count();
  ASSERT_EQ(status, 0);
  ASSERT_EQ(all.size(), file_count);
  ASSERT_NO_FATAL_FAILURE(check_store(directory / "whole", seed, all));
  const std::string state = Store::open(directory / "whole", Store::Access::read)->state_id();

  constexpr int kills_wanted = 20;
  int kills = 0;
  std::map<std::size_t, int> kills_after;  // by files acknowledged in that life
  for (int life = 0; kills < kills_wanted; ++life) {
    ASSERT_LT(life, 200) << "the children end before they can be killed";
    const std::string path = directory / ("store" + std::to_string(kills / 5));
    std::set<std::uint64_t> acknowledged;
    if (fs::exists(path)) {
      for (const LedgerEntry& entry : Store::open(path, Store::Access::read)->ledger())
        acknowledged.insert(entry.key.number);
    }
    ChildProcess child = start_child(arguments(path));
    const auto span = static_cast<std::uint64_t>(duration);
    std::this_thread::sleep_for(std::chrono::microseconds(draw(random, span / 2 + 1)));
    ::kill(child.id, SIGKILL);
    const auto [said, how] = finish(child);
    if (WIFSIGNALED(how)) {
      ++kills;
      ++kills_after[said.size()];
    } else {
      duration = duration * 3 / 4;  // the machine is quicker by now than it was
    }
    acknowledged.insert(said.begin(), said.end());
    if (fs::exists(path))
      ASSERT_NO_FATAL_FAILURE(check_store(path, seed, acknowledged));
    else
      ASSERT_TRUE(acknowledged.empty());
  }
  for (const auto& [files, count] : kills_after)
    std::cout << count << " kills after " << files << " acknowledged files\n";

  for (int i = 0; i < kills_wanted / 5; ++i) {
    const std::string path = directory / ("store" + std::to_string(i));
    ChildProcess last = start_child(arguments(path));
    ASSERT_EQ(finish(last).second, 0);
    ASSERT_NO_FATAL_FAILURE(check_store(path, seed, all));
    EXPECT_EQ(Store::open(path, Store::Access::read)->state_id(), state);
    EXPECT_TRUE(fs::is_empty(path + "/incoming"));
  }
  // whole and the stores: nothing half-made is left beside them
  EXPECT_EQ(std::distance(fs::directory_iterator(directory.path()), {}), 1 + kills_wanted / 5);
}

TEST(StoreKill, ASecondProcessIsToldToWait) {
  const TemporaryDirectory directory;
  const auto store = Store::open(directory / "store", Store::Access::create);
  ChildProcess child = start_child({commit_files_argument, directory / "store", "1", "1"});
  const std::string said = drain(child);
  int status = 0;
  ::waitpid(child.id, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_NE(said.find("in use by another process"), std::string::npos) << said;
  EXPECT_TRUE(store->ledger().empty());
}

TEST(StoreKill, ALiveWriterDoesNotDisturbReaders) {
  const std::uint64_t seed = test_seed() % 1'000'000'000;
  const TemporaryDirectory directory;
  const std::string path = directory / "store";
  (void)Store::open(path, Store::Access::create);
  ChildProcess child = start_child({commit_files_argument, path, std::to_string(seed), "25"});
  std::atomic<bool> ended = false;
  std::string said;
  std::jthread watcher([&] {
    said = drain(child);
    ended = true;
  });
  int openings = 0;
  std::size_t most = 0;
  std::size_t last = 0;
  while (!ended) {
    ASSERT_NO_FATAL_FAILURE(check_store(path, seed, {}));
    const std::size_t files = Store::open(path, Store::Access::read)->ledger().size();
    ASSERT_GE(files, last);
    last = files;
    most = std::max(most, files);
    ++openings;
  }
  watcher.join();
  int status = 0;
  ::waitpid(child.id, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_NO_FATAL_FAILURE(check_store(path, seed, numbers_in(said)));
  std::cout << openings << " readings beside the writer\n";
  EXPECT_GT(openings, 0);
}

}  // namespace
}  // namespace somatlas::store
