// Whether oneTBB can have its workers. They start one another, and one that cannot be made then
// ends the process: so threads are asked for before, where it can be told.
#pragma once

#include <cstddef>

namespace somatlas::pipeline {

/// Throws std::system_error or std::bad_alloc where limits on processes or memory do not let this
/// process have so many threads at once, itself included; 0: as many as oneTBB may have.
void require_threads(std::size_t count);

}  // namespace somatlas::pipeline
