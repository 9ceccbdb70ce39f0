// Which chunks of the tree hold neurons.
#include "gpu/plane_tree.h"

namespace somatlas::gpu {

PlaneTree::PlaneTree(std::uint32_t side) : side_(side), across_((side + 15) / 16) {
  slot_.assign(chunks(), no_slot);
  for (std::size_t chunk = 0; chunk < chunks(); ++chunk) {
    const Corner first = corner(chunk);
    if (first.row < side_ && first.column < side_) {
      slot_[chunk] = static_cast<std::uint32_t>(filled_.size());
      filled_.push_back(static_cast<std::uint32_t>(chunk));
    }
  }
}

}  // namespace somatlas::gpu
