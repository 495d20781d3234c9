// Products of blocks of six by six, those of free bodies, in registers. Six rows fill neither a register of four nor
// one of eight: four and two leave no lane empty, on every processor. Products are summed before they are added to
// anything: in the other order the rounding errors of a symmetric stack are not symmetric, and it tips over in time.
//
//   Columns6 product;
//   product.set<6>(left, [&](int column, int k) { return right[column + 6 * k]; });  // left right^T
//   product.subtract_from(target, stride);
#pragma once

#include <cstddef>

namespace tribo {

class Columns6 {
 public:
  // Column c: the sum over k of factor(c, k) times column k of `left`, six numbers each.
  template <int kTerms, class Factor>
  [[gnu::always_inline]] void set(const double* left, const Factor& factor) {
    for (int k = 0; k < kTerms; ++k) {
      const Four four = *reinterpret_cast<const Four*>(left + 6 * k);
      const Two two = *reinterpret_cast<const Two*>(left + 6 * k + 4);
      for (int c = 0; c < 6; ++c) {
        four_[c] = k == 0 ? four * factor(c, k) : four_[c] + four * factor(c, k);
        two_[c] = k == 0 ? two * factor(c, k) : two_[c] + two * factor(c, k);
      }
    }
  }
  // To columns that lie `stride` numbers apart.
  [[gnu::always_inline]] void store(double* to, std::size_t stride) const {
    for (int c = 0; c < 6; ++c, to += stride) {
      *reinterpret_cast<Four*>(to) = four_[c];
      *reinterpret_cast<Two*>(to + 4) = two_[c];
    }
  }
  [[gnu::always_inline]] void add_to(double* to, std::size_t stride) const {
    for (int c = 0; c < 6; ++c, to += stride) {
      *reinterpret_cast<Four*>(to) += four_[c];
      *reinterpret_cast<Two*>(to + 4) += two_[c];
    }
  }
  [[gnu::always_inline]] void subtract_from(double* to, std::size_t stride) const {
    for (int c = 0; c < 6; ++c, to += stride) {
      *reinterpret_cast<Four*>(to) -= four_[c];
      *reinterpret_cast<Two*>(to + 4) -= two_[c];
    }
  }

 private:
  using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
  using Two = double __attribute__((vector_size(16), aligned(8), may_alias));

  Four four_[6];
  Two two_[6];
};

}  // namespace tribo
