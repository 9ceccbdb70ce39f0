// The steps of the main job on the sample that several tests take, and what is asked of every
// refusal: one line, one sentence, one exit code.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/program/running_program.h"

namespace somatlas::program_test {

/// Runs the program and expects exit code 0.
Ending expect_done(const std::vector<std::string>& arguments,
                   const Surroundings& surroundings = {});

/// Runs the program and expects that exit code, nothing on standard output, and on standard error
/// one line with `about` in it; behind that of wrong arguments the line that points to --help.
void expect_refused(const std::vector<std::string>& arguments, int exit_code,
                    const std::string& about);

/// The sample's baseline and updates, with its MeSH table.
void ingest_sample(const std::string& store);

/// Trains on the CPU at side 12.
[[nodiscard]] std::vector<std::string> train_command(const std::string& store,
                                                     const std::string& atlas);

/// Lines and their fields, split at tabs.
[[nodiscard]] std::vector<std::vector<std::string>> table(const std::string& text);

/// All files that an atlas exports to, by name: equal atlases export equal files.
[[nodiscard]] std::map<std::string, std::string> exported(const std::string& atlas,
                                                          const std::string& folder);

/// Every file in a directory and below it, by name, to see whether anything changed.
[[nodiscard]] std::map<std::string, std::string> content_of(const std::string& directory);

/// Gives a store or an atlas another format number, as another version of the program would.
void set_format(const std::string& directory, const std::string& format);

}  // namespace somatlas::program_test
