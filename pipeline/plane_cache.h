// Planes of an atlas in a codebook of the CPU search: those that articles asked for, kept while
// there is room. Always holds: what is held is as the atlas has it; a plane is read when it is
// first asked for and not before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "gpu/cpu_codebook.h"
#include "store/atlas.h"

namespace somatlas::pipeline {

class PlaneCache {
 public:
  /// For a map of side x side neurons whose norms and vacancies are those of cells, with so many
  /// planes in all; bytes bounds those held, also while it grows, but for those of one call of
  /// hold().
  PlaneCache(store::Atlas& atlas, const store::AtlasCells& cells, std::uint32_t side,
             std::size_t planes, std::size_t bytes);

  /// How many of the planes bytes has room for, at least one.
  [[nodiscard]] std::size_t room() const { return room_; }
  /// The planes' numbers in codebook(), in the order of these codes, which are distinct; reads what
  /// is not held, and gives up the planes asked for longest ago where room is short. Numbers of
  /// earlier calls are void. Throws store::StoreError where the atlas lacks a plane or cannot read
  /// it.
  [[nodiscard]] std::vector<gpu::DescriptorId> hold(std::span<const store::DescriptorCode> codes);
  [[nodiscard]] const gpu::CpuCodebook& codebook() const { return *codebook_; }

 private:
  struct Held {
    store::DescriptorCode code = 0;
    std::uint64_t asked_for = 0;  // the call; 0: the number is free
  };

  [[nodiscard]] std::vector<store::DescriptorCode> missing_of(
      std::span<const store::DescriptorCode> codes);
  void grow(std::size_t wanted, std::size_t least);
  void make(std::size_t planes);
  void give_up(std::size_t planes);
  void read(gpu::DescriptorId number, store::DescriptorCode code);

  store::Atlas& atlas_;
  const store::AtlasCells& cells_;
  std::uint32_t side_;
  std::size_t room_;
  std::uint64_t calls_ = 0;
  std::unique_ptr<gpu::CpuCodebook> codebook_;
  std::vector<Held> held_;               // by number
  std::vector<gpu::DescriptorId> free_;  // numbers that hold nothing
  std::unordered_map<store::DescriptorCode, gpu::DescriptorId> number_;
};

}  // namespace somatlas::pipeline
