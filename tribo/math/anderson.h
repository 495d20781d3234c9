// Safeguarded Anderson acceleration (type II) of a fixed-point iteration x <- G(x).
//
// With residuals f_k = G(x_k) - x_k and the last m differences dF of f and dG of G(x):
//   gamma = argmin | f_k - dF gamma |,      x_{k+1} = G(x_k) - dG gamma      (Walker & Ni 2011, eq. 2.2).
// The least-squares problem is solved from the m x m Gram matrix dF^T dF, scaled to unit diagonal. A step
// replaces one column, so only one row of it is recomputed: 2m inner products and m vector updates of length
// n, and O(m^3) beside. Cholesky runs from the newest column to the oldest and stops at a column that is
// nearly in the span of the newer ones (the condition check); the rest, the oldest and least relevant, is
// left out.
//
// G may be nonsmooth (projections), so an extrapolated step may be bad. accept(|f|) compares the residual
// norm after an accelerated step with the norm before it and asks for the plain step when it grew by more
// than `reject_factor`.
//
// Example:
//   accelerator.reset(x.size(), 10);
//   for (int k = 0; k < 1000 && (g = G(x), f = (g - x).norm()) > tol; ++k) {
//     if (!accelerator.accept(f)) { x = plain; continue; }  // bad extrapolation: the step kept from before
//     plain = g;
//     accelerator.extrapolate(x, g, x);  // writes the next iterate; g itself while there is no history
//   }
#pragma once

#include <Eigen/Core>

#include "tribo/base/types.h"
#include "tribo/base/workers.h"

namespace tribo {

class AndersonAccelerator {
 public:
  static constexpr Index max_memory = 32;

  AndersonAccelerator() = default;
  AndersonAccelerator(Index size, Index memory) { reset(size, memory); }

  // Prepares for vectors of `size` entries and at most `memory` differences (1..max_memory; 5 to 10 is usual)
  // and forgets all history. Storage only grows: no allocation unless size or size * memory exceeds every
  // earlier reset. Throws std::invalid_argument on a negative size or a memory out of range.
  void reset(Index size, Index memory);

  // Forgets the history; call it whenever G itself changes (a new penalty parameter, for example).
  void clear();

  // Residual growth, dimensionless, beyond which accept() rejects an accelerated step. Nominal 1 to 10.
  void set_reject_factor(double factor) { reject_factor_ = factor; }

  // Threads for the long vectors, or null; must outlive their use. Sums are taken in chunks of fixed size, so
  // that the result does not depend on it.
  void set_workers(Workers* workers) { workers_ = workers; }

  // Judges the iterate produced by the last extrapolate() by the norm of its residual, in any fixed norm.
  // Returns false if that step was accelerated and the norm exceeds reject_factor times the norm before it
  // (or is not finite); the history is then cleared and the caller continues from the plain image it kept.
  bool accept(double residual_norm);

  // Takes the pair (x, g = G(x)) into the history and writes the next iterate. `out` may be x or g. Returns
  // true if the step is extrapolated, false if out = g.
  bool extrapolate(const Eigen::Ref<const Vector>& x, const Eigen::Ref<const Vector>& g,
                   Eigen::Ref<Vector> out);

  Index size() const { return size_; }
  Index memory() const { return memory_; }
  Index columns() const { return columns_; }  // differences held now

 private:
  using SmallMatrix = Eigen::Matrix<double, max_memory, max_memory>;
  using SmallVector = Eigen::Matrix<double, max_memory, 1>;
  using Column = Eigen::Map<Vector>;
  // Entries summed in one go: 2 memory + 4 pieces of this length stay in the cache.
  static constexpr Index kChunk = 1024;

  Index slot_of_age(Index age) const { return (newest_ - age + memory_) % memory_; }
  Column residual_difference(Index slot);
  Column image_difference(Index slot);
  void take_chunk(Index chunk, const double* x, const double* g, Index slot, Index columns);
  bool push_difference(Index slot, Index columns);
  template <class Body>
  void for_each_chunk(const Body& body);
  Index chunk_count() const { return (size_ + kChunk - 1) / kChunk; }
  Index solve_least_squares();

  Index size_ = 0;
  Index memory_ = 0;
  Index columns_ = 0;
  Index newest_ = -1;  // slot of the newest column; older ones precede it cyclically
  bool has_previous_ = false;
  bool accelerated_ = false;
  double reject_factor_ = 2.0;
  double norm_now_ = -1.0;     // last norm passed to accept(); negative: none yet
  double norm_before_ = -1.0;  // norm at the iterate the last extrapolation started from

  Vector residual_;          // f_k; between calls the previous one
  Vector image_;             // g_k
  Vector residual_columns_;  // memory columns of `size` entries, a ring of slots
  Vector image_columns_;
  Vector partial_;  // sums of every chunk
  Workers* workers_ = nullptr;
  SmallMatrix gram_;          // dF^T dF by slot
  SmallVector projected_;     // dF^T f_k by slot
  SmallVector coefficients_;  // gamma, newest first
};

}  // namespace tribo
