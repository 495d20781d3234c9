#include "tribo/collide/broad/broad_grid.h"

#include <algorithm>

namespace tribo::detail {

void BroadGrid::build(std::span<const Aabb> bounds, std::span<const Index> members) {
  const std::size_t n = members.size();
  cell_ = 0.0;
  for (const Index i : members) cell_ = std::max(cell_, (bounds[i].upper - bounds[i].lower).maxCoeff());

  // A few centres tell where most boxes are, so that one that flew away does not stretch the grid.
  const std::size_t stride = std::max<std::size_t>(1, n / 128);
  double cells = 1.0;
  Vec3 width;
  for (int axis = 0; axis < 3; ++axis) {
    samples_.clear();
    for (std::size_t k = 0; k < n; k += stride)
      samples_.push_back(0.5 * (bounds[members[k]].lower[axis] + bounds[members[k]].upper[axis]));
    const auto trim = static_cast<std::ptrdiff_t>(samples_.size() / 40);
    const auto first = samples_.begin() + trim, last = samples_.end() - 1 - trim;
    std::nth_element(samples_.begin(), first, samples_.end());
    const double low = *first;
    std::nth_element(first, last, samples_.end());
    const double high = *last;
    const double room = 0.1 * (high - low) + cell_;
    origin_[axis] = low - room;
    width[axis] = high - low + 2.0 * room;
    cells *= width[axis] / cell_;
  }
  // At most about two cells per box; larger cells are always allowed.
  const double limit = 2.0 * static_cast<double>(n) + 64.0;
  const double coarsen = cells > limit ? std::cbrt(cells / limit) : 1.0;
  int total = 1;
  for (int axis = 0; axis < 3; ++axis) {
    count_[axis] = std::clamp(static_cast<int>(width[axis] / (cell_ * coarsen)), 1, 1024);
    inverse_[axis] = count_[axis] / width[axis];
    total *= count_[axis];
  }

  cell_of_.resize(n);
  starts_.assign(total + 1, 0);
  for (std::size_t k = 0; k < n; ++k) {
    const Aabb& box = bounds[members[k]];
    const Vec3 center = 0.5 * (box.lower + box.upper);
    cell_of_[k] = row(coordinate(center.y(), 1), coordinate(center.z(), 2)) + coordinate(center.x(), 0);
    ++starts_[cell_of_[k] + 1];
  }
  for (int c = 0; c < total; ++c) starts_[c + 1] += starts_[c];
  items_.resize(n);
  for (std::size_t k = n; k-- > 0;) {
    // Filled from the back: afterwards starts_[c + 1] is where cell c begins.
    const Index slot = --starts_[cell_of_[k] + 1];
    items_[slot] = {bounds[members[k]], members[k]};
  }
  for (int c = 0; c < total; ++c) starts_[c] = starts_[c + 1];
  starts_[total] = static_cast<Index>(n);
}

}  // namespace tribo::detail
