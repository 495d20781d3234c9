// Impulses of the last step by key, for warm starts: open addressing, grow-only, no order dependence.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "tribo/linalg/group_blocks.h"

namespace tribo {

class ImpulseMemory {
 public:
  // Forgets everything and makes room for so many keys.
  void reset(Index count) {
    const std::size_t wanted = std::bit_ceil(std::size_t{2} * static_cast<std::size_t>(count) + 8);
    if (wanted > slots_.size()) slots_.resize(wanted);
    for (Slot& slot : slots_) slot.used = false;
  }
  void store(std::uint64_t key, const RowValues& impulse) {
    std::size_t at = place(key);
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key, impulse, true};
  }
  // Zero where the key is not known.
  RowValues find(std::uint64_t key) const {
    if (slots_.empty()) return RowValues::Zero();
    for (std::size_t at = place(key); slots_[at].used; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].key == key) return slots_[at].impulse;
    }
    return RowValues::Zero();
  }
  // visit(key, impulse) of all that are known.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.used) visit(slot.key, slot.impulse);
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    RowValues impulse = RowValues::Zero();
    bool used = false;
  };
  std::size_t place(std::uint64_t key) const {
    return (key * 0x9e3779b97f4a7c15ULL >> 20) & (slots_.size() - 1);
  }
  std::vector<Slot> slots_;  // a power of two
};

}  // namespace tribo
