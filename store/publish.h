// A directory takes its final name in one step, or not at all; and goes away with all it holds.
// Always holds: what is published was synced first; without overwrite nothing that exists is
// touched; what was replaced or is partly removed says so until it is gone.
#pragma once

#include <string>

namespace somatlas::store {

/// Syncs everything in partial, gives it the name target atomically and syncs target's parent.
/// overwrite: target, where it exists, is exchanged for partial and then removed. Both lie in one
/// file system. Throws StoreError: target exists and overwrite is false, or the system refuses.
void publish_directory(const std::string& partial, const std::string& target, bool overwrite);

/// Removes a directory and all it holds, following no link; nothing happens where there is none.
/// Throws StoreError.
void remove_directory(const std::string& path);

/// Removes what killed processes began under names of the form prefix, process id, `-`, and digits
/// of either kind; what cannot be removed stays.
void clear_unfinished(const std::string& prefix);

/// Whether a directory is what an interrupted remove_directory() left there, or what an interrupted
/// publish_directory() put there in exchange: its removal is to be finished.
[[nodiscard]] bool is_discarded(const std::string& partial);

/// A name beside or inside a directory that no other process or call uses: prefix, process id and
/// 64 random bits.
[[nodiscard]] std::string unique_name(const std::string& prefix);

}  // namespace somatlas::store
