// The program under a limit on its address space (ulimit -v): too little is said before anything
// begins, and malloc does not spread over what there is.
// Always holds: where there is no limit, nothing is changed.
#pragma once

namespace somatlas::tools {

/// Lets malloc have one arena for each 512 MiB of the limit: an arena takes 64 MiB of addresses,
/// used or not, and by itself there would be eight a core.
void bound_malloc_arenas();

}  // namespace somatlas::tools
