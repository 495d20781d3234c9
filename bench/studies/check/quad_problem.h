// A contact problem of an FCLIB file in 128-bit arithmetic (113 bits of mantissa), for checks that share nothing with the library
// but the reading of numbers from HDF5.
//
//   global:  M v = H r + G l + f,  u = H^T v + w,  G^T v + b = u_l (= 0)     W = [H G]^T M^-1 [H G],  q = [H G]^T M^-1 f + (w, b)
//   local:   u = W r + q
// Contacts are (n, t1, t2), or (n, t) in planar files. M falls apart into the blocks of its connected components (trees); each is
// factored densely, LU with pivoting. Cost: cube of the largest block.
#pragma once

#include <quadmath.h>

#include <filesystem>
#include <vector>

namespace tribo::check {

__extension__ typedef __float128 Real;
using Reals = std::vector<Real>;

inline Real magnitude(Real x) { return x < 0 ? -x : x; }
inline Real larger(Real a, Real b) { return a > b ? a : b; }
inline Real smaller(Real a, Real b) { return a < b ? a : b; }

// Dense LU with row exchanges of one block of M.
class Factor {
 public:
  explicit Factor(int n) : n_(n), a_(static_cast<std::size_t>(n) * n, 0), order_(n) {}
  int size() const { return n_; }
  void add(int row, int column, Real value) { at(row, column) += value; }
  void factorize();  // std::runtime_error for a singular block
  void solve(Reals& x) const;

 private:
  Real& at(int row, int column) { return a_[static_cast<std::size_t>(row) * n_ + column]; }
  const Real& at(int row, int column) const { return a_[static_cast<std::size_t>(row) * n_ + column]; }

  int n_;
  Reals a_;
  std::vector<int> order_;
};

struct Entry {
  int index;  // dof (global) or row (local)
  Real value;
};

class QuadProblem {
 public:
  // InvalidInput or std::runtime_error naming what this check does not know: rolling friction, V and R of local files, rows that
  // only tribo's own group can say (unilateral, box, compliance).
  explicit QuadProblem(const std::filesystem::path& file);

  int contact_count() const { return static_cast<int>(friction_.size()); }
  int dimension() const { return dimension_; }  // rows of a contact, 2 or 3
  int row_count() const { return static_cast<int>(q_.size()); }
  int bilateral_count() const { return row_count() - dimension_ * contact_count(); }
  bool is_local() const { return local_; }
  Real friction(int contact) const { return friction_[contact]; }
  const Reals& free_velocity() const { return q_; }  // q
  const Reals& bias() const { return bias_; }        // (w, b); local: q
  const Reals& diagonal() const { return diagonal_; }

  Reals velocity(const Reals& impulse) const;  // u = W r + q
  // Of the trees: sqrt(f . M^-1 f) of the one where it is largest; |M^-1 f|_inf. 0 in local files.
  Real root_energy() const { return root_energy_; }
  Real free_speed() const { return free_speed_; }

  // Sum over the trees of sqrt(x . M^-1 x) times `speeds` [trees], with x = [H G] y; local: sum_i |W^T y|_i speeds[i].
  Real resistance(const Reals& y, const Reals& speeds) const;
  int tree_count() const { return static_cast<int>(factors_.size()); }
  std::vector<int> trees_of_row(int row) const;
  Real tree_root_energy(int tree) const { return tree_root_energy_[tree]; }

 private:
  void read_global(const std::filesystem::path& file);
  void read_local(const std::filesystem::path& file);
  void make_blocks(int dofs, const std::vector<std::vector<Entry>>& mass);
  Reals solve(const Reals& x) const;       // M^-1 x
  Reals transposed(const Reals& y) const;  // [H G] y, [dofs]
  Real row_times(int row, const Reals& x) const;

  bool local_ = false;
  int dimension_ = 3;
  Reals friction_, bias_, q_, force_, diagonal_;
  std::vector<std::vector<Entry>> rows_;  // of [H G]^T, or of W
  std::vector<Factor> factors_;
  std::vector<int> block_, place_;  // [dofs]
  std::vector<std::vector<int>> dofs_of_block_;
  Reals tree_root_energy_;
  Real root_energy_ = 0, free_speed_ = 0;
};

}  // namespace tribo::check
