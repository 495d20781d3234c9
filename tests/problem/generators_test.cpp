#include "tribo/problem/generators.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Geometry>
#include <algorithm>
#include <limits>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tribo/problem/certificate.h"
#include "tribo/problem/errors.h"
#include "tribo/problem/rigid_scene.h"
#include "tribo/problem/serial_arm.h"
#include "tribo/problem/sphere_pile.h"

namespace tribo {
namespace {

struct Counts {
  std::string kind;
  Index bodies;
  Index trees, dofs, contacts, rows;
};

void PrintTo(const Counts& counts, std::ostream* out) { *out << counts.kind << counts.bodies; }

class GeneratorCounts : public testing::TestWithParam<Counts> {};

TEST_P(GeneratorCounts, MatchTheGeometry) {
  const Counts& expected = GetParam();
  const ContactProblem problem = generate(expected.kind, {.bodies = expected.bodies});
  EXPECT_EQ(problem.tree_count(), expected.trees);
  EXPECT_EQ(problem.dof_count(), expected.dofs);
  EXPECT_EQ(problem.contact_count(), expected.contacts);
  EXPECT_EQ(problem.row_count(), expected.rows);
}

// Wall of 10: columns 2, courses of 2, 3, 2, 3; 2 bricks on the ground, interfaces of 4, 4 and 4 pairs, 1 + 2
// + 1 + 2 head joints. Pyramid of 7: base 4, 4 + 2 (3 + 2 + 1) faces. Arm of 5: contacts of links 1, 3 and 4
// at the tip, limits of joints 0 and 3, friction of 5.
INSTANTIATE_TEST_SUITE_P(
    Kinds, GeneratorCounts,
    testing::Values(Counts{"tower", 1, 1, 6, 4, 12}, Counts{"tower", 10, 10, 60, 40, 120},
                    Counts{"wall", 10, 10, 60, 80, 240}, Counts{"wall", 1, 1, 6, 4, 12},
                    Counts{"pyramid", 10, 10, 60, 64, 192}, Counts{"pyramid", 7, 10, 60, 64, 192},
                    Counts{"chain", 10, 10, 60, 40, 150}, Counts{"pile", 1, 1, 6, 1, 3},
                    Counts{"bolt", 10, 1, 6, 120, 360}, Counts{"dishes", 10, 4, 24, 120, 360},
                    Counts{"arm", 5, 1, 5, 6, 25}, Counts{"arm", 1, 1, 1, 4, 14}));

class EveryGenerator : public testing::TestWithParam<std::string> {};

TEST_P(EveryGenerator, RepeatsItselfForTheSameSeedOnly) {
  GeneratorSettings settings{.bodies = 12, .slide = true, .seed = 3};
  const ContactProblem first = generate(GetParam(), settings);
  EXPECT_TRUE(first == generate(GetParam(), settings));
  settings.seed = 4;
  EXPECT_FALSE(first == generate(GetParam(), settings));
}

TEST_P(EveryGenerator, PutsTheComplianceOnContactRowsOnly) {
  EXPECT_TRUE(generate(GetParam(), {}).is_rigid());
  const ContactProblem problem = generate(GetParam(), {.compliance = 1e-4});
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    const double expected = problem.kind(i) == ConstraintKind::contact ? 1e-4 : 0.0;
    for (Index r = 0; r < problem.rows(i); ++r) EXPECT_EQ(problem.compliance()[problem.row(i) + r], expected);
  }
}

TEST_P(EveryGenerator, TakesFrictionAndTimeStep) {
  const ContactProblem own = generate(GetParam(), {});
  const ContactProblem given = generate(GetParam(), {.friction = 0.123, .time_step = 0.01});
  for (Index i = 0; i < own.constraint_count(); ++i) {
    if (own.kind(i) != ConstraintKind::contact) continue;
    EXPECT_GT(own.friction(i), 0.0);
    EXPECT_EQ(given.friction(i), 0.123);
  }
  // All these scenes start at rest: the momentum is h times the forces.
  const double own_step = GetParam() == "bolt" || GetParam() == "dishes" ? 1.0 / 240.0 : 1e-3;
  EXPECT_TRUE(given.momentum().isApprox(own.momentum() * (0.01 / own_step), 1e-12));
}

TEST_P(EveryGenerator, GivesEveryConstraintItsOwnKey) {
  const ContactProblem problem = generate(GetParam(), {.bodies = 30});
  std::set<std::uint64_t> keys;
  for (Index i = 0; i < problem.constraint_count(); ++i) keys.insert(problem.key(i));
  EXPECT_EQ(static_cast<Index>(keys.size()), problem.constraint_count());
}

TEST_P(EveryGenerator, IsFiniteForOneBodyAndForExtremeMasses) {
  for (const GeneratorSettings& settings :
       {GeneratorSettings{.bodies = 1}, GeneratorSettings{.bodies = 2, .mass_ratio = 1e-8, .slide = true},
        GeneratorSettings{.bodies = 17, .mass_ratio = 1e8, .slide = true, .compliance = 1e-3, .seed = 9}}) {
    const ContactProblem problem = generate(GetParam(), settings);
    EXPECT_TRUE(problem.free_velocity().allFinite());
    EXPECT_GT(problem.contact_count(), 0);
  }
}

TEST_P(EveryGenerator, RefusesWrongSettingsByName) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<std::string, GeneratorSettings>> wrong{{"bodies", {.bodies = 0}},
                                                                     {"bodies", {.bodies = -5}},
                                                                     {"bodies", {.bodies = 2'000'001}},
                                                                     {"mass_ratio", {.mass_ratio = 0.0}},
                                                                     {"mass_ratio", {.mass_ratio = -1}},
                                                                     {"mass_ratio", {.mass_ratio = nan}},
                                                                     {"friction", {.friction = nan}},
                                                                     {"friction", {.friction = infinity}},
                                                                     {"compliance", {.compliance = -1}},
                                                                     {"compliance", {.compliance = nan}},
                                                                     {"time_step", {.time_step = 0.0}},
                                                                     {"time_step", {.time_step = nan}},
                                                                     {"time_step", {.time_step = infinity}}};
  for (const auto& [field, settings] : wrong) {
    try {
      generate(GetParam(), settings);
      ADD_FAILURE() << field << " accepted";
    } catch (const InvalidInput& error) {
      EXPECT_EQ(std::string(error.what()).rfind(field, 0), 0u) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryGenerator,
                         testing::Values("tower", "wall", "pyramid", "chain", "pile", "bolt", "dishes",
                                         "arm"),
                         [](const auto& kind) { return kind.param; });

TEST(Generators, UnknownKindListsTheKinds) {
  try {
    generate("castle", {});
    FAIL();
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("castle"), std::string::npos);
    for (const GeneratorInfo& info : generator_catalogue()) {
      EXPECT_NE(message.find(info.name), std::string::npos) << info.name;
    }
  }
}

TEST(Tower, MassesAreGeometricAndCubesHaveTheInertiaOfCubes) {
  const ContactProblem problem = generate("tower", {.bodies = 5, .mass_ratio = 1e4});
  for (Index i = 0; i < 5; ++i) {
    const double mass = std::pow(10.0, i);
    Vector diagonal(6);
    diagonal << Vec3::Constant(mass), Vec3::Constant(mass / 6.0);
    EXPECT_TRUE(problem.mass().block(i).isApprox(Matrix(diagonal.asDiagonal()), 1e-14)) << i;
  }
  EXPECT_EQ(problem.friction(0), 0.4);
}

TEST(Tower, SlidesAlternately) {
  const ContactProblem problem = generate("tower", {.bodies = 3, .slide = true});
  for (Index i = 0; i < 3; ++i) {
    const double sign = i % 2 == 0 ? 1.0 : -1.0;
    EXPECT_DOUBLE_EQ(problem.momentum()[6 * i], 0.5 * sign);
    EXPECT_DOUBLE_EQ(problem.momentum()[6 * i + 2], -9.81e-3);
    EXPECT_DOUBLE_EQ(problem.momentum()[6 * i + 5], 0.2 * sign / 6.0);
  }
}

// Each corner carries a quarter of the weight above: an exact solution at rest.
TEST(Tower, WeightInTheCornersSolvesIt) {
  const Index n = 10;
  const double h = 1e-3, ratio = 100.0;
  const ContactProblem problem = generate("tower", {.bodies = n, .mass_ratio = ratio});
  Solution solution;
  solution.impulse = Vector::Zero(problem.row_count());
  double above = 0.0;
  for (Index i = n - 1; i >= 0; --i) {
    above += std::pow(ratio, i / (n - 1.0));
    for (Index corner = 0; corner < 4; ++corner)
      solution.impulse[12 * i + 3 * corner + 2] = above * 9.81 * h / 4.0;
  }
  const Certificate certificate = certify(problem, solution);
  EXPECT_LT(certificate.error.value, 1e-9);
  EXPECT_LT(certificate.penetration_velocity.value, 1e-12);
  solution.impulse[2] *= 1.01;
  EXPECT_GT(certify(problem, solution).error.value, 1e-4);
}

TEST(Stacks, EveryBoxIsCarried) {
  for (const std::string kind : {"wall", "pyramid"}) {
    const ContactProblem problem = generate(kind, {.bodies = 40, .seed = 5});
    std::vector<Index> carried(problem.tree_count(), 0);
    const BlockJacobian& jacobian = problem.jacobian();
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      const Index p = jacobian.piece_begin(i);
      const bool from_below = jacobian.piece(i, p)(2, 2) == 1.0;
      EXPECT_EQ(problem.bias()[problem.row(i) + 2] > 0.0, !from_below)
          << kind << ": bed touches, head is open";
      if (from_below) ++carried[jacobian.piece_tree(p)];
    }
    for (Index count : carried) EXPECT_GE(count, 4) << kind;
  }
}

TEST(Chain, SlidingRespectsTheJointsAndHeavyEndIsLast) {
  const ContactProblem problem = generate("chain", {.bodies = 6, .mass_ratio = 1e3, .slide = true});
  EXPECT_NEAR(problem.mass().block(5)(0, 0), 1e3, 1e-9);
  // The velocities before forces act: momentum minus the same scene's at rest.
  Vector v = problem.momentum() - generate("chain", {.bodies = 6, .mass_ratio = 1e3}).momentum();
  problem.mass_factor().solve_in_place(v);
  Vector u(problem.row_count());
  problem.jacobian().multiply(v, u);
  Index joints = 0;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    if (problem.kind(i) != ConstraintKind::bilateral) continue;
    ++joints;
    EXPECT_NEAR(u[problem.row(i)], 0.0, 1e-12);
  }
  EXPECT_EQ(joints, 18);
  EXPECT_GT(v.cwiseAbs().maxCoeff(), 0.4);
}

TEST(RigidScene, FramesAreRightHandedAndUpIsXYZ) {
  detail::Random random(1);
  EXPECT_TRUE(detail::contact_frame(Vec3::UnitZ()).isIdentity(0.0));
  for (int i = 0; i < 100; ++i) {
    const Vec3 n = i == 0 ? Vec3(-Vec3::UnitZ()) : random.unit_vector();
    const Mat3 frame = detail::contact_frame(n);
    EXPECT_TRUE((frame.transpose() * frame).isIdentity(1e-14));
    EXPECT_NEAR(frame.determinant(), 1.0, 1e-14);
    EXPECT_EQ(frame.col(2), n);
  }
}

TEST(RigidScene, JacobianIsTheRateOfTheDistanceBetweenTheBodiesPoints) {
  detail::Random random(7);
  for (int trial = 0; trial < 20; ++trial) {
    detail::RigidScene scene({.friction = 0.5, .time_step = 0.1});
    detail::RigidBody a, b;
    a.position = random.normal_vector();
    b.position = random.normal_vector();
    scene.add_body(a);
    scene.add_body(b);
    const Vec3 point = random.normal_vector(), normal = random.unit_vector();
    scene.add_contact(0, 1, point, normal, 0.02, 0);
    scene.add_ball_joint(0, 1, point, 1);
    const ContactProblem problem = scene.build();
    EXPECT_DOUBLE_EQ(problem.bias()[2], 0.2);

    Vector v(12);
    for (double& entry : v) entry = random.normal();
    const auto moved = [&](const Vec3& centre, const Vector& twist, double t) -> Vec3 {
      const Vec3 turn = t * twist.tail<3>();
      const Mat3 rotation = Eigen::AngleAxisd(turn.norm(), turn.normalized()).toRotationMatrix();
      return centre + t * twist.head<3>() + rotation * (point - centre);
    };
    const double t = 1e-6;
    const auto difference = [&](double time) -> Vec3 {
      return moved(a.position, v.head(6), time) - moved(b.position, v.tail(6), time);
    };
    const Vec3 rate = (difference(t) - difference(-t)) / (2.0 * t);
    Vector u(6);
    problem.jacobian().multiply(v, u);
    EXPECT_TRUE(u.head<3>().isApprox(detail::contact_frame(normal).transpose() * rate, 1e-7));
    EXPECT_TRUE(u.tail<3>().isApprox(rate, 1e-7));
  }
}

TEST(RigidScene, MomentumHoldsWeightWrenchAndGyroscopicTorque) {
  detail::RigidScene scene({.friction = 0.5, .time_step = 0.1});
  detail::RigidBody body{.mass = 2.0, .inertia = Vec3(1.0, 2.0, 3.0).asDiagonal()};
  body.velocity = Vec3(1.0, 2.0, 3.0);
  body.spin = Vec3(1.0, 1.0, 1.0);
  body.force = Vec3(10.0, 0.0, 0.0);
  body.torque = Vec3(0.0, 10.0, 0.0);
  scene.add_body(body);
  scene.add_contact(0, detail::kGround, Vec3::Zero(), Vec3::UnitZ(), -1e-3, 0);
  const ContactProblem problem = scene.build();
  // w x I w = (1,1,1) x (1,2,3) = (1,-2,1).
  Vector expected(6);
  expected << 3.0, 4.0, 6.0 - 0.1 * 2.0 * 9.81, 1.0 - 0.1, 2.0 + 1.0 + 0.2, 3.0 - 0.1;
  EXPECT_TRUE(problem.momentum().isApprox(expected, 1e-14));
  EXPECT_EQ(problem.bias(), Vector::Zero(3)) << "an overlap counts as touching";
}

TEST(Pile, LargePileIsPackedWithoutOverlaps) {
  const Index n = 30000;
  detail::Random random(2);
  const detail::SpherePile pile = detail::drop_spheres(n, random);
  const std::vector<detail::SphereContact> contacts = detail::find_contacts(pile);
  EXPECT_GT(contacts.size(), 2.9 * n);
  EXPECT_LT(contacts.size(), 4.0 * n);
  std::vector<Index> touching(n, 0);
  for (const detail::SphereContact& c : contacts) {
    EXPECT_GT(c.gap, -1e-10);
    EXPECT_LT(c.gap, detail::kPileMargin);
    EXPECT_NEAR(c.normal.norm(), 1.0, 1e-12);
    const Vec3& centre = pile.spheres[c.a].centre;
    EXPECT_NEAR((centre - c.point).dot(c.normal), pile.spheres[c.a].radius + 0.5 * c.gap, 1e-12);
    if (c.gap > detail::kTouchingGap) continue;
    ++touching[c.a];
    if (c.b != detail::kGround) ++touching[c.b];
  }
  EXPECT_GE(*std::min_element(touching.begin(), touching.end()), 1);
  EXPECT_LT(std::count_if(touching.begin(), touching.end(), [](Index t) { return t < 3; }), n / 100);
}

TEST(Pile, FindsTheSameContactsAsTheQuadraticSearch) {
  const Index n = 400;
  detail::Random random(5);
  const detail::SpherePile pile = detail::drop_spheres(n, random);
  Index expected = 0;
  for (Index i = 0; i < n; ++i) {
    const auto& [centre, radius] = pile.spheres[i];
    if (centre.z() < radius + detail::kPileMargin) ++expected;
    for (int axis = 0; axis < 2; ++axis) {
      if (pile.half_width - std::abs(centre[axis]) < radius + detail::kPileMargin) ++expected;
    }
    for (Index k = 0; k < i; ++k) {
      const double gap = (centre - pile.spheres[k].centre).norm() - radius - pile.spheres[k].radius;
      EXPECT_GT(gap, -1e-10);
      if (gap < detail::kPileMargin) ++expected;
    }
  }
  EXPECT_EQ(static_cast<Index>(detail::find_contacts(pile).size()), expected);
}

TEST(Pile, MassesAreGeometricInTheOrderOfTheFall) {
  const ContactProblem problem = generate("pile", {.bodies = 100, .mass_ratio = 50.0});
  EXPECT_EQ(problem.mass().block(0)(0, 0), 1.0);
  EXPECT_NEAR(problem.mass().block(99)(0, 0), 50.0, 1e-12);
}

// Kinetic energy from finite differences of the links' positions and rotations.
double kinetic_energy(const detail::SerialArm& arm, const Vector& speed) {
  const double t = 1e-6;
  detail::SerialArm before = arm, after = arm;
  before.angle -= t * speed;
  after.angle += t * speed;
  const detail::ArmPose p = detail::pose_of(arm), p0 = detail::pose_of(before), p1 = detail::pose_of(after);
  double energy = 0.5 * detail::SerialArm::kArmature * speed.squaredNorm();
  for (Index i = 0; i < arm.size(); ++i) {
    const Vec3 velocity = (p1.centre[i] - p0.centre[i]) / (2.0 * t);
    const Mat3 spin = (p1.rotation[i] - p0.rotation[i]) / (2.0 * t) * p.rotation[i].transpose();
    const Vec3 w(spin(2, 1), spin(0, 2), spin(1, 0));
    energy += 0.5 * arm.mass[i] * velocity.squaredNorm() + 0.5 * w.dot(detail::link_inertia(arm, p, i) * w);
  }
  return energy;
}

double potential_energy(const detail::SerialArm& arm) {
  const detail::ArmPose pose = detail::pose_of(arm);
  double energy = 0.0;
  for (Index i = 0; i < arm.size(); ++i) energy += arm.mass[i] * detail::kGravity * pose.centre[i].z();
  return energy;
}

TEST(Arm, MassMatrixIsTheHessianOfTheKineticEnergy) {
  const Index n = 7;
  const GeneratorSettings settings{.bodies = n, .mass_ratio = 0.1, .seed = 11};
  const detail::SerialArm arm = detail::random_arm(settings);
  const Matrix mass = generate("arm", settings).mass().block(0);
  EXPECT_EQ(mass.llt().info(), Eigen::Success);
  // T is quadratic in the speeds, so the polarisation identity is exact.
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      const Vector e = Vector::Unit(n, i), f = Vector::Unit(n, j);
      const double entry = 0.5 * (kinetic_energy(arm, e + f) - kinetic_energy(arm, e - f));
      EXPECT_NEAR(mass(i, j), entry, 1e-7) << i << ' ' << j;
    }
  }
}

// Lagrange: bias = dM/dt q' - dT/dq + dV/dq.
TEST(Arm, BiasTorqueIsLagranges) {
  const Index n = 6;
  const detail::SerialArm arm =
      detail::random_arm({.bodies = n, .mass_ratio = 3.0, .slide = true, .seed = 2});
  const auto at = [&](const Vector& angle) {
    detail::SerialArm moved = arm;
    moved.angle = angle;
    return moved;
  };
  const auto mass_at = [&](const Vector& angle) {
    return detail::mass_matrix(at(angle), detail::pose_of(at(angle)));
  };
  const double t = 1e-5;
  Vector expected =
      (mass_at(arm.angle + t * arm.speed) - mass_at(arm.angle - t * arm.speed)) / (2.0 * t) * arm.speed;
  for (Index i = 0; i < n; ++i) {
    const Vector step = t * Vector::Unit(n, i);
    const Matrix slope = (mass_at(arm.angle + step) - mass_at(arm.angle - step)) / (2.0 * t);
    expected[i] -= 0.5 * arm.speed.dot(slope * arm.speed);
    expected[i] +=
        (potential_energy(at(arm.angle + step)) - potential_energy(at(arm.angle - step))) / (2.0 * t);
  }
  EXPECT_TRUE(detail::bias_torque(arm, detail::pose_of(arm)).isApprox(expected, 1e-7));
}

TEST(Arm, HoldsEveryKindButBilateralAndItsContactsFollowThePoint) {
  const GeneratorSettings settings{.bodies = 6, .seed = 4};
  const ContactProblem problem = generate("arm", settings);
  Index count[4] = {0, 0, 0, 0};
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    ++count[static_cast<int>(problem.kind(i))];
    if (problem.kind(i) != ConstraintKind::box) continue;
    EXPECT_DOUBLE_EQ(problem.upper(i), 0.5e-3);
    EXPECT_DOUBLE_EQ(problem.lower(i), -0.5e-3);
  }
  EXPECT_EQ(count[static_cast<int>(ConstraintKind::contact)], 7);
  EXPECT_EQ(count[static_cast<int>(ConstraintKind::unilateral)], 2);
  EXPECT_EQ(count[static_cast<int>(ConstraintKind::box)], 6);

  const detail::SerialArm arm = detail::random_arm(settings);
  const detail::ArmPose pose = detail::pose_of(arm);
  const Vec3 local(0.1, 0.02, -0.03);
  const auto point = [&](const detail::ArmPose& p) -> Vec3 { return p.joint[4] + p.rotation[4] * local; };
  const Matrix jacobian = detail::point_jacobian(pose, 4, point(pose));
  for (Index j = 0; j < 6; ++j) {
    detail::SerialArm before = arm, after = arm;
    before.angle[j] -= 1e-6;
    after.angle[j] += 1e-6;
    const Vec3 slope = (point(detail::pose_of(after)) - point(detail::pose_of(before))) / 2e-6;
    EXPECT_LT((jacobian.col(j) - slope).norm(), 1e-8) << j;
  }
}

TEST(Bolt, NormalsPushOutwardsAlongBothFlanks) {
  const ContactProblem problem = generate("bolt", {.seed = 1});
  Index up = 0, open = 0;
  for (Index i = 0; i < problem.contact_count(); ++i) {
    const auto block = problem.jacobian().piece(i, problem.jacobian().piece_begin(i));
    EXPECT_GT(std::abs(block(2, 2)), 0.7);
    if (block(2, 2) > 0.0) ++up;
    if (problem.bias()[problem.row(i) + 2] > 0.0) ++open;
  }
  EXPECT_EQ(up, 60);
  EXPECT_GT(open, 30);
  EXPECT_LT(open, 90);
}

TEST(Dishes, MassesAreThoseOfTheScene) {
  const ContactProblem problem = generate("dishes", {});
  const double masses[4] = {0.1, 0.1, 0.1, 5.0};
  for (Index i = 0; i < 4; ++i) EXPECT_EQ(problem.mass().block(i)(0, 0), masses[i]);
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
  detail::Random random(0);
  const int n = 100000;
  double mean = 0.0, square = 0.0, normal_mean = 0.0, normal_square = 0.0;
  Vec3 direction = Vec3::Zero();
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform();
    ASSERT_TRUE(u >= 0.0 && u < 1.0);
    const double x = random.normal();
    mean += u / n;
    square += u * u / n;
    normal_mean += x / n;
    normal_square += x * x / n;
    direction += random.unit_vector() / n;
  }
  EXPECT_NEAR(mean, 0.5, 0.005);
  EXPECT_NEAR(square, 1.0 / 3.0, 0.005);
  EXPECT_NEAR(normal_mean, 0.0, 0.02);
  EXPECT_NEAR(normal_square, 1.0, 0.03);
  EXPECT_LT(direction.norm(), 0.02);
}

// The stream is part of the meaning of a seed: it must never change.
TEST(Random, StreamIsFixed) {
  detail::Random random(0);
  EXPECT_EQ(random.next(), 0x99EC5F36CB75F2B4u);
  EXPECT_EQ(random.next(), 0xBF6E1F784956452Au);
}

}  // namespace
}  // namespace tribo
