#include "tests/program/sample_job.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>

namespace somatlas::program_test {

Ending expect_done(const std::vector<std::string>& arguments, const Surroundings& surroundings) {
  Ending ending = run_somatlas(arguments, surroundings);
  EXPECT_EQ(ending.exit_code, 0) << ending.err;
  return ending;
}

void expect_refused(const std::vector<std::string>& arguments, int exit_code,
                    const std::string& about) {
  std::string command;
  for (const std::string& argument : arguments) {
    command += " " + argument;
  }
  const Ending ending = run_somatlas(arguments);
  EXPECT_EQ(ending.exit_code, exit_code) << command;
  EXPECT_EQ(ending.out, "") << command;
  std::string sentence = ending.err;
  if (const std::string help = "Run with --help for more information.\n"; exit_code == 2) {
    EXPECT_TRUE(sentence.ends_with(help)) << command << '\n' << ending.err;
    sentence.resize(sentence.size() - std::min(help.size(), sentence.size()));
  }
  EXPECT_TRUE(sentence.starts_with("somatlas: ")) << command << '\n' << ending.err;
  EXPECT_TRUE(sentence.ends_with("\n")) << command << '\n' << ending.err;
  EXPECT_EQ(std::ranges::count(sentence, '\n'), 1) << command << '\n' << ending.err;
  EXPECT_NE(sentence.find(about), std::string::npos) << about << " is not in\n" << ending.err;
}

void ingest_sample(const std::string& store) {
  expect_done({"ingest", "--store", store, "--mesh", data("sample/descriptors.tsv.gz"),
               data("sample/baseline"), data("sample/updatefiles")});
}

std::vector<std::string> train_command(const std::string& store, const std::string& atlas) {
  return {"train", "--store", store, "--atlas", atlas, "--side", "12", "--device", "cpu"};
}

std::vector<std::vector<std::string>> table(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields{""};
    for (const char character : line) {
      if (character == '\t') {
        fields.emplace_back();
      } else {
        fields.back() += character;
      }
    }
    rows.push_back(std::move(fields));
  }
  return rows;
}

std::map<std::string, std::string> exported(const std::string& atlas, const std::string& folder) {
  expect_done({"export", "--atlas", atlas, "--format", "npy", folder});
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    files[entry.path().filename()] = read_file(entry.path());
  }
  return files;
}

std::map<std::string, std::string> content_of(const std::string& directory) {
  std::map<std::string, std::string> content;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    content[entry.path()] = entry.is_regular_file() ? read_file(entry.path()) : "";
  }
  return content;
}

void set_format(const std::string& directory, const std::string& format) {
  rocksdb::Options options;
  options.file_checksum_gen_factory = rocksdb::GetFileChecksumGenCrc32cFactory();
  std::vector<std::string> names;
  ASSERT_TRUE(rocksdb::DB::ListColumnFamilies(options, directory, &names).ok());
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) {
    families.emplace_back(name, rocksdb::ColumnFamilyOptions(options));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, directory, families, &handles, &opened).ok());
  const std::unique_ptr<rocksdb::DB> db(opened);
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    if (handle->GetName() == "meta") {
      EXPECT_TRUE(db->Put({}, handle, "format", format).ok());
      EXPECT_TRUE(db->Flush({}, handle).ok());
    }
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
  }
}

}  // namespace somatlas::program_test
