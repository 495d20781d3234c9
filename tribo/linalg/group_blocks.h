// One square matrix per group of rows (per constraint): derivatives of the laws, diagonal blocks of Newton matrices.
//
// Groups have 1, 3, 4 or 6 rows. Matrices of up to three rows lie in an array of Mat3, one per group (a scalar row uses
// the first entry); those of larger groups lie in an array of their own, so that problems without such groups pay nothing.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

#include "tribo/base/types.h"

namespace tribo {

// The numbers of rows that a group can have: those after the first are of cones.
inline constexpr std::array<Index, 4> kRowCounts{1, 3, 4, 6};
inline constexpr Index kMostRows = kRowCounts.back();
// Place of a number of rows among them; their count if it is none of them.
constexpr std::size_t row_count_place(Index rows) {
  std::size_t place = 0;
  while (place < kRowCounts.size() && kRowCounts[place] != rows) ++place;
  return place;
}
constexpr bool is_cone_size(Index rows) { return rows > 1 && row_count_place(rows) < kRowCounts.size(); }

// Calls action(std::integral_constant<int, rows>).
template <class Action>
[[gnu::always_inline]] inline decltype(auto) with_rows(Index rows, Action&& action) {
  if (rows == 3) [[likely]]
    return action(std::integral_constant<int, 3>());
  if (rows == 1) return action(std::integral_constant<int, 1>());
  if (rows == 4) return action(std::integral_constant<int, 4>());
  assert(rows == 6);
  return action(std::integral_constant<int, 6>());
}
using RowValues = VecN<kMostRows>;  // a number per row of any group, the first ones used

class GroupBlocks {
 public:
  GroupBlocks() = default;
  explicit GroupBlocks(Index groups) : small_(static_cast<std::size_t>(groups)) {}  // of at most three rows
  GroupBlocks(std::initializer_list<Mat3> blocks) : small_(blocks) {}

  // Place for every group of a BlockJacobian or a BlockMatrix; the numbers are whatever lay there. Keeps its memory.
  template <class Groups>
  void resize(const Groups& groups) {
    const Index count = groups.group_count();
    small_.resize(static_cast<std::size_t>(count));
    large_of_.clear();
    if (groups.most_rows() <= 3) return;
    large_of_.resize(static_cast<std::size_t>(count), -1);
    Index large = 0;
    for (Index g = 0; g < count; ++g) large_of_[g] = groups.rows(g) > 3 ? large++ : -1;
    large_.resize(static_cast<std::size_t>(large) * kLargeSize);
  }

  void reserve(Index groups) { small_.reserve(static_cast<std::size_t>(groups)); }
  Index size() const { return static_cast<Index>(small_.size()); }
  // Of a group of at most three rows.
  Mat3& operator[](Index g) { return small_[g]; }
  const Mat3& operator[](Index g) const { return small_[g]; }

  // Of a group of N rows.
  template <int N>
  decltype(auto) at(Index g) {
    if constexpr (N == 3) {
      return (small_[g]);
    } else {
      return Eigen::Map<MatN<N>>(data<N>(g));
    }
  }
  template <int N>
  decltype(auto) at(Index g) const {
    if constexpr (N == 3) {
      return (small_[g]);
    } else {
      return Eigen::Map<const MatN<N>>(const_cast<GroupBlocks*>(this)->data<N>(g));
    }
  }
  // The same, `rows` by `rows`, where the size is not worth a template.
  Eigen::Map<const Matrix> block(Index g, Index rows) const {
    return {rows > 3 ? large_.data() + kLargeSize * large_of_[g] : small_[g].data(), rows, rows};
  }

 private:
  static constexpr std::size_t kLargeSize = static_cast<std::size_t>(kMostRows) * kMostRows;

  template <int N>
  double* data(Index g) {
    if constexpr (N > 3) {
      return large_.data() + kLargeSize * large_of_[g];
    } else {
      return small_[g].data();
    }
  }

  std::vector<Mat3> small_;
  Numbers large_;
  std::vector<Index> large_of_;  // [groups], or empty where there are none: place among the larger ones, -1
};

// y = B x group by group; y may be x.
template <class Groups>
void multiply_blocks(const Groups& groups, const GroupBlocks& blocks, const Vector& x, Vector& y) {
  for (Index g = 0; g < groups.group_count(); ++g) {
    with_rows(groups.rows(g), [&](auto rows) {
      constexpr int n = rows();
      const VecN<n> part = x.segment<n>(groups.row_start(g));
      y.segment<n>(groups.row_start(g)).noalias() = blocks.at<n>(g) * part;
    });
  }
}

}  // namespace tribo
