#include "tribo/formats/file_trees.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

// A connected part of M of at least so many degrees of freedom of which at most this share of the entries is stored is a
// sparse tree: below, a dense block costs less than the detour.
constexpr Index kLeastSparse = 600;
constexpr double kSparseShare = 0.1;
// Other trees are stored dense: 200 MB each at the first limit, 2 GB together at the second.
constexpr Index kLargestTree = 5000;
constexpr double kLargestMass = 1 << 28;
// Relative asymmetry of M below this is rounding.
constexpr double kAsymmetry = 1e-12;

// Connected components of M's pattern; the label of a degree of freedom is the smallest one of its component.
std::vector<Index> component_labels(const SparseMatrix& mass) {
  std::vector<Index> parent(mass.rows);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](Index d) {
    while (parent[d] != d) d = parent[d] = parent[parent[d]];
    return d;
  };
  for (const ScalarTriplet& entry : mass.entries) {
    if (entry.value == 0.0) continue;
    const Index a = root(entry.row);
    const Index b = root(entry.col);
    parent[std::max(a, b)] = std::min(a, b);
  }
  std::vector<Index> label(mass.rows);
  for (Index d = 0; d < mass.rows; ++d) label[d] = root(d);
  return label;
}

// Labels by bodies of `size` consecutive degrees of freedom, if no component reaches beyond one.
void merge_into_bodies(std::vector<Index>& label, Index size) {
  const Index n = static_cast<Index>(label.size());
  if (n % size != 0) return;
  for (Index d = 0; d < n; ++d) {
    if (label[d] / size != d / size) return;
  }
  for (Index d = 0; d < n; ++d) label[d] = d - d % size;
}

Trees trees_from_labels(const std::vector<Index>& label) {
  const Index n = static_cast<Index>(label.size());
  Trees trees;
  trees.tree_of.resize(n);
  trees.position_of.resize(n);
  std::vector<Index> size;
  for (Index d = 0; d < n; ++d) {  // a label is the smallest member, so it is met first
    if (label[d] == d) {
      trees.tree_of[d] = static_cast<Index>(size.size());
      size.push_back(0);
    } else {
      trees.tree_of[d] = trees.tree_of[label[d]];
    }
    trees.position_of[d] = size[trees.tree_of[d]]++;
  }
  trees.start.push_back(0);
  for (const Index s : size) trees.start.push_back(trees.start.back() + s);
  return trees;
}

void find_sparse_trees(const PrimalParts& parts, Trees& trees) {
  trees.sparse.assign(trees.count(), false);
  for (const Index t : parts.sparse_trees) trees.sparse[t] = true;
  if (!parts.tree_sizes.empty()) return;
  std::vector<double> entries(trees.count(), 0.0);
  for (const ScalarTriplet& entry : parts.mass.entries) entries[trees.tree_of[entry.row]] += 1.0;
  for (Index t = 0; t < trees.count(); ++t) {
    const double size = trees.size(t);
    trees.sparse[t] = size >= kLeastSparse && entries[t] <= kSparseShare * size * size;
  }
}

[[noreturn]] void refuse_coupling(const ScalarTriplet& entry, const Trees& trees) {
  throw InvalidInput(
      fmt::format("the mass matrix M has an entry at ({}, {}), which joins the trees {} and {}", entry.row,
                  entry.col, trees.tree_of[entry.row], trees.tree_of[entry.col]));
}

Trees partition(const PrimalParts& parts) {
  if (parts.tree_sizes.empty()) {
    std::vector<Index> label = component_labels(parts.mass);
    merge_into_bodies(label, parts.body_size);
    return trees_from_labels(label);
  }
  const auto total = std::accumulate(parts.tree_sizes.begin(), parts.tree_sizes.end(), std::int64_t{0});
  if (total != parts.mass.rows || *std::min_element(parts.tree_sizes.begin(), parts.tree_sizes.end()) < 1) {
    throw InvalidInput(
        fmt::format("tree sizes must be positive and add up to the {} degrees of freedom, not {}",
                    parts.mass.rows, total));
  }
  std::vector<Index> label;
  label.reserve(parts.mass.rows);
  for (const Index size : parts.tree_sizes) label.insert(label.end(), size, static_cast<Index>(label.size()));
  return trees_from_labels(label);
}

}  // namespace

Trees find_trees(const PrimalParts& parts) {
  Trees trees = partition(parts);
  find_sparse_trees(parts, trees);
  return trees;
}

void check_size(const Trees& trees) {
  double entries = 0.0;
  for (Index t = 0; t < trees.count(); ++t) {
    if (trees.sparse[t]) continue;
    const double size = trees.size(t);
    entries += size * size;
    if (size > kLargestTree) {
      throw InvalidInput(fmt::format(
          "the mass matrix M couples {} degrees of freedom: connected parts of up to {} are supported", size,
          kLargestTree));
    }
  }
  if (entries > kLargestMass) {
    throw InvalidInput(fmt::format("the connected parts of the mass matrix M need {:.1f} GB as dense blocks",
                                   entries * sizeof(double) / 1e9));
  }
}

std::vector<Matrix> mass_blocks(const SparseMatrix& mass, const Trees& trees) {
  const Buckets buckets = sort_into(trees.count(), mass.entries.size(),
                                    [&](std::size_t k) { return trees.tree_of[mass.entries[k].row]; });
  std::vector<Matrix> blocks(trees.count());
  for (Index t = 0; t < trees.count(); ++t) {
    if (trees.sparse[t]) continue;
    blocks[t].setZero(trees.size(t), trees.size(t));
    for (std::size_t k = buckets.begin[t]; k < buckets.begin[t + 1]; ++k) {
      const ScalarTriplet& entry = mass.entries[buckets.order[k]];
      if (trees.tree_of[entry.col] == t) {
        blocks[t](trees.position_of[entry.row], trees.position_of[entry.col]) += entry.value;
      } else if (entry.value != 0.0) {
        refuse_coupling(entry, trees);
      }
    }
  }
  return blocks;
}

std::vector<Eigen::SparseMatrix<double>> sparse_blocks(const SparseMatrix& mass, Trees& trees) {
  std::vector<Eigen::SparseMatrix<double>> blocks(trees.count());
  std::vector<std::vector<Eigen::Triplet<double>>> entries(trees.count());
  for (const ScalarTriplet& entry : mass.entries) {
    const Index t = trees.tree_of[entry.row];
    if (!trees.sparse[t]) continue;
    if (trees.tree_of[entry.col] != t) {
      if (entry.value == 0.0) continue;
      refuse_coupling(entry, trees);
    }
    entries[t].emplace_back(trees.position_of[entry.row], trees.position_of[entry.col], entry.value);
  }
  for (Index t = 0; t < trees.count(); ++t) {
    if (!trees.sparse[t]) continue;
    Eigen::SparseMatrix<double>& block = blocks[t];
    block.resize(trees.size(t), trees.size(t));
    block.setFromTriplets(entries[t].begin(), entries[t].end());
    entries[t] = {};
    const Eigen::SparseMatrix<double> transposed = block.transpose();
    const Eigen::SparseMatrix<double> difference = block - transposed;
    const auto largest = [](const Eigen::SparseMatrix<double>& m) {
      return m.nonZeros() > 0 ? Eigen::Map<const Vector>(m.valuePtr(), m.nonZeros()).cwiseAbs().maxCoeff()
                              : 0.0;
    };
    if (largest(difference) > kAsymmetry * largest(block)) {
      trees.sparse[t] = false;
    } else if (largest(difference) > 0.0) {
      block = 0.5 * block + 0.5 * transposed;
    }
  }
  return blocks;
}

bool symmetrize(std::vector<Matrix>& blocks) {
  for (const Matrix& block : blocks) {
    if (block.size() == 0) continue;  // of a sparse tree
    const double difference = (block - block.transpose()).cwiseAbs().maxCoeff();
    if (difference > kAsymmetry * block.cwiseAbs().maxCoeff()) return false;
  }
  for (Matrix& block : blocks) {
    for (Index c = 0; c < block.cols(); ++c) {
      for (Index r = 0; r < c; ++r) {
        if (block(r, c) != block(c, r)) block(r, c) = block(c, r) = 0.5 * block(r, c) + 0.5 * block(c, r);
      }
    }
  }
  return true;
}

}  // namespace tribo::detail
