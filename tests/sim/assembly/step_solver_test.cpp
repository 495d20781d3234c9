#include "tribo/sim/assembly/step_solver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/support/random_model.h"
#include "tribo/base/errors.h"
#include "tribo/multibody/dynamics.h"
#include "tribo/solve/catalogue.h"
#include "tribo/solve/splitting/split_terms.h"

namespace tribo {
namespace {

// Arms and free bodies with random constraints: on trees (0, 1, 2), on (3, 4), on 5 alone; the rest is free.
class StepSolverTest : public testing::Test {
 protected:
  StepSolverTest()
      : random_(4), model_(make_model()), kinematics_(model_), dynamics_(model_), roots_(model_) {
    const State state = test::random_state(random_, model_);
    kinematics_.set_positions(state.q);
    dynamics_.set_positions(kinematics_);
    motion_.velocity = state.v;
    dynamics_.multiply_mass(state.v, motion_.momentum);
    for (Index t = 0; t < model_.tree_count(); ++t) {
      motion_.matrix.push_back(masses_.emplace_back(dynamics_.mass(t)).data());
      roots_.set(t, motion_.matrix[t], false);
    }
    motion_.unit_momentum = motion_.momentum;
    for (Index t = 0; t < model_.tree_count(); ++t) {
      roots_.transform_momentum(t, motion_.unit_momentum.data() + model_.tree_dof(t));
    }
    for (Index k = 0; k < 9; ++k) add_constraint({k % 3, (k + 1) % 3});
    for (Index k = 0; k < 3; ++k) add_constraint({3, 4});
    for (Index k = 0; k < 2; ++k) add_constraint({5});
    add_constraint({});  // between fixed bodies
    settings_.tolerance = 1e-11;
  }

  Model make_model() {
    ModelBuilder builder;
    Index body = 0;
    for (Index t = 0; t < 8; ++t) {
      if (t % 2 == 0) {
        body = builder.add_free_body(fmt::format("free{}", t), {}, test::random_inertia(random_));
        continue;
      }
      Index parent = 0;
      for (Index link = 0; link < 3; ++link) {
        body = builder.add_body({.name = fmt::format("link{}", 10 * t + link),
                                 .parent = parent,
                                 .position = random_.vec3(),
                                 .inertia = test::random_inertia(random_)});
        builder.add_joint(test::random_joint(random_, body, link == 1 ? JointKind::ball : JointKind::hinge));
        parent = body;
      }
    }
    return builder.build();
  }

  void add_constraint(std::initializer_list<Index> trees, std::optional<ConstraintKind> kind = {},
                      double friction = 0.5) {
    ProblemFiller::Constraint data;
    constexpr ConstraintKind kinds[] = {ConstraintKind::contact, ConstraintKind::unilateral,
                                        ConstraintKind::contact, ConstraintKind::box};
    data.kind = kind.value_or(kinds[set_.size() % 4]);
    data.friction = data.kind == ConstraintKind::contact ? friction : 0.0;
    data.lower = -0.1;
    data.upper = 0.3;
    data.compliance.setConstant(1e-3);
    data.bias.head<3>() = 0.1 * random_.vec3();
    set_.add(data, ConstraintSource::contact, set_.size());
    for (const Index t : trees) {
      const Index n = model_.tree_dof_count(t), rows = rows_of(data.kind);
      Eigen::Map<Matrix>(set_.piece_on(t, n), rows, n) = random_.matrix(rows, n);
    }
  }

  void expect_unit_masses_change_nothing() {
    StepSolver raw(model_, "auto"), unit(model_, "auto");
    solve(raw);
    const Vector velocity = velocity_;
    const std::vector<RowValues> impulse = impulse_;
    motion_.roots = &roots_;
    const SolveSummary summary = solve(unit);
    EXPECT_EQ(summary.missed_islands, 0);
    EXPECT_LT((velocity_ - velocity).norm(), 1e-7);
    for (Index i = 0; i < set_.size(); ++i) EXPECT_LT((impulse_[i] - impulse[i]).norm(), 1e-6) << i;
  }

  SolveSummary solve(StepSolver& solver, Index threads = 1) {
    Workers workers(threads);
    const std::vector<RowValues> start(set_.size(), RowValues::Zero());
    return solver.solve(set_, motion_, settings_, workers, start, velocity_, impulse_);
  }

  test::Random random_;
  Model model_;
  Kinematics kinematics_;
  Dynamics dynamics_;
  TreeRoots roots_;
  std::vector<Matrix> masses_;
  TreeMotion motion_;
  ConstraintSet set_;
  Settings settings_;
  Vector velocity_;
  std::vector<RowValues> impulse_;
};

TEST_F(StepSolverTest, IslandsTogetherAreTheWholeProblem) {
  StepSolver solver(model_, "auto");
  const SolveSummary summary = solve(solver);
  EXPECT_EQ(summary.islands, 3);
  EXPECT_EQ(summary.missed_islands, 0);
  EXPECT_LE(summary.error, settings_.tolerance);
  EXPECT_EQ(solver.component(2), solver.component(0));
  EXPECT_EQ(solver.component(4), solver.component(3));
  EXPECT_NE(solver.component(3), solver.component(0));
  EXPECT_NE(solver.component(6), solver.component(7));

  ContactProblem whole;
  ASSERT_TRUE(solver.whole_problem(set_, motion_, whole, true));
  EXPECT_EQ(whole.tree_count(), 8);
  EXPECT_EQ(whole.constraint_count(), set_.size() - 1);
  Solution solution;
  ASSERT_EQ(make_solver("auto")->solve(whole, settings_, solution).status, Status::converged);
  EXPECT_LT((solution.generalized_velocity - velocity_).norm(), 1e-7);
  EXPECT_GT((velocity_ - motion_.velocity).norm(), 0.1);
  for (Index i = 0; i < whole.constraint_count(); ++i) {
    const Index rows = whole.rows(i);
    EXPECT_LT((solution.impulse.segment(whole.row(i), rows) - impulse_[i].head(rows)).norm(), 1e-6) << i;
    EXPECT_TRUE(impulse_[i].tail(3 - rows).isZero(0.0));
  }
  EXPECT_TRUE(impulse_.back().isZero(0.0));
  for (const Index t : {6, 7}) {
    const Index first = model_.tree_dof(t), n = model_.tree_dof_count(t);
    EXPECT_EQ(velocity_.segment(first, n), motion_.velocity.segment(first, n));
  }
  ASSERT_TRUE(solver.whole_problem(set_, motion_, whole));
  EXPECT_EQ(whole.tree_count(), 6);
}

TEST_F(StepSolverTest, UnitMassesChangeNothing) { expect_unit_masses_change_nothing(); }

// Rows of up to four contacts are transformed at once: four and three here, without friction, so that their impulses are
// the only ones.
TEST_F(StepSolverTest, UnitMassesChangeNothingForManyContactsOfOneArm) {
  for (Index k = 0; k < 7; ++k) add_constraint({7}, ConstraintKind::contact, 0.0);
  expect_unit_masses_change_nothing();
}

TEST_F(StepSolverTest, SameBitsOnThreeThreads) {
  motion_.roots = &roots_;
  StepSolver one(model_, "auto"), three(model_, "auto");
  solve(one);
  const Vector velocity = velocity_;
  for (int k = 0; k < 3; ++k) {
    solve(three, 3);
    EXPECT_EQ(velocity_, velocity);
  }
}

TEST_F(StepSolverTest, AMissedIslandIsReported) {
  settings_.max_iterations = 1;
  settings_.tolerance = 1e-15;
  StepSolver solver(model_, "pgs");
  const SolveSummary summary = solve(solver);
  EXPECT_GT(summary.missed_islands, 0);
  EXPECT_GT(summary.error, 1e-15);
  EXPECT_NE(summary.worst_status, Status::converged);
}

TEST_F(StepSolverTest, AMassThatIsNotPositiveMakesItsIslandMissAndKeepsTheFreeMotion) {
  const Matrix bad = -Matrix::Identity(6, 6);
  motion_.matrix[4] = bad.data();
  StepSolver solver(model_, "auto");
  const SolveSummary summary = solve(solver);
  EXPECT_EQ(summary.missed_islands, 1);
  EXPECT_TRUE(std::isinf(summary.error));
  const Index first = model_.tree_dof(4);
  EXPECT_EQ(velocity_.segment(first, 6), motion_.velocity.segment(first, 6));
}

TEST_F(StepSolverTest, UnknownSolversAreRefusedAtOnce) {
  EXPECT_THROW(StepSolver(model_, "magic"), InvalidInput);
}

// Robots with two legs that touch each other and themselves, a free body, a limit, parts of a weld.
class StepSolverBodies : public testing::Test {
 protected:
  static constexpr Index kLimit = 6;

  StepSolverBodies()
      : random_(7),
        model_(make_model()),
        state_(test::random_state(random_, model_)),
        kinematics_(model_),
        dynamics_(model_) {
    kinematics_.set_positions(state_.q);
    dynamics_.set_positions(kinematics_);
    motion_.velocity = state_.v;
    dynamics_.multiply_mass(state_.v, motion_.momentum);
    for (Index t = 0; t < model_.tree_count(); ++t)
      motion_.matrix.push_back(masses_.emplace_back(dynamics_.mass(t)).data());
    split_.keep_bodies(kinematics_);
    add_constraints(plain_);
    add_constraints(split_);
  }

  Model make_model() {
    ModelBuilder builder;
    for (Index r = 0; r < 2; ++r) {
      const Index trunk =
          builder.add_free_body(fmt::format("trunk{}", r), {random_.vec3()}, test::random_inertia(random_));
      for (Index leg = 0; leg < 2; ++leg) {
        Index parent = trunk;
        for (Index link = 0; link < 2; ++link) {
          parent = builder.add_body({.name = fmt::format("leg{}{}{}", r, leg, link),
                                     .parent = parent,
                                     .position = 0.5 * random_.vec3(),
                                     .inertia = test::random_inertia(random_)});
          builder.add_joint(test::random_joint(random_, parent, JointKind::hinge));
        }
        feet_.push_back(parent);
      }
    }
    ball_ = builder.add_free_body("ball", {random_.vec3()}, test::random_inertia(random_));
    return builder.build();
  }

  void add_constraints(ConstraintSet& set) {
    test::Random random(1);
    const RowValues soft = RowValues::Constant(1e-3);
    const std::pair<Index, Index> touching[] = {{feet_[0], feet_[1]}, {feet_[0], feet_[2]}, {feet_[3], ball_},
                                                {feet_[1], 0},        {feet_[2], 0},        {ball_, 0}};
    for (const auto& [a, b] : touching) {
      const Vec3 point = random.vec3();
      const Mat3 frame = test::random_rotation(random).toRotationMatrix();
      set.add({.friction = 0.5, .compliance = soft}, ConstraintSource::contact, 0);
      set.add_point_rows(kinematics_, a, point, frame);
      set.add_point_rows(kinematics_, b, point, -frame);
    }
    ASSERT_EQ(
        set.add({.kind = ConstraintKind::unilateral, .compliance = soft}, ConstraintSource::joint_limit, 0),
        kLimit);
    set.add_dof(model_, 0, 7, 1.0);
    set.add({.kind = ConstraintKind::bilateral, .compliance = soft}, ConstraintSource::coupling, 0);
    set.add_angular_row(kinematics_, feet_[3], Vec3::UnitX());
    set.add({.kind = ConstraintKind::bilateral, .compliance = soft}, ConstraintSource::coupling, 0);
    set.add_point_row(kinematics_, feet_[3], random.vec3(), Vec3::UnitY());
  }

  test::Random random_;
  std::vector<Index> feet_;
  Index ball_ = 0;
  Model model_;
  State state_;
  Kinematics kinematics_;
  Dynamics dynamics_;
  std::vector<Matrix> masses_;
  TreeMotion motion_;
  ConstraintSet plain_, split_;
};

TEST_F(StepSolverBodies, AreThoseOfTheJacobian) {
  ContactProblem problem;
  ASSERT_TRUE(StepSolver(model_, "subadmm").whole_problem(split_, motion_, problem, true, true));
  SplitTerms terms;
  terms.prepare(problem, Splitting::body);
  EXPECT_TRUE(terms.by_bodies(0) && terms.by_bodies(1));
  EXPECT_FALSE(terms.by_bodies(2));
  EXPECT_EQ(terms.slack_count(0), 2);  // two feet of one robot
  const TreeStructure& structure = problem.structure();
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    for (Index p = problem.jacobian().piece_begin(i); p < problem.jacobian().piece_end(i); ++p) {
      const Articulation* tree = structure.articulation(problem.jacobian().piece_tree(p));
      if (tree == nullptr || i == kLimit) continue;
      Matrix rest = problem.jacobian().piece(i, p);
      for (Index t = structure.term_begin(p); t < structure.term_end(p); ++t) {
        for (Index d = structure.term_dof(t); d >= 0; d = tree->parent[d])
          rest.col(d) -= structure.term(t, problem.rows(i)) * tree->motion.col(d);
      }
      EXPECT_LT(rest.cwiseAbs().maxCoeff(), 1e-13) << i;
    }
  }
}

TEST_F(StepSolverBodies, DoNotChangeTheMotion) {
  Settings settings;
  settings.tolerance = 1e-10;
  settings.max_iterations = 100000;
  Workers workers(1);
  const std::vector<RowValues> start(split_.size(), RowValues::Zero());
  Vector expected, velocity;
  std::vector<RowValues> impulse;
  StepSolver reference(model_, "auto"), solver(model_, "subadmm");
  EXPECT_FALSE(reference.splits_by_bodies());
  ASSERT_TRUE(solver.splits_by_bodies());
  ASSERT_EQ(reference.solve(plain_, motion_, settings, workers, start, expected, impulse).missed_islands, 0);
  EXPECT_GT((expected - motion_.velocity).norm(), 0.1);
  for (const ConstraintSet* set : {&plain_, &split_, &plain_}) {
    ASSERT_EQ(solver.solve(*set, motion_, settings, workers, start, velocity, impulse).missed_islands, 0);
    EXPECT_LT((velocity - expected).norm(), 1e-6);
  }
}

}  // namespace
}  // namespace tribo
