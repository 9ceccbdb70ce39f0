// The test program as its own child: a process that can be killed at any moment.
// Always holds: the child is a fresh program, so no thread or lock of the parent is copied into it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace somatlas::store {

/// Argument that makes main() commit the seed's files to a store: then directory, seed, file count.
inline constexpr const char* commit_files_argument = "--commit-files";

/// Commits what the store lacks of the seed's files, compacts now and then, and says each number on
/// standard output as soon as its commit returned. Returns the exit code: 3, with the message,
/// where the store cannot be opened.
int commit_files(const std::string& directory, unsigned long long seed, unsigned long long count);

/// Argument that makes main() change bytes of table files: then directory, seed, values a byte.
inline constexpr const char* read_changed_tables_argument = "--read-changed-tables";

/// Changes every byte of each file of the directory, one after the other, to so many other values,
/// and reads it through RocksDB each time. Says each change before it is made, and where what was
/// read then is another thing.
int read_changed_tables(const std::string& directory, unsigned long long seed,
                        unsigned long long values);

struct ChildProcess {
  pid_t id = -1;
  int output = -1;  // the read end of its standard output
};
/// Starts this program again with other arguments.
[[nodiscard]] ChildProcess start_child(const std::vector<std::string>& arguments);
/// All that the child still says, until it is gone.
[[nodiscard]] std::string drain(ChildProcess& child);

}  // namespace somatlas::store
