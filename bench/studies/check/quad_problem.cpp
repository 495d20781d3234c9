#include "studies/check/quad_problem.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "tribo/formats/hdf5_reader.h"

namespace tribo::check {

namespace {

using detail::Hdf5Reader;

struct Triplet {
  int row, column;
  double value;
};

// A matrix group: triplets (p is the column, i the row), compressed columns (nz = -1) or rows (nz = -2).
std::vector<Triplet> read_matrix(const Hdf5Reader& file, const std::string& name, int& m, int& n) {
  m = static_cast<int>(file.integer(name + "/m"));
  n = static_cast<int>(file.integer(name + "/n"));
  const auto nz = file.integer(name + "/nz");
  const auto p = file.integers(name + "/p"), i = file.integers(name + "/i");
  const auto x = file.reals(name + "/x");
  std::vector<Triplet> entries;
  const auto add = [&](std::int64_t row, std::int64_t column, double value) {
    if (row < 0 || row >= m || column < 0 || column >= n) file.fail(name, "has an index out of range");
    entries.push_back({static_cast<int>(row), static_cast<int>(column), value});
  };
  if (nz >= 0) {
    for (std::int64_t k = 0; k < nz; ++k) add(i.at(k), p.at(k), x[k]);
    return entries;
  }
  const int count = nz == -1 ? n : m;
  for (int c = 0; c < count; ++c) {
    for (std::int64_t k = p.at(c); k < p.at(c + 1); ++k) {
      nz == -1 ? add(i.at(k), c, x[k]) : add(c, i.at(k), x[k]);
    }
  }
  return entries;
}

Reals to_quad(const Vector& x) { return {x.begin(), x.end()}; }

void refuse_extra(const Hdf5Reader& file) {
  if (!file.has("/tribo")) return;
  for (const auto kind : file.integers("/tribo/kind")) {
    if (kind != 0 && kind != 2)
      throw std::runtime_error("unilateral and box rows are not known to this check");
  }
  const Vector compliance = file.reals("/tribo/compliance");
  if (!compliance.isZero(0.0)) throw std::runtime_error("compliance is not known to this check");
}

}  // namespace

void Factor::factorize() {
  std::iota(order_.begin(), order_.end(), 0);
  for (int k = 0; k < n_; ++k) {
    int pivot = k;
    for (int r = k + 1; r < n_; ++r) {
      if (magnitude(at(r, k)) > magnitude(at(pivot, k))) pivot = r;
    }
    if (at(pivot, k) == 0) throw std::runtime_error("a block of M is singular");
    if (pivot != k) {
      std::swap(order_[k], order_[pivot]);
      for (int c = 0; c < n_; ++c) std::swap(at(k, c), at(pivot, c));
    }
    for (int r = k + 1; r < n_; ++r) {
      if (at(r, k) == 0) continue;
      const Real factor = at(r, k) /= at(k, k);
      for (int c = k + 1; c < n_; ++c) at(r, c) -= factor * at(k, c);
    }
  }
}

void Factor::solve(Reals& x) const {
  Reals y(n_);
  for (int r = 0; r < n_; ++r) {
    y[r] = x[order_[r]];
    for (int c = 0; c < r; ++c) y[r] -= at(r, c) * y[c];
  }
  for (int r = n_ - 1; r >= 0; --r) {
    for (int c = r + 1; c < n_; ++c) y[r] -= at(r, c) * y[c];
    y[r] /= at(r, r);
  }
  x = std::move(y);
}

QuadProblem::QuadProblem(const std::filesystem::path& file) {
  const Hdf5Reader reader(file);
  refuse_extra(reader);
  if (reader.has("/fclib_global")) {
    read_global(file);
  } else if (reader.has("/fclib_local")) {
    read_local(file);
  } else {
    throw std::runtime_error("neither /fclib_global nor /fclib_local");
  }
}

void QuadProblem::make_blocks(int dofs, const std::vector<std::vector<Entry>>& mass) {
  std::vector<int> root(dofs);
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int k) {
    while (root[k] != k) k = root[k] = root[root[k]];
    return k;
  };
  for (int r = 0; r < dofs; ++r) {
    for (const Entry& e : mass[r]) {
      if (e.value != 0) root[find(r)] = find(e.index);
    }
  }
  std::vector<int> number(dofs, -1);
  block_.resize(dofs);
  place_.resize(dofs);
  for (int d = 0; d < dofs; ++d) {
    int& block = number[find(d)];
    if (block < 0) {
      block = static_cast<int>(dofs_of_block_.size());
      dofs_of_block_.emplace_back();
    }
    block_[d] = block;
    place_[d] = static_cast<int>(dofs_of_block_[block].size());
    dofs_of_block_[block].push_back(d);
  }
  for (const auto& members : dofs_of_block_) factors_.emplace_back(static_cast<int>(members.size()));
  for (int r = 0; r < dofs; ++r) {
    for (const Entry& e : mass[r]) {
      if (e.value != 0) factors_[block_[r]].add(place_[r], place_[e.index], e.value);
    }
  }
  for (Factor& factor : factors_) factor.factorize();
}

void QuadProblem::read_global(const std::filesystem::path& file) {
  const Hdf5Reader reader(file);
  const std::string top = "/fclib_global";
  dimension_ = static_cast<int>(reader.integer(top + "/spacedim"));
  int dofs = 0, other = 0, columns = 0;
  std::vector<std::vector<Entry>> mass;
  const auto triplets = read_matrix(reader, top + "/M", dofs, other);
  mass.resize(dofs);
  for (const Triplet& t : triplets) mass[t.row].push_back({t.column, t.value});
  make_blocks(dofs, mass);
  force_ = to_quad(reader.reals_of_size(top + "/vectors/f", dofs));
  friction_ = to_quad(reader.reals(top + "/vectors/mu"));
  bias_ = to_quad(reader.reals(top + "/vectors/w"));
  const auto add_rows = [&](const std::string& name) {
    const auto entries = read_matrix(reader, name, other, columns);
    const std::size_t first = rows_.size();
    rows_.resize(first + columns);
    for (const Triplet& t : entries) rows_[first + t.column].push_back({t.row, t.value});
  };
  add_rows(top + "/H");
  if (reader.has(top + "/G")) {
    add_rows(top + "/G");
    const Reals b = to_quad(reader.reals(top + "/vectors/b"));
    bias_.insert(bias_.end(), b.begin(), b.end());
  }
  if (rows_.size() != bias_.size()) throw std::runtime_error("H, G and w, b do not fit");
  const Reals v = solve(force_);
  for (const Real x : v) free_speed_ = larger(free_speed_, magnitude(x));
  for (const auto& members : dofs_of_block_) {
    Real energy = 0;
    for (const int d : members) energy += force_[d] * v[d];
    tree_root_energy_.push_back(sqrtq(larger(0, energy)));
    root_energy_ = larger(root_energy_, tree_root_energy_.back());
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    q_.push_back(bias_[r] + row_times(static_cast<int>(r), v));
    Real sum = 0;
    for (const int t : trees_of_row(static_cast<int>(r))) {
      Reals x(dofs_of_block_[t].size(), 0);
      for (const Entry& e : rows_[r]) {
        if (block_[e.index] == t) x[place_[e.index]] += e.value;
      }
      Reals y = x;
      factors_[t].solve(y);
      for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
    }
    diagonal_.push_back(sum);
  }
}

void QuadProblem::read_local(const std::filesystem::path& file) {
  const Hdf5Reader reader(file);
  const std::string top = "/fclib_local";
  local_ = true;
  if (reader.has(top + "/V")) throw std::runtime_error("V and R of local files are not known to this check");
  dimension_ = static_cast<int>(reader.integer(top + "/spacedim"));
  int m = 0, n = 0;
  const auto entries = read_matrix(reader, top + "/W", m, n);
  rows_.resize(m);
  diagonal_.assign(m, 0);
  for (const Triplet& t : entries) {
    rows_[t.row].push_back({t.column, t.value});
    if (t.row == t.column) diagonal_[t.row] += t.value;
  }
  friction_ = to_quad(reader.reals(top + "/vectors/mu"));
  q_ = bias_ = to_quad(reader.reals_of_size(top + "/vectors/q", m));
}

Reals QuadProblem::solve(const Reals& x) const {
  Reals result(x.size());
  for (std::size_t t = 0; t < factors_.size(); ++t) {
    Reals part;
    for (const int d : dofs_of_block_[t]) part.push_back(x[d]);
    factors_[t].solve(part);
    for (std::size_t k = 0; k < part.size(); ++k) result[dofs_of_block_[t][k]] = part[k];
  }
  return result;
}

Real QuadProblem::row_times(int row, const Reals& x) const {
  Real sum = 0;
  for (const Entry& e : rows_[row]) sum += e.value * x[e.index];
  return sum;
}

// [H G] y; local: W^T y.
Reals QuadProblem::transposed(const Reals& y) const {
  Reals x(local_ ? rows_.size() : block_.size(), 0);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (const Entry& e : rows_[r]) x[e.index] += e.value * y[r];
  }
  return x;
}

Reals QuadProblem::velocity(const Reals& impulse) const {
  Reals u = local_ ? q_ : bias_;
  Reals v = impulse;
  if (!local_) {
    v = transposed(impulse);
    for (std::size_t d = 0; d < v.size(); ++d) v[d] += force_[d];
    v = solve(v);
  }
  for (std::size_t r = 0; r < rows_.size(); ++r) u[r] += row_times(static_cast<int>(r), v);
  return u;
}

std::vector<int> QuadProblem::trees_of_row(int row) const {
  std::vector<int> trees;
  if (local_) return trees;
  for (const Entry& e : rows_[row]) trees.push_back(block_[e.index]);
  std::ranges::sort(trees);
  trees.erase(std::unique(trees.begin(), trees.end()), trees.end());
  return trees;
}

Real QuadProblem::resistance(const Reals& y, const Reals& speeds) const {
  const Reals x = transposed(y);
  Real sum = 0;
  if (local_) {
    for (std::size_t r = 0; r < x.size(); ++r) sum += magnitude(x[r]) * speeds[r];
    return sum;
  }
  const Reals z = solve(x);
  for (std::size_t t = 0; t < dofs_of_block_.size(); ++t) {
    Real energy = 0;
    for (const int d : dofs_of_block_[t]) energy += x[d] * z[d];
    sum += sqrtq(larger(0, energy)) * speeds[t];
  }
  return sum;
}

}  // namespace tribo::check
