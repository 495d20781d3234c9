#include "tribo/sim/contact/contact_law.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tribo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ContactLaw, FrictionFollowsTheRule) {
  const Material a{.friction = 0.2}, b{.friction = 0.8}, none{.friction = 0.0};
  EXPECT_DOUBLE_EQ(combine(a, b, FrictionRule::maximum).friction, 0.8);
  EXPECT_DOUBLE_EQ(combine(a, b, FrictionRule::harmonic).friction, 0.32);
  EXPECT_DOUBLE_EQ(combine(a, b, FrictionRule::geometric).friction, 0.4);
  EXPECT_EQ(combine(none, none, FrictionRule::harmonic).friction, 0.0);  // 0 / 0
  for (const FrictionRule rule : {FrictionRule::maximum, FrictionRule::harmonic, FrictionRule::geometric}) {
    EXPECT_DOUBLE_EQ(combine(a, b, rule).friction, combine(b, a, rule).friction);
    EXPECT_DOUBLE_EQ(combine(b, b, rule).friction, 0.8);
  }
}

TEST(ContactLaw, StiffnessIsInSeriesAndTheSofterSideDissipates) {
  const Material a{.stiffness = 1e4, .dissipation_time = 0.1}, b{.stiffness = 3e4, .dissipation_time = 0.02};
  const Surface surface = combine(a, b, FrictionRule::maximum);
  EXPECT_DOUBLE_EQ(surface.stiffness, 7500.0);
  // (k2 tau1 + k1 tau2) / (k1 + k2)
  EXPECT_DOUBLE_EQ(surface.dissipation_time, (3e4 * 0.1 + 1e4 * 0.02) / 4e4);
  EXPECT_FALSE(surface.is_rigid());

  const Material rigid{.dissipation_time = 0.4};
  for (const Surface& mixed :
       {combine(a, rigid, FrictionRule::maximum), combine(rigid, a, FrictionRule::maximum)}) {
    EXPECT_DOUBLE_EQ(mixed.stiffness, 1e4);
    EXPECT_DOUBLE_EQ(mixed.dissipation_time, 0.1);
  }
  const Surface hard = combine(rigid, Material{.dissipation_time = 0.2}, FrictionRule::maximum);
  EXPECT_TRUE(hard.is_rigid());
  EXPECT_DOUBLE_EQ(hard.dissipation_time, 0.3);
}

TEST(ContactLaw, LargerRestitutionAndHigherPriorityWin) {
  Material a{.friction = 0.9, .restitution = 0.1}, b{.friction = 0.3, .stiffness = 100.0, .restitution = 0.7};
  EXPECT_DOUBLE_EQ(combine(a, b, FrictionRule::maximum).restitution, 0.7);
  a.priority = 1;
  const Surface surface = combine(b, a, FrictionRule::geometric);
  EXPECT_DOUBLE_EQ(surface.friction, 0.9);
  EXPECT_DOUBLE_EQ(surface.restitution, 0.1);
  EXPECT_TRUE(surface.is_rigid());
}

// v = 0 stays admissible: a gap may close, a penetration may not deepen, and neither asks for a velocity.
TEST(ContactLaw, RigidBiasClosesGapsAndAsksForNoVelocity) {
  const double h = 0.01;
  const ContactLawSettings settings{.position_slop = 1e-6};
  EXPECT_DOUBLE_EQ(rigid_bias(3e-3, h, settings), 0.3);
  EXPECT_EQ(rigid_bias(0.9e-6, h, settings), 0.0);  // touches
  EXPECT_EQ(rigid_bias(0.0, h, settings), 0.0);
  EXPECT_EQ(rigid_bias(-4e-3, h, settings), 0.0);
  const ContactTerms terms =
      contact_terms({.friction = 0.5, .stiffness = kInfinity}, -4e-3, 123.0, h, true, {});
  EXPECT_EQ(terms.normal_bias, 0.0);
  EXPECT_EQ(terms.normal_compliance, 0.0);
  EXPECT_EQ(terms.slip_compliance, 0.0);
}

// lambda = -(u_n + e) / R must be the impulse h k (-(gap + h v)) - h k tau v of spring and damper at the step's end.
TEST(ContactLaw, CompliantTermsAreASpringAndADamper) {
  const double h = 0.002, k = 5e3, tau = 0.03, gap = -1e-3, v = -0.4;
  const Surface surface{.friction = 0.5, .stiffness = k, .dissipation_time = tau};
  const ContactTerms terms = contact_terms(surface, gap, 1.0, h, false, {.near_rigid = 0.0});
  const double impulse = -(v + terms.normal_bias) / terms.normal_compliance;
  EXPECT_NEAR(impulse, -h * (k * (gap + h * v) + k * tau * v), 1e-15);
  EXPECT_EQ(terms.slip_compliance, 0.0);  // exact law
}

TEST(ContactLaw, NearRigidRuleLimitsTheStiffnessToWhatTheStepResolves) {
  const double h = 0.01, w = 0.7;
  const Surface hard{.friction = 0.5, .stiffness = 1e14}, soft{.friction = 0.5, .stiffness = 10.0};
  const double limit = w / (4.0 * std::numbers::pi * std::numbers::pi);
  const auto compliance = [&](const Surface& s, double beta) {
    return contact_terms(s, 0.0, w, h, false, {.near_rigid = beta}).normal_compliance;
  };
  EXPECT_DOUBLE_EQ(compliance(hard, 1.0), limit);
  EXPECT_DOUBLE_EQ(compliance(hard, 0.1), 0.01 * limit);
  EXPECT_DOUBLE_EQ(compliance(hard, 0.0), 1.0 / (h * h * 1e14));
  EXPECT_DOUBLE_EQ(compliance(soft, 1.0), 1.0 / (h * h * 10.0));
}

TEST(ContactLaw, SlipIsRegularizedUnderTheConvexLawOnly) {
  const Surface surface{.friction = 0.5, .stiffness = 1e4};
  const ContactLawSettings settings{.slip_regularization = 2e-3};
  EXPECT_DOUBLE_EQ(contact_terms(surface, 0.0, 0.5, 0.01, true, settings).slip_compliance, 1e-3);
  EXPECT_EQ(contact_terms(surface, 0.0, 0.5, 0.01, false, settings).slip_compliance, 0.0);
}

}  // namespace
}  // namespace tribo
