// Whether a limit on the process's addresses (ulimit -v) leaves enough for RocksDB to open a
// directory in. It makes its default options time and again while it does, though none of them is
// used, and goes through a null pointer where their cache gets no memory.
// Always holds: where there is no limit, nothing is asked.
#pragma once

namespace somatlas::store {

/// Throws std::bad_alloc where there is too little. threads: that RocksDB starts at the first
/// opening, for the life of the process.
void require_opening_room(int threads);

}  // namespace somatlas::store
