// What info says of a store, for people or as JSON. Always holds: JSON only ever gains keys.
#pragma once

#include "store/store.h"
#include "tools/output.h"

namespace somatlas::tools {

void print_store(store::Store& store, bool json, Output& out);
/// The ledger: a line a file, in the order in which files count.
void print_files(store::Store& store, bool json, Output& out);
/// Every descriptor that an article has, most frequent first: a line each.
void print_frequencies(store::Store& store, bool json, Output& out);

}  // namespace somatlas::tools
