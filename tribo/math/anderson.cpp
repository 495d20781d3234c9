#include "tribo/math/anderson.h"

#include <algorithm>
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
  grow(partial_, Eigen::Index{2} * max_memory * chunk_count());
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

// Takes the pair (x, g) into residual_, image_ and, with `columns` > 0, into the differences of `slot`, and sums
// the products of that new column with all `columns` ones (itself first) and of those with the residual, over
// the entries of one chunk.
void AndersonAccelerator::take_chunk(Index chunk, const double* x, const double* g, Index slot,
                                     Index columns) {
  const Eigen::Index first = Eigen::Index{chunk} * kChunk;
  const Eigen::Index count = std::min<Eigen::Index>(kChunk, size_ - first);
  const Eigen::Map<const Vector> xs(x + first, count), gs(g + first, count);
  auto residual = residual_.segment(first, count);
  auto image = image_.segment(first, count);
  if (columns > 0) {
    residual_difference(slot).segment(first, count) = (gs - xs) - residual;
    image_difference(slot).segment(first, count) = gs - image;
  }
  residual = gs - xs;
  image = gs;
  double* sums = partial_.data() + std::size_t{2} * max_memory * chunk;
  const auto newest = residual_difference(slot).segment(first, count);
  for (Index age = 0; age < columns; ++age) {
    const auto column = residual_difference((slot - age + memory_) % memory_).segment(first, count);
    sums[2 * age] = newest.dot(column);
    sums[2 * age + 1] = column.dot(residual);
  }
}

// Adds up the chunks in their order, whoever computed them. Returns false if the residual did not change in a
// representable way; the slot then holds nothing, so the column it held is dropped.
bool AndersonAccelerator::push_difference(Index slot, Index columns) {
  SmallVector products = SmallVector::Zero(), projected = SmallVector::Zero();
  for (Index chunk = 0; chunk < chunk_count(); ++chunk) {
    const double* sums = partial_.data() + std::size_t{2} * max_memory * chunk;
    for (Index age = 0; age < columns; ++age) {
      products[age] += sums[2 * age];
      projected[age] += sums[2 * age + 1];
    }
  }
  if (!(products[0] > 0.0) || !std::isfinite(products[0])) {
    if (columns_ == memory_) --columns_;
    return false;
  }
  newest_ = slot;
  columns_ = columns;
  for (Index age = 0; age < columns_; ++age) {
    const Index other = slot_of_age(age);
    gram_(slot, other) = gram_(other, slot) = products[age];
    projected_[other] = projected[age];
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

template <class Body>
void AndersonAccelerator::for_each_chunk(const Body& body) {
  if (workers_ != nullptr) {
    workers_->run(chunk_count(), [&](Index chunk, Index) { body(chunk); });
  } else {
    for (Index chunk = 0; chunk < chunk_count(); ++chunk) body(chunk);
  }
}

bool AndersonAccelerator::extrapolate(const Eigen::Ref<const Vector>& x, const Eigen::Ref<const Vector>& g,
                                      Eigen::Ref<Vector> out) {
  const Index slot = (newest_ + 1) % memory_;
  const Index columns = has_previous_ ? std::min(columns_ + 1, memory_) : 0;
  for_each_chunk([&](Index chunk) { take_chunk(chunk, x.data(), g.data(), slot, columns); });
  has_previous_ = true;
  accelerated_ = false;
  Index rank = 0;
  if (columns > 0 && push_difference(slot, columns)) {
    rank = solve_least_squares();
    if (!coefficients_.head(rank).allFinite()) rank = 0;
  }
  for_each_chunk([&](Index chunk) {
    const Eigen::Index first = Eigen::Index{chunk} * kChunk;
    const Eigen::Index count = std::min<Eigen::Index>(kChunk, size_ - first);
    auto part = out.segment(first, count);
    part = image_.segment(first, count);
    for (Index age = 0; age < rank; ++age) {
      part -= coefficients_[age] * image_difference(slot_of_age(age)).segment(first, count);
    }
  });
  if (rank == 0) return false;
  accelerated_ = true;
  norm_before_ = norm_now_;
  return true;
}

}  // namespace tribo
