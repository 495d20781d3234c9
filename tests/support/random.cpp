#include "tests/support/random.h"

namespace tribo::test {

Vector Random::vector(Index size) {
  Vector v(size);
  for (Index i = 0; i < size; ++i) v[i] = uniform();
  return v;
}

Matrix Random::matrix(Index rows, Index columns) {
  Matrix m(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) m(i, j) = uniform();
  }
  return m;
}

Matrix random_spd(Random& random, Index size) {
  const Matrix a = random.matrix(size, size);
  const Matrix spd = a * a.transpose() + static_cast<double>(size) * Matrix::Identity(size, size);
  return 0.5 * (spd + spd.transpose());
}

}  // namespace tribo::test
