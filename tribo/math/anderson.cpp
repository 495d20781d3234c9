#include "tribo/math/anderson.h"

#include <cmath>
#include <stdexcept>
#include <string>

namespace tribo {

namespace {

// Squared sine of the angle between a column and the span of the newer ones below which it carries no new
// information: rounding in the Gram matrix is about 1e-16 of its diagonal, so pivots above this keep four
// correct digits of gamma.
constexpr double smallest_pivot = 1e-12;

void grow(Vector& storage, Eigen::Index entries) {
  if (storage.size() < entries) storage.resize(entries);
}

}  // namespace

void AndersonAccelerator::reset(Index size, Index memory) {
  if (size < 0) throw std::invalid_argument("AndersonAccelerator: size must not be negative");
  if (memory < 1 || memory > max_memory) {
    throw std::invalid_argument("AndersonAccelerator: memory must be in 1.." + std::to_string(max_memory));
  }
  size_ = size;
  memory_ = memory;
  grow(residual_, size);
  grow(image_, size);
  grow(residual_columns_, Eigen::Index{size} * memory);
  grow(image_columns_, Eigen::Index{size} * memory);
  clear();
}

void AndersonAccelerator::clear() {
  columns_ = 0;
  newest_ = -1;
  has_previous_ = false;
  accelerated_ = false;
  norm_now_ = -1.0;
  norm_before_ = -1.0;
}

bool AndersonAccelerator::accept(double residual_norm) {
  // Written so that a NaN rejects.
  if (accelerated_ && norm_before_ >= 0.0 && !(residual_norm <= reject_factor_ * norm_before_)) {
    clear();
    return false;
  }
  norm_now_ = residual_norm;
  return true;
}

AndersonAccelerator::Column AndersonAccelerator::residual_difference(Index slot) {
  return {residual_columns_.data() + Eigen::Index{slot} * size_, size_};
}

AndersonAccelerator::Column AndersonAccelerator::image_difference(Index slot) {
  return {image_columns_.data() + Eigen::Index{slot} * size_, size_};
}

// Takes the differences that extrapolate() wrote into the slot after the newest and computes their Gram row.
// Returns false if the residual did not change in a representable way; the slot then holds nothing, so the
// column it held is dropped.
bool AndersonAccelerator::push_difference() {
  const Index slot = (newest_ + 1) % memory_;
  const Column column = residual_difference(slot);
  const double squared = column.squaredNorm();
  if (!(squared > 0.0) || !std::isfinite(squared)) {
    if (columns_ == memory_) --columns_;
    return false;
  }
  newest_ = slot;
  if (columns_ < memory_) ++columns_;
  gram_(slot, slot) = squared;
  for (Index age = 1; age < columns_; ++age) {
    const Index other = slot_of_age(age);
    gram_(slot, other) = gram_(other, slot) = column.dot(residual_difference(other));
  }
  return true;
}

// Fills coefficients_ (newest first) and returns how many columns took part: Cholesky L L^T of the
// unit-diagonal Gram matrix in order of age, cut at the first small pivot, then the two triangular solves.
Index AndersonAccelerator::solve_least_squares() {
  SmallMatrix factor;
  SmallVector scale;
  Index rank = 0;
  for (; rank < columns_; ++rank) {
    const Index slot = slot_of_age(rank);
    scale[rank] = 1.0 / std::sqrt(gram_(slot, slot));
    double pivot = 1.0;
    for (Index j = 0; j < rank; ++j) {
      const Index other = slot_of_age(j);
      const double entry = gram_(slot, other) * scale[rank] * scale[j];
      factor(rank, j) = (entry - factor.row(rank).head(j).dot(factor.row(j).head(j))) / factor(j, j);
      pivot -= factor(rank, j) * factor(rank, j);
    }
    if (!(pivot > smallest_pivot)) break;
    factor(rank, rank) = std::sqrt(pivot);
    coefficients_[rank] = projected_[slot] * scale[rank];
  }
  for (Index i = 0; i < rank; ++i) {
    coefficients_[i] -= factor.row(i).head(i).dot(coefficients_.head(i));
    coefficients_[i] /= factor(i, i);
  }
  for (Index i = rank - 1; i >= 0; --i) {
    const Index after = rank - 1 - i;
    coefficients_[i] -= factor.col(i).segment(i + 1, after).dot(coefficients_.segment(i + 1, after));
    coefficients_[i] /= factor(i, i);
  }
  coefficients_.head(rank).array() *= scale.head(rank).array();
  return rank;
}

bool AndersonAccelerator::extrapolate(const Eigen::Ref<const Vector>& x, const Eigen::Ref<const Vector>& g,
                                      Eigen::Ref<Vector> out) {
  auto residual = residual_.head(size_);
  auto image = image_.head(size_);
  bool pushed = false;
  if (has_previous_) {
    const Index slot = (newest_ + 1) % memory_;
    residual_difference(slot) = (g - x) - residual;
    image_difference(slot) = g - image;
    pushed = push_difference();
  }
  residual = g - x;
  image = g;
  has_previous_ = true;
  accelerated_ = false;

  if (pushed) {
    for (Index age = 0; age < columns_; ++age) {
      const Index slot = slot_of_age(age);
      projected_[slot] = residual_difference(slot).dot(residual);
    }
    const Index rank = solve_least_squares();
    if (rank > 0 && coefficients_.head(rank).allFinite()) {
      out = image;
      for (Index age = 0; age < rank; ++age) {
        out -= coefficients_[age] * image_difference(slot_of_age(age));
      }
      accelerated_ = true;
      norm_before_ = norm_now_;
      return true;
    }
  }
  out = image;
  return false;
}

}  // namespace tribo
