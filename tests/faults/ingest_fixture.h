// What the tests of a disturbed ingest share: a baseline with updates on disk, what an undisturbed
// run makes of it, and what has to hold of a store at any time.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/faults/fault_plan.h"
#include "tests/pipeline/plain_map.h"
#include "tests/program/running_program.h"
#include "tests/seed.h"

namespace somatlas::fault_test {

using program_test::Ending;
using program_test::run_somatlas;
using program_test::RunningProgram;
using program_test::ScratchDirectory;
using program_test::Surroundings;

/// Which part of an ingest each call of its trace belongs to.
[[nodiscard]] std::vector<std::string> ingest_phases(const std::vector<Call>& trace);
inline const std::set<std::string> all_ingest_phases{
    "making the store", "opening it",     "parsing a file", "before a commit", "writing tables",
    "ingesting them",   "after a commit", "compacting",     "closing"};

class IngestFaultTest : public testing::Test {
 protected:
  void SetUp() override { set_up({400, 120}); }
  /// Six files, the later ones updates of the earlier, and an undisturbed run over them.
  void set_up(plain::Shape shape);

  [[nodiscard]] std::vector<std::string> command(const std::string& store,
                                                 unsigned threads = 1) const;
  /// The same with a fault below the scratch folder, its calls written to `trace`.
  [[nodiscard]] Surroundings with(Fault fault) const;

  /// A run's committed files, by number.
  [[nodiscard]] static std::set<std::uint32_t> committed(const Ending& ending);
  /// The store is sound and holds whole files only, those acknowledged among them; returns them.
  std::set<std::uint32_t> check(const std::string& store,
                                const std::set<std::uint32_t>& acknowledged) const;
  /// The same command again ends in the undisturbed run's dump and state, and leaves nothing over.
  void finish(const std::string& store) const;
  static void expect_no_unfinished_folders(const std::string& beside);
  /// Nor a file in the store's `incoming`, nor one that nothing refers to.
  void expect_nothing_left_over(const std::string& store) const;

  std::mt19937_64 random_{test_seed()};
  ScratchDirectory scratch_;
  std::vector<plain::File> files_;
  std::string expected_dump_;
  std::string expected_state_;
  std::chrono::microseconds duration_{};  // of the undisturbed run
  std::vector<Call> trace_;               // of the undisturbed run
};

}  // namespace somatlas::fault_test
