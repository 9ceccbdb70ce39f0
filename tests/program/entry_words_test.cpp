// Entry words in the program: from a descriptor XML into the store and the atlas, and what finds a
// descriptor by them there.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/program/sample_job.h"
#include "tests/program/serving.h"

namespace somatlas::program_test {
namespace {

using Json = nlohmann::json;

struct Descriptor {
  std::string ui;
  std::string name;
  std::vector<std::string> terms;
};

std::string descriptor_xml(const std::vector<Descriptor>& descriptors) {
  std::string text = "<DescriptorRecordSet>\n";
  for (const Descriptor& descriptor : descriptors) {
    text += "<DescriptorRecord><DescriptorUI>" + descriptor.ui +
            "</DescriptorUI><DescriptorName><String>" + descriptor.name +
            "</String></DescriptorName><ConceptList><Concept><TermList>\n";
    for (const std::string& term : descriptor.terms) {
      text += "<Term IsPermutedTermYN=\"N\"><String>" + term + "</String></Term>\n";
    }
    text += "</TermList></Concept></ConceptList></DescriptorRecord>\n";
  }
  return text + "</DescriptorRecordSet>\n";
}

/// An atlas of the sample whose store was given entry words of three descriptors, one of which no
/// article has; "Cancer" leads to two.
class EntryWords : public Serve {
 protected:
  void make_atlas(const std::string& directory) override {
    ingest_sample(store);
    const std::string state = info("--store", store)["state_id"];
    write_file(scratch_ / "desc.xml",
               descriptor_xml({{"D009203",
                                "Myocardial Infarction",
                                {"Myocardial Infarction", "Heart Attack", "Heart Attacks"}},
                               {"D006973", "Hypertension", {"Blood Pressure, High", "Cancer"}},
                               {"D009369", "Neoplasms", {"Cancer"}},
                               {"D999999", "In No Article", {"Nowhere"}}}));
    const Ending ending =
        expect_done({"ingest", "--store", store, "--mesh", scratch_ / "desc.xml"});
    EXPECT_NE(ending.err.find("unchanged; 6 entry words of them."), std::string::npos)
        << ending.err;
    EXPECT_EQ(info("--store", store)["state_id"], state);
    expect_done(train_command(store, directory));
  }
  [[nodiscard]] static Json info(const std::string& kind, const std::string& path) {
    return Json::parse(expect_done({"info", "--json", kind, path}).out);
  }
  [[nodiscard]] std::string placed(const std::string& line) const {
    write_file(scratch_ / "line", line + "\n");
    return expect_done({"map", "--atlas", atlas, scratch_ / "line"}).out;
  }

  const std::string store = scratch_ / "store";
  const std::string atlas = scratch_ / "atlas";
};

TEST_F(EntryWords, FindDescriptorsInTheViewer) {
  const auto first = [this](const std::string& text) {
    return json("/api/search?q=" + text)["descriptors"][0];
  };
  for (const std::string text : {"heart+attack", "Heart%20Attack", "heart+att"}) {
    EXPECT_EQ(first(text)["ui"], "D009203") << text;
    EXPECT_EQ(first(text)["entry"], "Heart Attack") << text;
  }
  EXPECT_EQ(first("heart+attacks")["entry"], "Heart Attacks");
  EXPECT_EQ(json("/api/search?q=heart+attack")["descriptors"].size(), 1U);
  EXPECT_EQ(first("pressure,+high")["ui"], "D006973");
  EXPECT_FALSE(first("myocardial+infarction").contains("entry"));
  EXPECT_EQ(json("/api/search?q=cancer")["descriptors"][0]["entry"], "Cancer");
  EXPECT_EQ(json("/api/search?q=nowhere")["descriptors"].size(), 0U);
  const Json line = json("/api/place?line=heart+attack;humans;nowhere");
  EXPECT_EQ(line["unknown"], Json::parse(R"([[0, "nowhere"]])"));
  EXPECT_EQ(line["placed"],
            json("/api/place?line=Myocardial+Infarction;Humans;Nothing+Such")["placed"]);
}

TEST_F(EntryWords, FindDescriptorsForMapAndExport) {
  EXPECT_EQ(placed("Humans; HEART ATTACK"), placed("Humans; D009203"));
  EXPECT_EQ(placed("Humans;Blood Pressure, High"), placed("Humans;Hypertension"));
  write_file(scratch_ / "line", "Humans;Cancer\n");
  const Ending unknown = expect_done({"map", "--atlas", atlas, scratch_ / "line"});
  EXPECT_NE(unknown.err.find("no descriptor \"Cancer\": on 1 article"), std::string::npos)
      << unknown.err;
  const auto picture = [this](const std::string& name, const std::string& file) {
    expect_done({"export", "--atlas", atlas, "--format", "png", "--layer", "plane", "--descriptor",
                 name, scratch_ / file});
    return read_file(scratch_ / file);
  };
  EXPECT_EQ(picture("heart attack", "a.png"), picture("Myocardial Infarction", "b.png"));
  expect_refused({"export", "--atlas", atlas, "--format", "png", "--layer", "plane", "--descriptor",
                  "Cancer", scratch_ / "c.png"},
                 1, "has no descriptor \"Cancer\"");
}

TEST_F(EntryWords, AreInTheStaticPageByTheirDescriptor) {
  expect_done({"export", "--atlas", atlas, "--format", "html", "--planes", "1", scratch_ / "page"});
  const auto taken = [this](const std::string& name) {
    const std::string text = read_file(scratch_ / ("page/data/" + name + ".js"));
    const std::string before = "api.take(\"" + name + "\", ";
    EXPECT_TRUE(text.starts_with(before));
    return Json::parse(text.substr(before.size(), text.rfind(')') - before.size()));
  };
  const Json names = taken("names");
  std::vector<std::string> lists;
  for (const Json& list : taken("entry_words")) {
    lists.push_back(names[list[0].get<std::size_t>()][1].get<std::string>() + ": " +
                    Json(list.begin() + 1, list.end()).dump());
  }
  EXPECT_EQ(lists,
            (std::vector<std::string>{R"(Hypertension: ["Blood Pressure, High","Cancer"])",
                                      R"(Myocardial Infarction: ["Heart Attack","Heart Attacks"])",
                                      R"(Neoplasms: ["Cancer"])"}));
}

TEST_F(EntryWords, AreReplacedByALaterTableAndGoOnWithALaterAtlas) {
  EXPECT_EQ(info("--store", store)["entry_words"], 6);
  EXPECT_EQ(info("--atlas", atlas)["entry_words"], 5);
  write_file(scratch_ / "later.xml", descriptor_xml({{"D009203", "Myocardial Infarction", {"MI"}},
                                                     {"D009369", "Neoplasms", {}}}));
  write_file(scratch_ / "later.tsv", "D006973\tHypertension\tC14.907.489\n");
  expect_done({"ingest", "--store", store, "--mesh", scratch_ / "later.xml", "--mesh",
               scratch_ / "later.tsv"});
  EXPECT_EQ(info("--store", store)["entry_words"], 4);
  expect_done({"train", "--store", store, "--from", atlas, "--atlas", scratch_ / "atlas2"});
  EXPECT_EQ(info("--atlas", scratch_ / "atlas2")["entry_words"], 3);
  for (const auto& [kind, path] :
       {std::pair<std::string, std::string>{"--store", store}, {"--atlas", scratch_ / "atlas2"}}) {
    EXPECT_EQ(run_somatlas({"verify", kind, path}).exit_code, 0);
  }
}

}  // namespace
}  // namespace somatlas::program_test
