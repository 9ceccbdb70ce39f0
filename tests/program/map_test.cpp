// somatlas map as a user runs it, on a small atlas: each kind of input, articles with and without a
// place, unknown descriptors, and stores that fit the atlas or not. Places by brute force.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "store/store.h"
#include "tests/formats/small_atlas.h"
#include "tests/program/running_program.h"
#include "tools/export/decimal_text.h"

namespace somatlas::program_test {
namespace {

using exports::SmallAtlas;
using Codes = SmallAtlas::Codes;

const std::string header = "article\trow\tcolumn\tdistance\tsecond row\tsecond column\tlabel\n";

class MapProgram : public ::testing::Test {
 protected:
  void SetUp() override {
    small_.make_store(scratch_ / "store");
    const auto store = store::Store::open(scratch_ / "store", store::Store::Access::read);
    small_.make_atlas(scratch_ / "atlas", store->id(), store->state_id());
  }

  [[nodiscard]] Ending map(const std::string& input, std::vector<std::string> more = {}) const {
    write_file(scratch_ / "input", input);
    std::vector<std::string> arguments{"map", "--atlas", scratch_ / "atlas", scratch_ / "input"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_somatlas(arguments);
  }

  [[nodiscard]] std::string row(const std::string& article, const Codes& codes,
                                std::size_t unnamed = 0) const {
    const auto place = small_.place(codes, unnamed);
    if (!place) {
      return article + "\t-\t-\t-\t-\t-\t-\n";
    }
    return article + "\t" + std::to_string(place->neuron / 3) + "\t" +
           std::to_string(place->neuron % 3) + "\t" + exports::distance_text(place->distance) +
           "\t" + std::to_string(place->second / 3) + "\t" + std::to_string(place->second % 3) +
           "\t" + (place->neuron == 0 ? "Fishes, \"Zebra\"" : "Humans") + "\n";
  }
  [[nodiscard]] std::string row(std::uint32_t pmid) const {
    const auto found = small_.articles().find(pmid);
    return row(std::to_string(pmid), found == small_.articles().end() ? Codes{} : found->second);
  }

  const ScratchDirectory scratch_;
  const SmallAtlas small_;
};

TEST_F(MapProgram, FindsPmidsAmongTheRecordedPlaces) {
  const Ending ending = map("70000\r\n10\r\n\r\n# two unknown\r\n999\r\n12\r\n10\r\n");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, header + row(70'000) + row(10) + row("999", {}) + row("12", {}) + row(10));
  const std::string reason =
      ": the atlas has no place of it (with --store its descriptors are searched)\n";
  EXPECT_EQ(ending.err,
            "999" + reason + "12" + reason + "articles: 5 (3 placed, 2 without a place)\n");
}

TEST_F(MapProgram, SearchesPmidsOfTheStoreAndFindsTheirPlacesAgain) {
  const std::string input = "10\n11\n12\n13\n14\n15\n70000\n70001\n4294967295\n";
  const Ending ending = map(input, {"--store", scratch_ / "store"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, header + row(10) + row(11) + row(12) + row(13) + row("14", {}) +
                            row("15", {}) + row(70'000) + row(70'001) + row("4294967295", {}));
  EXPECT_EQ(ending.err,
            "12: the atlas knows none of its descriptors\n"
            "13: it has no descriptors\n"
            "14: it was deleted\n"
            "15: the store has no such article\n"
            "4294967295: the store has no such article\n"
            "the atlas has no descriptor \"D000077\": on 2 articles\n"
            "articles: 9 (4 placed, 5 without a place)\n");
}

TEST_F(MapProgram, TheStoresPlacesAreThoseThatExportWrites) {
  ASSERT_EQ(
      run_somatlas({"export", "--atlas", scratch_ / "atlas", "--format", "npy", scratch_ / "npy"})
          .exit_code,
      0);
  std::istringstream places(read_file(scratch_ / "npy/places.tsv"));
  std::string line;
  std::getline(places, line);
  std::string pmids;
  std::string expected;
  while (std::getline(places, line)) {
    pmids += line.substr(0, line.find('\t')) + "\n";
    expected += line + "\n";
  }
  ASSERT_FALSE(pmids.empty());
  std::istringstream rows(map(pmids, {"--store", scratch_ / "store"}).out);
  std::getline(rows, line);
  std::string found;
  while (std::getline(rows, line)) {
    std::istringstream fields(line);
    std::string field;
    std::string first_four;
    for (int i = 0; i < 4 && std::getline(fields, field, '\t'); ++i) {
      first_four += (i == 0 ? "" : "\t") + field;
    }
    found += first_four + "\n";
  }
  EXPECT_EQ(found, expected);
}

TEST_F(MapProgram, PlacesLinesOfDescriptors) {
  const Ending ending =
      map("# mine\n"
          "Humans;Neoplasms\n"
          "\tD006801 ; Humans; Neoplasms;D009369 \r\n"
          "Fishes, \"Zebra\"; Animals; Martians; D000077; Martians\n"
          "Martians\n"
          ";\n"
          "D000009370");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(
      ending.out,
      header + row("line 2", {SmallAtlas::humans, SmallAtlas::neoplasms}) +
          row("line 3", {SmallAtlas::humans, SmallAtlas::neoplasms}) +
          row("line 4", {SmallAtlas::zebrafish, SmallAtlas::animals, SmallAtlas::unknown}, 1) +
          row("line 5", {}) + row("line 6", {}) + row("line 7", {SmallAtlas::zebrafish}));
  EXPECT_EQ(ending.err,
            "line 5: the atlas knows none of its descriptors\n"
            "line 6: it has no descriptors\n"
            "the atlas has no descriptor \"Martians\": on 2 articles, first in line 4\n"
            "the atlas has no descriptor \"D000077\": on 1 article, line 4\n"
            "articles: 6 (4 placed, 2 without a place)\n");
}

TEST_F(MapProgram, MemoryDoesNotShow) {
  std::string input;
  for (int i = 0; i < 50; ++i) {
    input += "10\n11\n70000\n70001\n";
  }
  const Ending roomy = map(input, {"--store", scratch_ / "store"});
  const Ending tight = map(input, {"--store", scratch_ / "store", "--host-memory", "1"});
  EXPECT_EQ(roomy.exit_code, 0);
  EXPECT_EQ(tight.exit_code, 0);
  EXPECT_EQ(tight.out, roomy.out);
  EXPECT_NE(roomy.out.find(row(10)), std::string::npos);
  EXPECT_EQ(map(input, {"--host-memory", "0"}).exit_code, 2);
}

TEST_F(MapProgram, PlacesXmlWithHeadingsByUiAndByName) {
  const Ending ending =
      map("<?xml version=\"1.0\"?><PubmedArticleSet><PubmedArticle><MedlineCitation>"
          "<PMID Version=\"1\">555</PMID><MeshHeadingList>"
          "<MeshHeading><DescriptorName UI=\"D000818\">Animals</DescriptorName></MeshHeading>"
          "<MeshHeading><DescriptorName>Neoplasms</DescriptorName></MeshHeading>"
          "<MeshHeading><DescriptorName>Martians</DescriptorName></MeshHeading>"
          "</MeshHeadingList></MedlineCitation></PubmedArticle></PubmedArticleSet>");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, header + row("555", {SmallAtlas::animals, SmallAtlas::neoplasms}, 1));
  EXPECT_EQ(ending.err,
            "the atlas has no descriptor \"Martians\": on 1 article\n"
            "articles: 1 (1 placed, 0 without a place)\n");
}

TEST_F(MapProgram, TheStoresChangedDescriptorsHoldForTheInputToo) {
  write_file(scratch_ / "changes.tsv",
             "change\tui_2017\tname_2017\tui_2024\tname_2024\n"
             "merged\tD000077\tMartians\tD000818\tAnimals\n"
             "renamed\tD009369\tTumours\tD009369\tNeoplasms\nremoved\tD000078\tVenusians\t\t\n");
  ASSERT_EQ(run_somatlas({"ingest", "--store", scratch_ / "store", "--mesh-changes",
                          scratch_ / "changes.tsv"})
                .exit_code,
            0);
  const Ending ending =
      map("Humans; martians\nD000077; Tumours\nVenusians; Humans\nVenusians\nPlutonians; Humans\n",
          {"--store", scratch_ / "store"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, header + row("line 1", {SmallAtlas::animals, SmallAtlas::humans}) +
                            row("line 2", {SmallAtlas::animals, SmallAtlas::neoplasms}) +
                            row("line 3", {SmallAtlas::humans}) + row("line 4", {}) +
                            row("line 5", {SmallAtlas::humans}, 1));
  EXPECT_NE(ending.err.find("has changed since"), std::string::npos) << ending.err;
  EXPECT_NE(ending.err.find("line 4: it has no descriptors\n"), std::string::npos) << ending.err;
  EXPECT_EQ(ending.err.find("artians"), std::string::npos) << ending.err;
}

TEST_F(MapProgram, LeavesOutAnArticleOfMoreThan1023Descriptors) {
  std::string full = "Humans";
  for (int i = 0; i < 1022; ++i) {
    full += ";Martian " + std::to_string(i);
  }
  const Ending ending = map(full + "\n" + full + ";Neoplasms\n");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, header + row("line 1", {SmallAtlas::humans}, 1022) + row("line 2", {}));
  EXPECT_NE(ending.err.find("line 2: it has 1024 descriptors, more than 1023\n"),
            std::string::npos);
}

TEST_F(MapProgram, WritesJsonLines) {
  const Ending ending = map("10\n999\n", {"--json"});
  EXPECT_EQ(ending.exit_code, 0);
  std::istringstream lines(ending.out);
  std::string line;
  std::getline(lines, line);
  const auto first = nlohmann::json::parse(line);
  const auto place = small_.place(small_.articles().at(10)).value();
  EXPECT_EQ(first["article"], "10");
  EXPECT_EQ(first["row"], place.neuron / 3);
  EXPECT_EQ(first["second_column"], place.second % 3);
  EXPECT_EQ(first["label"], "Fishes, \"Zebra\"");    // the region
  EXPECT_EQ(first["leading"], "Fishes, \"Zebra\"");  // the cell
  EXPECT_NE(line.find("\"distance\":" + exports::distance_text(place.distance) + ","),
            std::string::npos);
  std::getline(lines, line);
  EXPECT_EQ(line, R"({"article":"999","row":null,"column":null,"distance":null,)"
                  R"("second_row":null,"second_column":null,"label":null,"leading":null})");
}

TEST_F(MapProgram, SpellingsOfOneUnknownNameAreOneDescriptor) {
  const Ending ending = map("humans;martians\nHumans;Martians;MARTIANS;martians;humans\n");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, header + row("line 1", {SmallAtlas::humans}, 1) +
                            row("line 2", {SmallAtlas::humans}, 1));
  EXPECT_EQ(ending.err,
            "the atlas has no descriptor \"martians\": on 2 articles, first in line 1\n"
            "articles: 2 (2 placed, 0 without a place)\n");
}

TEST_F(MapProgram, FindsNamesInAnyCaseAndProposesForOthers) {
  const Ending ending = map("humans; NEOPLASMS\nHuman;Neoplasms\n");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, header + row("line 1", {SmallAtlas::humans, SmallAtlas::neoplasms}) +
                            row("line 2", {SmallAtlas::neoplasms}, 1));
  EXPECT_EQ(
      ending.err,
      "the atlas has no descriptor \"Human\": on 1 article, line 2; did you mean \"Humans\"?\n"
      "articles: 2 (2 placed, 0 without a place)\n");
}

std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

TEST_F(MapProgram, AWrongFileIsSaidInFewLinesAndFails) {
  std::string prose;
  for (int line = 0; line < 5000; ++line) {
    prose += "Sentence " + std::to_string(line) + "; and what follows it, " + std::to_string(line) +
             "\n";
  }
  for (const std::string& input : {prose, read_file(data("sample/README.md"))}) {
    const Ending ending = map(input);
    EXPECT_EQ(ending.exit_code, 1);
    EXPECT_LE(lines_of(ending.err), 44U) << ending.err;
    EXPECT_NE(ending.err.find(" further articles without a place\n"), std::string::npos);
    EXPECT_NE(ending.err.find(" further unknown descriptors\n"), std::string::npos);
    EXPECT_TRUE(ending.err.ends_with(
        scratch_ / "input" +
        ": nothing in it is known to the atlas; give MEDLINE XML, or PMIDs, one a line, or a line "
        "an article with MeSH headings by name or UI, separated by `;`\n"))
        << ending.err;
  }
}

TEST_F(MapProgram, FailsOnlyWhereNothingIsKnown) {
  EXPECT_EQ(map("999\n").exit_code, 1);
  EXPECT_EQ(map("999\n10\n").exit_code, 0);
  EXPECT_EQ(map("999\n", {"--store", scratch_ / "store"}).exit_code, 1);
  EXPECT_EQ(map("14\n", {"--store", scratch_ / "store"}).exit_code, 0);  // deleted, so known
  EXPECT_EQ(map("D000077\n").exit_code, 1);
  EXPECT_EQ(map("Martians\nhumans\n").exit_code, 0);
  EXPECT_EQ(map(";\n").exit_code, 0);  // an article without descriptors
}

TEST_F(MapProgram, NamesFewOfTheDeletionsOfAnUpdateFile) {
  std::string input = "<PubmedArticleSet><DeleteCitation>";
  for (int pmid = 1; pmid <= 500; ++pmid) {
    input += "<PMID Version=\"1\">" + std::to_string(pmid) + "</PMID>";
  }
  const Ending ending = map(input + "</DeleteCitation></PubmedArticleSet>");
  EXPECT_LE(lines_of(ending.err), 23U) << ending.err;
  EXPECT_NE(ending.err.find("and 480 further parts of the input that cannot be placed\n"),
            std::string::npos)
      << ending.err;
}

TEST_F(MapProgram, AnEmptyInputIsSaid) {
  for (const char* const input : {"", "\n", "# nothing\n\n"}) {
    const Ending ending = map(input);
    EXPECT_EQ(ending.exit_code, 0) << input;
    EXPECT_EQ(ending.out, header);
    EXPECT_EQ(ending.err, scratch_ / "input" + ": holds no article\n");
  }
}

TEST_F(MapProgram, ALineOfAnotherKindHasNoPlaceAndTheRestGoesOn) {
  const std::string reason = ": it is no PMID, a number from 1 to 4294967295\n";
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--store", scratch_ / "store"}}) {
    const Ending ending = map("10\n0\n12x\n-10\n4294967296\nHumans\n11\n", more);
    EXPECT_EQ(ending.exit_code, 0);
    EXPECT_EQ(ending.out, header + row(10) + row("line 2", {}) + row("line 3", {}) +
                              row("line 4", {}) + row("line 5", {}) + row("line 6", {}) + row(11));
    EXPECT_EQ(ending.err, "line 2" + reason + "line 3" + reason + "line 4" + reason + "line 5" +
                              reason + "line 6" + reason +
                              "articles: 7 (2 placed, 5 without a place)\n");
  }
  const Ending ending = map("Humans\n0\nNeoplasms\n");
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, header + row("line 1", {SmallAtlas::humans}) + row("line 2", {}) +
                            row("line 3", {SmallAtlas::neoplasms}));
  EXPECT_EQ(ending.err,
            "line 2: it is a number, and line 1 made this an input of descriptors\n"
            "articles: 3 (2 placed, 1 without a place)\n");
  std::string many = "10\n";
  for (int line = 0; line < 500; ++line) {
    many += "none\n";
  }
  EXPECT_LE(lines_of(map(many).err), 22U);
}

TEST_F(MapProgram, WarnsOfAStoreInAnotherState) {
  {
    const auto store = store::Store::open(scratch_ / "store", store::Store::Access::write);
    store::LedgerEntry entry;
    entry.key = {26, 2, "pubmed26n0002.xml"};
    entry.md5 = std::string(32, '1');
    store->commit(std::span<const store::Shard>{}, entry);
  }
  const Ending ending = map("10\n", {"--store", scratch_ / "store"});
  EXPECT_EQ(ending.exit_code, 0);
  EXPECT_EQ(ending.out, header + row(10));
  EXPECT_EQ(ending.err, "warning: " + scratch_ / "store" + " has changed since " +
                            scratch_ / "atlas" +
                            " was trained; articles are placed by the descriptors they have now\n"
                            "articles: 1 (1 placed, 0 without a place)\n");
}

TEST_F(MapProgram, RefusesAnotherStore) {
  small_.make_store(scratch_ / "other");
  const Ending ending = map("10\n", {"--store", scratch_ / "other"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_EQ(ending.out, "");
  EXPECT_EQ(ending.err, "somatlas: " + scratch_ / "other" + ": is not the store that " +
                            scratch_ / "atlas" + " was trained on; give that one, or none\n");
}

TEST_F(MapProgram, WantsAnAtlasAndAnInput) {
  EXPECT_EQ(run_somatlas({"map", scratch_ / "input"}).exit_code, 2);
  EXPECT_EQ(run_somatlas({"map", "--atlas", scratch_ / "atlas"}).exit_code, 2);
  const Ending ending = run_somatlas({"map", "--atlas", scratch_ / "atlas", scratch_ / "none.txt"});
  EXPECT_EQ(ending.exit_code, 1);
  EXPECT_NE(ending.err.find("none.txt"), std::string::npos);
}

}  // namespace
}  // namespace somatlas::program_test
