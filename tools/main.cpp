// somatlas: parses the command line, runs one subcommand, and says in one sentence what went wrong.
// Always holds: exit code 0 done, 1 failed, 2 wrong arguments, 128 + signal after a signal; every
// exception ends here; a reader of standard output that went away ends the program without a word.
#include <signal.h>

#include <cerrno>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/address_space.h"
#include "tools/command.h"

namespace {

using somatlas::tools::Session;
using somatlas::tools::Signals;

/// What was given that the program has not, in one sentence; empty where there is no such thing.
/// Asked for after a parse that failed, since a mistyped option is missing under its right name
/// too.
std::string not_understood(const CLI::App& program) {
  const std::vector<std::string> left = program.remaining(true);
  if (left.empty()) {
    return "";
  }
  const std::string& word = left.front();
  std::string called;
  const CLI::App* innermost = &program;
  for (auto parsed = program.get_subcommands(); !parsed.empty();
       parsed = innermost->get_subcommands()) {
    innermost = parsed.front();
    called += (called.empty() ? "" : " ") + innermost->get_name();
  }
  const std::string has_no = called.empty() ? "there is no " : called + " has no ";
  if (word.starts_with('-')) {
    return has_no + "option " + word;
  }
  std::string subcommands;
  for (const CLI::App* command : innermost->get_subcommands({})) {
    subcommands += (subcommands.empty() ? "" : ", ") + command->get_name();
  }
  return subcommands.empty() ? called + " does not take '" + word + "'"
                             : has_no + "subcommand '" + word + "': give one of " + subcommands;
}

int run(int argc, char** argv, Signals& signals) {
  CLI::App program(
      "Turns MEDLINE into an atlas: takes citations into a store, trains a large self-organizing "
      "map on their MeSH descriptors, and finds articles on it.",
      "somatlas");
  program.set_version_flag("--version", "somatlas " SOMATLAS_VERSION);
  program.require_subcommand(0, 1);
  program.callback([&program] {
    if (program.get_subcommands().empty()) {
      throw CLI::RequiredError("A subcommand");
    }
  });
  program.failure_message(CLI::FailureMessage::simple);
  std::vector<std::pair<CLI::App*, somatlas::tools::Run>> commands;
  for (const somatlas::tools::Registration& entry : somatlas::tools::registrations()) {
    CLI::App* command = program.add_subcommand(entry.name, entry.summary);
    commands.emplace_back(command, entry.define(*command));
  }

  Session session(signals);
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = program.exit(error, out, err);
    session.out() << out.str();
    session.out().flush();
    if (code == 0) {
      return somatlas::tools::exit_done;
    }
    const bool may_be_mistyped = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr ||
                                 dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
    const std::string mistyped = may_be_mistyped ? not_understood(program) : "";
    std::cerr << "somatlas: "
              << (mistyped.empty() ? err.str()
                                   : mistyped + "\nRun with --help for more information.\n");
    return somatlas::tools::exit_wrong_arguments;
  }
  for (const auto& [command, work] : commands) {
    if (command->parsed()) {
      const int code = work(session);
      session.out().flush();
      return code;
    }
  }
  return somatlas::tools::exit_wrong_arguments;
}

/// What is thrown where no thread can be made has no sentence of its own.
std::string sentence_of(const std::exception& error) {
  const std::string what = error.what();
  return what.ends_with(std::generic_category().message(EAGAIN))
             ? "a thread cannot be made (" + what +
                   "): raise the limits on processes and memory (ulimit -u, ulimit -v), then run "
                   "the same command again"
             : what;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    somatlas::tools::bound_malloc_arenas();
    Signals signals;
    const int code = run(argc, argv, signals);
    return signals.exit_code() != 0 ? signals.exit_code() : code;
  } catch (const somatlas::tools::OutputClosed&) {
    // As a program that knows nothing of SIGPIPE would end, with everything put away before.
    ::signal(SIGPIPE, SIG_DFL);
    ::raise(SIGPIPE);
    return 128 + SIGPIPE;  // where the signal is blocked
  } catch (const std::bad_alloc&) {
    std::cerr
        << "somatlas: there is not enough memory: free some, or raise the limit on it (ulimit "
           "-v), then run the same command again\n";
  } catch (const std::exception& error) {
    std::cerr << "somatlas: " << sentence_of(error) << '\n';
  } catch (...) {
    std::cerr << "somatlas: an error of unknown kind\n";
  }
  return somatlas::tools::exit_failed;
}
