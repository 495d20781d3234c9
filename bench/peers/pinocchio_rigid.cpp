// Pinocchio's ADMM with its low-complexity Delassus operator (DelassusOperatorRigidBodySystems), which the
// Python package contains as compiled code but does not offer to Python, and which is much the fastest on
// towers. Compiled by bench/run.py against the headers and libraries inside the virtual environment; not part
// of the CMake build.
//
//   pinocchio_rigid TOWER TOLERANCE osqp|linear|spectral ANDERSON LANCZOS MAX_ITERATIONS REPEAT BUDGET_MS
//
// Prints: "converged iterations factorizations"; build times; solve times (ms of CPU time, first run left
// out); the impulses. The same scene and the same timed calls as pinocchio_towers.py.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/delassus-operator.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/solvers/admm-solver.hpp>
#include <pinocchio/constraints.hpp>
#include <pinocchio/multibody.hpp>
#include <string>
#include <vector>

namespace {

using namespace pinocchio;

using Operator = DelassusOperatorRigidBodySystemsTpl<double, 0, JointCollectionDefaultTpl, ConstraintModel,
                                                     std::reference_wrapper>;

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

struct Tower {
  Model model;
  Eigen::VectorXd q, v, force;
  std::vector<ConstraintModel> constraints;
};

Tower make_tower(const std::string& name) {
  Tower tower;
  const int count = std::atoi(name.c_str() + 5);
  const std::size_t ratio_at = name.find("-r");
  const double ratio = ratio_at == std::string::npos ? 1.0 : std::atof(name.c_str() + ratio_at + 2);
  const bool slide = name.find("-slide") != std::string::npos;
  tower.model.gravity.linear(Eigen::Vector3d(0.0, 0.0, -9.81));
  std::vector<JointIndex> joints;
  for (int i = 0; i < count; ++i) {
    const double mass = count > 1 ? std::pow(ratio, static_cast<double>(i) / (count - 1)) : 1.0;
    joints.push_back(
        tower.model.addJoint(0, JointModelFreeFlyer(), SE3::Identity(), "cube" + std::to_string(i)));
    tower.model.appendBodyToJoint(joints.back(), Inertia::FromBox(mass, 1.0, 1.0, 1.0), SE3::Identity());
  }
  tower.q = neutral(tower.model);
  tower.v = Eigen::VectorXd::Zero(tower.model.nv);
  // Pinocchio integrates the velocity in the frame of the moving body, tribo in the world's; this force makes
  // up for the difference, m w x v.
  tower.force = Eigen::VectorXd::Zero(tower.model.nv);
  const double corners[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {-0.5, 0.5}, {0.5, 0.5}};
  for (int i = 0; i < count; ++i) {
    const double sign = i % 2 == 0 ? 1.0 : -1.0;
    tower.q[7 * i + 2] = 0.5 + i;
    tower.v[6 * i] = slide ? 0.5 * sign : 0.0;
    tower.v[6 * i + 5] = slide ? 0.2 * sign : 0.0;
    if (slide) tower.force[6 * i + 1] = tower.model.inertias[joints[i]].mass() * 0.2 * 0.5;
    for (const auto& corner : corners) {
      SE3 below = SE3::Identity(), above = SE3::Identity();
      below.translation() << corner[0], corner[1], i > 0 ? 0.5 : 0.0;
      above.translation() << corner[0], corner[1], -0.5;
      PointContactConstraintModel contact(tower.model, i > 0 ? joints[i - 1] : 0, below, joints[i], above);
      contact.setFriction(0.4);
      tower.constraints.emplace_back(contact);
    }
  }
  return tower;
}

void print(const std::vector<double>& values) {
  for (const double value : values) std::printf("%.17g ", value);
  std::puts("");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) return 2;
  const Tower tower = make_tower(argv[1]);
  const double tolerance = std::atof(argv[2]);
  const std::string rule = argv[3];
  ADMMSolverSettings settings;
  settings.absolute_feasibility_tol = settings.relative_feasibility_tol = tolerance;
  settings.absolute_complementarity_tol = settings.relative_complementarity_tol = tolerance;
  settings.admm_update_rule = rule == "linear"     ? ADMMUpdateRule::LINEAR
                              : rule == "spectral" ? ADMMUpdateRule::SPECTRAL
                                                   : ADMMUpdateRule::OSQP;
  settings.anderson_capacity = std::atoi(argv[4]);
  settings.lanczos_size = std::atoi(argv[5]);
  settings.max_iterations = std::atoi(argv[6]);
  const int repeat = std::atoi(argv[7]);
  const double budget = std::atof(argv[8]);

  const Model& model = tower.model;
  Data data(model);
  std::vector<ConstraintData> datas;
  for (const ConstraintModel& constraint : tower.constraints) datas.push_back(constraint.createData());

  std::vector<double> builds, solves;
  int wanted = 1;
  for (int run = 0; run < wanted; ++run) {
    double begin = cpu_ms();
    const Eigen::VectorXd free =
        tower.v + 1e-3 * aba(model, data, tower.q, tower.v, tower.force, Convention::WORLD);
    computeJointJacobians(model, data, tower.q);
    Eigen::VectorXd g(3 * datas.size()), slice(3);
    for (std::size_t k = 0; k < datas.size(); ++k) {
      tower.constraints[k].calc(model, data, datas[k]);
      tower.constraints[k].jacobianMatrixProduct(model, data, datas[k], free, slice);
      g.segment<3>(3 * static_cast<Eigen::Index>(k)) = slice;
    }
    Operator delassus(std::cref(model), std::ref(data), std::cref(tower.constraints), std::cref(datas), 1e-8);
    delassus.compute();
    const double build_ms = cpu_ms() - begin;

    begin = cpu_ms();
    ADMMConstraintSolver solver(g.size());
    ADMMSolverResult result;
    const bool converged = solver.solve(delassus, g, tower.constraints, datas, settings, result);
    const double solve_ms = cpu_ms() - begin;
    if (run == 0) {
      const double fit = budget / (build_ms + solve_ms);
      wanted = std::max(solve_ms > 300.0 ? 2 : repeat + 1, std::min(200, static_cast<int>(fit)));
    } else {
      builds.push_back(build_ms);
      solves.push_back(solve_ms);
    }
    if (run + 1 == wanted) {
      std::printf("%d %d %d\n", converged ? 1 : 0, static_cast<int>(result.iterations),
                  static_cast<int>(result.delassus_decomposition_update_count));
      Eigen::VectorXd impulse(g.size());
      result.retrievePrimalSolution(impulse);
      print(builds);
      print(solves);
      print({impulse.data(), impulse.data() + impulse.size()});
    }
  }
  return 0;
}
