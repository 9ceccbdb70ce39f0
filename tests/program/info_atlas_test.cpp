// What somatlas info says of a small atlas's regions, for people and as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/formats/small_atlas.h"
#include "tests/program/running_program.h"

namespace somatlas::program_test {
namespace {

TEST(InfoProgram, NamesTheRegionsOfAnAtlas) {
  const ScratchDirectory scratch;
  exports::SmallAtlas().make_atlas(scratch / "atlas", "id", "state");
  const Ending text = run_somatlas({"info", "--atlas", scratch / "atlas"});
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_EQ(text.err, "");
  // Shares over those of all 4 training articles: 340 of 350 over 2 of 4, 90 of 350 over 2 of 4.
  const std::string end =
      "continents                  1\n"
      "  350  Diseases\n"
      "areas                       1\n"
      "  350  Neoplasms  (lift: Neoplasms 0.5)\n"
      "regions                     2\n"
      "  350  Humans  (lift: Humans 1.9, Neoplasms 0.5)\n"
      "  0  Fishes, \"Zebra\"\n";
  EXPECT_TRUE(text.out.ends_with(end)) << text.out;

  const Ending json = run_somatlas({"info", "--json", "--atlas", scratch / "atlas"});
  EXPECT_EQ(json.exit_code, 0);
  const auto regions = nlohmann::json::parse(json.out)["regions"];
  EXPECT_EQ(regions["regions"]["count"], 2);
  EXPECT_EQ(regions["continents"]["largest"][0]["name"], "Diseases");
  const auto& first = regions["regions"]["largest"][0];
  EXPECT_EQ(first["articles"], 350);
  EXPECT_EQ(first["cells"], 8);
  EXPECT_EQ(first["leading"][1]["ui"], "D009369");
  EXPECT_EQ(first["leading"][1]["articles"], 90);
  EXPECT_DOUBLE_EQ(first["leading"][1]["lift"].get<double>(), 90.0 / 350 / 0.5);
}

}  // namespace
}  // namespace somatlas::program_test
