#include "tribo/sim/flex/flexible_motion.h"

#include <fmt/format.h>

#include <limits>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

constexpr Index kMostIterations = 60;
constexpr double kTolerance = 1e-13;  // of the velocity, relative, in the norm of nodes
// Newton's method with a positive K converges linearly where elements are compressed; a step that is not this much smaller than
// the one before shows rounding, or a motion that the step cannot resolve.
constexpr double kProgress = 0.9;

}  // namespace

FlexibleMotion::Body::Body(const FlexibleBody& description, const std::string& label, Index first_dof)
    : elastic(placed(description.mesh, description.pose), description.elasticity, label),
      factor(*elastic.pattern(), description.fixed_nodes),
      stiffness(elastic.pattern()),
      matrix(elastic.pattern()),
      first(first_dof) {}

FlexibleMotion::FlexibleMotion(const World& world) : world_(&world) {
  Index dofs = 0;
  bodies_.reserve(world.flexible_bodies.size());
  for (std::size_t f = 0; f < world.flexible_bodies.size(); ++f) {
    bodies_.emplace_back(world.flexible_bodies[f], fmt::format("mesh of flexible body {}", f), dofs);
    dofs += bodies_.back().elastic.dof_count();
  }
  momentum_ = velocity_ = Vector::Zero(dofs);
}

void FlexibleMotion::compute(const State& state, Scheme scheme, double h) {
  const bool linear = scheme == Scheme::symplectic_euler;
  for (Body& body : bodies_) {
    const Index n = body.elastic.dof_count();
    Step step{.x0 = state.node_position.segment(body.first, n),
              .v0 = state.node_velocity.segment(body.first, n),
              .weight = body.elastic.weight(world_->gravity),
              .h = h,
              .theta = linear ? 1.0 : theta_of(scheme),
              .weight_vq = theta_vq(scheme)};
    body.factor.clear_fixed(step.v0);
    linear ? linear_step(body, step) : implicit_step(body, step);
  }
}

// A, factorised, with the stiffness at x.
void FlexibleMotion::set_matrix(Body& body, const Vector& x, const Step& step) {
  const Elasticity& e = body.elastic.elasticity();
  body.elastic.stiffness(x, Tangent::positive, body.stiffness);
  body.matrix.set_zero();
  body.matrix.add_scaled(1.0 + step.theta * step.h * e.mass_damping, body.elastic.mass_matrix());
  body.matrix.add_scaled(step.theta * step.h * (step.weight_vq * step.h + e.stiffness_damping),
                         body.stiffness);
  if (!body.factor.factorize(body.matrix)) {
    throw InvalidInput(
        "the matrix of a flexible body is not positive definite: its stiffness, its density or the time step "
        "overflow");
  }
}

void FlexibleMotion::linear_step(Body& body, const Step& step) {
  set_matrix(body, step.x0, step);
  const Index n = body.elastic.dof_count();
  Vector force = step.weight;
  body.elastic.add_forces(step.x0, force);
  Vector b = step.h * force;
  body.elastic.mass_matrix().add_product(1.0, step.v0, b);
  body.factor.clear_fixed(b);
  momentum_.segment(body.first, n) = b;
  body.factor.solve(b);
  velocity_.segment(body.first, n) = b;
}

void FlexibleMotion::implicit_step(Body& body, const Step& step) {
  const Elasticity& e = body.elastic.elasticity();
  const Index n = body.elastic.dof_count();
  Vector v = step.v0;
  double last = std::numeric_limits<double>::infinity();
  for (Index iteration = 0; iteration < kMostIterations; ++iteration) {
    const Vector moving = step.weight_vq * v + (1.0 - step.weight_vq) * step.v0;
    const Vector x = step.x0 + step.theta * step.h * moving;
    const Vector damped = step.theta * v + (1.0 - step.theta) * step.v0;
    set_matrix(body, x, step);
    Vector force = step.weight;
    body.elastic.add_forces(x, force);
    if (e.mass_damping > 0.0) body.elastic.mass_matrix().add_product(-e.mass_damping, damped, force);
    if (e.stiffness_damping > 0.0) body.stiffness.add_product(-e.stiffness_damping, damped, force);
    Vector change = step.h * force;
    body.elastic.mass_matrix().add_product(-1.0, v - step.v0, change);
    body.factor.solve(change);
    const double size = change.norm();
    if (!std::isfinite(size) || size > kProgress * last) break;
    v += change;
    if (size <= kTolerance * (v.norm() + kTolerance)) break;
    last = size;
  }
  velocity_.segment(body.first, n) = v;
  body.factor.factor()->multiply(v.data(), momentum_.data() + body.first);
}

double FlexibleMotion::kinetic_energy(const State& state) const {
  double sum = 0.0;
  for (const Body& body : bodies_) {
    sum += body.elastic.kinetic_energy(state.node_velocity.segment(body.first, body.elastic.dof_count()));
  }
  return sum;
}

double FlexibleMotion::weight_energy(const State& state) const {
  double sum = 0.0;
  for (const Body& body : bodies_) {
    const Vector weight = body.elastic.weight(world_->gravity);
    sum -= weight.dot(state.node_position.segment(body.first, body.elastic.dof_count()));
  }
  return sum;
}

double FlexibleMotion::elastic_energy(const State& state) const {
  double sum = 0.0;
  for (const Body& body : bodies_) {
    sum += body.elastic.energy(state.node_position.segment(body.first, body.elastic.dof_count()));
  }
  return sum;
}

Vec6 FlexibleMotion::momentum(const State& state) const {
  Vec6 sum = Vec6::Zero();
  for (const Body& body : bodies_) {
    const Index n = body.elastic.dof_count();
    sum += body.elastic.momentum(state.node_position.segment(body.first, n),
                                 state.node_velocity.segment(body.first, n));
  }
  return sum;
}

}  // namespace tribo
