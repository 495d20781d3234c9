#include "tribo/problem/warm_start.h"

#include <algorithm>

namespace tribo {

void WarmStart::store(const ContactProblem& problem, const Vector& impulse) {
  entries_.resize(problem.constraint_count());
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    Vec3 value = Vec3::Zero();
    value.head(problem.rows(i)) = impulse.segment(problem.row(i), problem.rows(i));
    entries_[i] = {problem.key(i), problem.kind(i), value};
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

Index WarmStart::impulse_for(const ContactProblem& problem, Vector& impulse) const {
  impulse.setZero(problem.row_count());
  Index matched = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const auto found =
        std::lower_bound(entries_.begin(), entries_.end(), problem.key(i),
                         [](const Entry& entry, std::uint64_t key) { return entry.key < key; });
    if (found == entries_.end() || found->key != problem.key(i) || found->kind != problem.kind(i)) continue;
    impulse.segment(problem.row(i), problem.rows(i)) = found->impulse.head(problem.rows(i));
    ++matched;
  }
  return matched;
}

}  // namespace tribo
