// Names of descriptors as people write them, what is proposed for one that is unknown, and how much
// is said of a wrong input.
#include "tools/lookup/descriptor_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tools/lookup/unknown_descriptors.h"

namespace somatlas::lookup {
namespace {

store::AtlasDescriptor descriptor(std::uint32_t number, const std::string& name,
                                  std::uint64_t articles = 1) {
  return {store::descriptor_code(number, 6), name, {}, articles};
}

const std::vector<store::AtlasDescriptor> mesh{descriptor(1, "Humans", 90),
                                               descriptor(2, "Neoplasms", 40),
                                               descriptor(3, "Diabetes Mellitus, Type 2", 20),
                                               descriptor(4, "Diabetes Mellitus", 5),
                                               descriptor(5, "Diabetes Mellitus, Type 1", 30),
                                               descriptor(6, "Aids"),
                                               descriptor(7, "AIDS"),
                                               descriptor(8, ""),
                                               descriptor(9, "Sj\xC3\xB6gren's Syndrome"),
                                               descriptor(10, "Humans")};

std::string found(const std::string& wanted) {
  const DescriptorNames names(mesh);
  const store::AtlasDescriptor* const descriptor = names.find(wanted);
  return descriptor == nullptr ? "-" : store::descriptor_ui(descriptor->code);
}

TEST(DescriptorNames, AreFoundWhateverTheirCaseAndTheBlanksAround) {
  for (const std::string wanted : {"Humans", "humans", "HUMANS", " \thuMans \r", "D000001"}) {
    EXPECT_EQ(found(wanted), "D000001") << wanted;
  }
  EXPECT_EQ(found("diabetes mellitus, TYPE 2"), "D000003");
  EXPECT_EQ(found("sj\xC3\xB6gren's syndrome"), "D000009");
  for (const std::string wanted : {"", " ", "Human", "D000099", "d000001", "Humans;"}) {
    EXPECT_EQ(found(wanted), "-") << wanted;
  }
}

TEST(DescriptorNames, ThatDifferInCaseAloneAreFoundOnlyExactly) {
  EXPECT_EQ(found("Aids"), "D000006");
  EXPECT_EQ(found("AIDS"), "D000007");
  EXPECT_EQ(found("aids"), "-");
}

TEST(DescriptorNames, AnEntryWordOfOneDescriptorLeadsToIt) {
  const auto words = [](std::uint32_t number, const std::vector<std::string>& of_one) {
    return store::EntryWords{store::descriptor_code(number, 6), of_one};
  };
  const DescriptorNames names(mesh, std::vector{words(1, {"Homo sapiens", "People", "Neoplasms"}),
                                                words(2, {"Cancer", "CANCER", "aids"}),
                                                words(4, {"people"}), words(99, {"Unknown Here"})});
  const auto found_by = [&](const std::string& wanted) {
    const store::AtlasDescriptor* const descriptor = names.find(wanted);
    return descriptor == nullptr ? "-" : store::descriptor_ui(descriptor->code);
  };
  EXPECT_EQ(found_by(" homo SAPIENS"), "D000001");
  EXPECT_EQ(found_by("cancer"), "D000002");
  EXPECT_EQ(found_by("neoplasms"), "D000002") << "a heading comes before an entry word";
  for (const std::string wanted : {"People", "unknown here", "aids", "Homo", ""}) {
    EXPECT_EQ(found_by(wanted), "-") << wanted;
  }
  EXPECT_EQ(names.find_heading("Cancer"), nullptr);
}

TEST(DescriptorNames, TheNearestIsProposed) {
  const DescriptorNames names(mesh);
  EXPECT_EQ(names.proposal("Neoplasm"), "; did you mean \"Neoplasms\"?");
  EXPECT_EQ(names.proposal("noeplasms "), "; did you mean \"Neoplasms\"?");
  EXPECT_EQ(names.proposal("type 2 diabetes mellitus"),
            "; did you mean \"Diabetes Mellitus, Type 2\"?");
  // One letter from two names: the one on more articles first.
  EXPECT_EQ(names.proposal("Diabetes Mellitus, Type 3"),
            "; did you mean \"Diabetes Mellitus, Type 1\" or \"Diabetes Mellitus, Type 2\"?");
  EXPECT_EQ(names.proposal("Humanz"), "; did you mean \"Humans\"?") << "each name once";
  EXPECT_EQ(names.proposal("diabetes"),
            "; did you mean \"Diabetes Mellitus\", \"Diabetes Mellitus, Type 2\" or \"Diabetes "
            "Mellitus, Type 1\"?");
  for (const std::string& wanted :
       {std::string("Martians"), std::string("D000099"), std::string(), std::string(" "),
        std::string(100'000, 'n'), std::string("\xFF\xFF\xFF\xFF")}) {
    EXPECT_EQ(names.proposal(wanted), "") << wanted.substr(0, 80);
  }
}

TEST(DescriptorNames, TheNearestByAnEntryWordIsProposedWithIt) {
  const auto code = [](std::uint32_t number) { return store::descriptor_code(number, 6); };
  const DescriptorNames names(
      mesh, std::vector<store::EntryWords>{{code(1), {"Homo sapiens", "Neoplasmz"}},
                                           {code(2), {" Tumor ", "Tumour", "People"}},
                                           {code(4), {"People"}},
                                           {code(99), {"Martian"}}});
  EXPECT_EQ(names.proposal("sapiens homos"),
            "; did you mean \"Humans\" (entry word \"Homo sapiens\")?");
  EXPECT_EQ(names.proposal("Tumr"), "; did you mean \"Neoplasms\" (entry word \"Tumor\")?");
  EXPECT_EQ(names.proposal("Neoplasm"),
            "; did you mean \"Neoplasms\" or \"Humans\" (entry word \"Neoplasmz\")?")
      << "a name before an entry word, though on fewer articles";
  EXPECT_EQ(names.proposal("people"),
            "; did you mean \"Neoplasms\" (entry word \"People\") or \"Diabetes Mellitus\" (entry "
            "word \"People\")?")
      << "of several descriptors, so of none";
  EXPECT_EQ(names.proposal("Martian"), "") << "of a descriptor that is not there";
}

TEST(UnknownDescriptors, AreNamedUpToTwentyTheMostFrequentFirst) {
  const DescriptorNames names(mesh);
  UnknownDescriptors unknown;
  EXPECT_TRUE(unknown.empty());
  EXPECT_TRUE(unknown.sentences(names).empty());
  for (int i = 10; i < 40; ++i) {
    unknown.add("Martian " + std::to_string(i));
  }
  unknown.add("Neoplasm");
  unknown.add("Neoplasm");
  const std::vector<std::string> texts = unknown.sentences(names);
  ASSERT_EQ(texts.size(), 21U);
  EXPECT_EQ(texts[0],
            "the atlas has no descriptor \"Neoplasm\": on 2 articles; did you mean \"Neoplasms\"?");
  EXPECT_EQ(texts[1], "the atlas has no descriptor \"Martian 10\": on 1 article");
  EXPECT_EQ(texts[19], "the atlas has no descriptor \"Martian 28\": on 1 article");
  EXPECT_EQ(texts[20], "and 11 further unknown descriptors");
  EXPECT_FALSE(unknown.empty());
}

TEST(UnknownDescriptors, SpellingsOfOneNameAreOne) {
  UnknownDescriptors unknown;
  for (const std::string name : {"Martians", "MARTIANS", "martians", " martians\t", "Martian"}) {
    unknown.add(name);
  }
  EXPECT_EQ(unknown.sentences(DescriptorNames(mesh)),
            (std::vector<std::string>{"the atlas has no descriptor \"Martians\": on 4 articles",
                                      "the atlas has no descriptor \"Martian\": on 1 article"}));
}

TEST(UnknownDescriptors, SayLittleHoweverMuchTheyAre) {
  const DescriptorNames names(mesh);
  UnknownDescriptors unknown;
  for (int i = 0; i < 30'000; ++i) {
    unknown.add("\x1B[2J\n" + std::string(500, 'x') + std::to_string(i));
  }
  const std::vector<std::string> texts = unknown.sentences(names);
  ASSERT_EQ(texts.size(), 21U);
  EXPECT_EQ(texts[0],
            "the atlas has no descriptor \" [2J " + std::string(75, 'x') + "...\": on 1 article");
  EXPECT_EQ(texts[20], "and more than 9980 further unknown descriptors");
}

TEST(UnknownDescriptors, LongNamesDifferByAllOfTheirLetters) {
  UnknownDescriptors unknown;
  const std::string begin(100'000, 'x');
  for (const char* const end : {"a", "b", "A", "b", "B"}) {
    unknown.add(begin + end);
  }
  const std::string shown = "the atlas has no descriptor \"" + std::string(80, 'x') + "...\": on ";
  EXPECT_EQ(unknown.sentences(DescriptorNames(mesh)),
            (std::vector<std::string>{shown + "3 articles", shown + "2 articles"}));
}

TEST(UnknownDescriptors, AreCutBetweenCharacters) {
  UnknownDescriptors unknown;
  unknown.add(std::string(79, 'x') + "\xC3\xB6yyy");
  EXPECT_EQ(unknown.sentences(DescriptorNames(mesh))[0],
            "the atlas has no descriptor \"" + std::string(79, 'x') + "...\": on 1 article");
}

TEST(UnknownDescriptors, SayTheLineOfTheFirst) {
  UnknownDescriptors unknown;
  unknown.add("Martians", 3);
  unknown.add("Neoplasm", 4);
  unknown.add("martians", 5);
  EXPECT_EQ(unknown.sentences(DescriptorNames(mesh)),
            (std::vector<std::string>{
                "the atlas has no descriptor \"Martians\": on 2 articles, first in line 3",
                "the atlas has no descriptor \"Neoplasm\": on 1 article, line 4; did you mean "
                "\"Neoplasms\"?"}));
}

}  // namespace
}  // namespace somatlas::lookup
