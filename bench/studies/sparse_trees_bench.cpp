// tribo_bench_sparse_trees SIDE TOUCHED [SOLVER ...]: a cube of SIDE^3 nodes as one sparse tree, A = M + h^2 K with springs along
// the edges of its tetrahedra (six per cell), lying with TOUCHED nodes of one face on the ground; processor time and memory of
// every part, whole and per degree of freedom.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tribo/problem/certificate.h"
#include "tribo/problem/problem_filler.h"
#include "tribo/problem/sparse_trees.h"
#include "tribo/solve/catalogue.h"

namespace {

using namespace tribo;

// Of the processor; everything here runs on one thread.
double seconds(const std::function<void()>& action) {
  const std::clock_t begin = std::clock();
  action();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

struct Lower {
  std::vector<Index> start, row;
  std::vector<double> value;
  LowerColumns columns() const { return {static_cast<Index>(start.size()) - 1, start, row, value}; }
};

// Nodes in the order of their number (x * side + y) * side + z; a node is coupled to those one step further in some of x,
// y, z. `stiffness`: h^2 K relative to M.
Lower cube(Index side, double stiffness, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  const Index nodes = side * side * side;
  std::vector<Mat3> diagonal(nodes, Mat3::Identity());
  std::vector<std::vector<std::pair<Index, Mat3>>> below(nodes);
  for (Index x = 0; x < side; ++x) {
    for (Index y = 0; y < side; ++y) {
      for (Index z = 0; z < side; ++z) {
        for (int step = 1; step < 8; ++step) {
          const Index a = x + (step & 1), b = y + (step >> 1 & 1), c = z + (step >> 2 & 1);
          if (a >= side || b >= side || c >= side) continue;
          const Index p = (x * side + y) * side + z, q = (a * side + b) * side + c;
          const Vec3 e = Vec3(normal(engine), normal(engine), normal(engine)).normalized();
          const Mat3 spring = stiffness * (0.3 * Mat3::Identity() + e * e.transpose());
          diagonal[p] += spring;
          diagonal[q] += spring;
          below[p].emplace_back(q, -spring);
        }
      }
    }
  }
  Lower out;
  out.start.push_back(0);
  for (Index p = 0; p < nodes; ++p) {
    std::sort(below[p].begin(), below[p].end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (Index c = 0; c < 3; ++c) {
      for (Index r = c; r < 3; ++r) {
        out.row.push_back(3 * p + r);
        out.value.push_back(diagonal[p](r, c));
      }
      for (const auto& [q, block] : below[p]) {
        for (Index r = 0; r < 3; ++r) {
          out.row.push_back(3 * q + r);
          out.value.push_back(block(r, c));
        }
      }
      out.start.push_back(static_cast<Index>(out.row.size()));
    }
  }
  return out;
}

bool fill(ProblemFiller& filler, ContactProblem& problem, const std::shared_ptr<SparseFactor>& mass,
          Index side, Index touched) {
  const Index dofs = mass->size();
  Vector velocity(dofs), momentum(dofs);
  for (Index k = 0; k < dofs; k += 3) velocity.segment<3>(k) = Vec3(0.3, 0.0, -1.0);
  mass->multiply(velocity.data(), momentum.data());
  filler.begin(problem, touched);
  const Index tree = filler.add_sparse_tree(mass, momentum.data());
  const Mat3 block = Mat3::Identity();
  for (Index k = 0; k < touched; ++k) {
    ProblemFiller::Constraint contact;
    contact.friction = 0.5;
    contact.key = static_cast<std::uint64_t>(k);
    filler.add_constraint(contact);
    filler.add_sparse_piece(tree, 3 * k * side, 3, block.data());  // z = 0
  }
  return filler.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const Index side = argc > 1 ? std::atoi(argv[1]) : 7;
  const Index touched = std::min(argc > 2 ? std::atoi(argv[2]) : 30, side * side);
  Lower lower = cube(side, 100.0, 1);
  const auto mass = std::make_shared<SparseFactor>();
  const double first = seconds([&] { mass->factorize(lower.columns()); });
  for (double& value : lower.value) value *= 1.01;
  const double again = seconds([&] { mass->factorize(lower.columns()); });
  const double dofs = mass->size();
  const SupernodePlan& plan = mass->plan();
  const double factor_megabytes = static_cast<double>(plan.panel_start.back()) * 8e-6;
  fmt::print("{} dofs, {} entries of A, {} touched nodes\n", dofs, lower.value.size(), touched);
  fmt::print("  order and first factor {:9.4f} s\n", first);
  fmt::print("  factor                 {:9.4f} s  {:.2f} us/dof  {:.3g} flops\n", again, 1e6 * again / dofs,
             plan.flops);
  fmt::print("  memory of L {:.1f} MB ({:.2f} kB/dof), of updates {:.1f} MB\n", factor_megabytes,
             1e3 * factor_megabytes / dofs, static_cast<double>(plan.stack) * 8e-6);
  ProblemFiller filler;
  ContactProblem problem;
  bool good = false;
  fmt::print("  condensation           {:9.4f} s\n",
             seconds([&] { good = fill(filler, problem, mass, side, touched); }));
  if (!good) return 1;
  fmt::print("  the same A once more   {:9.4f} s\n",
             seconds([&] { fill(filler, problem, mass, side, touched); }));
  for (int k = 3; k < argc; ++k) {
    const auto solver = make_solver(argv[k]);
    Settings settings;
    Solution solution;
    Report report;
    solver->solve(problem, settings, solution);
    const double time = seconds([&] { report = solver->solve(problem, settings, solution); });
    fmt::print("  {:<22} {:9.4f} s  {} {} iterations, error {:.1e}\n", argv[k], time,
               to_string(report.status), report.iterations, report.certificate.error.value);
  }
  Solution solution{.impulse = Vector::Zero(problem.row_count()), .velocity = {}, .generalized_velocity = {}};
  fmt::print("  certificate            {:9.4f} s\n", seconds([&] { certify(problem, solution); }));
  fmt::print("  peak memory {:.0f} MB\n", peak_megabytes());
  return 0;
}
