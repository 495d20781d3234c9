// The motion of the flexible bodies of a world without constraints: A (v - v*) = J^T lambda linearised about it, as FreeMotion
// has it for mechanisms (sim/forces/free_motion.h), with sparse A:
//
//   M (v - v0) = h (f(x_th) + M g - D v_th),   x_th = x0 + theta h v_tvq,   v_th = theta v + (1 - theta) v0
//   A = (1 + theta h alpha) M + (theta theta_vq h^2 + theta h beta) K,   D = alpha M + beta K
//
// with K positive (flex/elasticity.h), so that A is positive definite whatever the deformation. Stiffness is never explicit: the
// symplectic scheme takes one step of Newton's method from v0 = 0 (linearly implicit Euler: A v = M v0 + h (f(x0) + M g)), the implicit
// schemes iterate. Fixed nodes have a unit row in A and do not move.
//
// Flexible body f is tree T + f of a step, behind the T trees of the model; its dofs are three per node, world axes.
#pragma once

#include <memory>
#include <vector>

#include "tribo/flex/elastic_body.h"
#include "tribo/sim/forces/free_motion.h"
#include "tribo/sim/world.h"

namespace tribo {

class FlexibleMotion {
 public:
  // Keeps a reference to the world.
  explicit FlexibleMotion(const World& world);

  Index count() const { return static_cast<Index>(bodies_.size()); }
  Index dof_count() const { return static_cast<Index>(velocity_.size()); }
  Index dof(Index f) const { return bodies_[f].first; }
  Index dof_count(Index f) const { return bodies_[f].elastic.dof_count(); }
  const ElasticBody& body(Index f) const { return bodies_[f].elastic; }
  bool is_fixed(Index f, Index node) const { return bodies_[f].factor.is_fixed(node); }

  void compute(const State& state, Scheme scheme, double h);
  // Of the last compute(): A, b = A v* and v* [dofs].
  std::shared_ptr<const SparseFactor> matrix(Index f) const { return bodies_[f].factor.factor(); }
  const Vector& momentum() const { return momentum_; }
  const Vector& velocity() const { return velocity_; }

  double kinetic_energy(const State& state) const;  // J
  double weight_energy(const State& state) const;   // J, relative to the world's origin
  double elastic_energy(const State& state) const;  // J
  Vec6 momentum(const State& state) const;          // N s, N m s about the world's origin

 private:
  struct Body {
    Body(const FlexibleBody& description, const std::string& label, Index first_dof);
    ElasticBody elastic;
    NodeFactor factor;
    NodeMatrix stiffness, matrix;
    Index first;
  };
  // Of one body, [its dofs].
  struct Step {
    Vector x0, v0, weight;
    double h, theta, weight_vq;
  };

  void set_matrix(Body& body, const Vector& x, const Step& step);
  void linear_step(Body& body, const Step& step);
  void implicit_step(Body& body, const Step& step);

  const World* world_;
  std::vector<Body> bodies_;
  Vector momentum_, velocity_;
};

}  // namespace tribo
