#include "tribo/sim/contact/contact_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace tribo {

namespace {

double combined_friction(double a, double b, FrictionRule rule) {
  switch (rule) {
    case FrictionRule::maximum:
      return std::max(a, b);
    case FrictionRule::harmonic:
      return a + b > 0.0 ? 2.0 * a * b / (a + b) : 0.0;
    case FrictionRule::geometric:
      return std::sqrt(a * b);
  }
  return std::max(a, b);
}

}  // namespace

Surface surface_of(const Material& material) {
  return {material.friction, material.stiffness, material.dissipation_time, material.restitution};
}

Surface combine(const Material& a, const Material& b, FrictionRule rule) {
  if (a.priority != b.priority) return surface_of(a.priority > b.priority ? a : b);
  Surface s;
  s.friction = combined_friction(a.friction, b.friction, rule);
  s.restitution = std::max(a.restitution, b.restitution);
  const bool rigid_a = std::isinf(a.stiffness), rigid_b = std::isinf(b.stiffness);
  if (rigid_a || rigid_b) {
    s.stiffness = rigid_a ? b.stiffness : a.stiffness;
    s.dissipation_time = rigid_a && rigid_b ? 0.5 * (a.dissipation_time + b.dissipation_time)
                         : rigid_a          ? b.dissipation_time
                                            : a.dissipation_time;
    return s;
  }
  const double sum = a.stiffness + b.stiffness;
  s.stiffness = a.stiffness * b.stiffness / sum;
  s.dissipation_time = (b.stiffness * a.dissipation_time + a.stiffness * b.dissipation_time) / sum;
  return s;
}

ContactTerms contact_terms(const Surface& surface, double gap, double w, double h, bool regularize_slip,
                           const ContactLawSettings& settings) {
  ContactTerms terms;
  if (surface.is_rigid()) {
    terms.normal_bias = rigid_bias(gap, h, settings);
    return terms;
  }
  const double tau = surface.dissipation_time;
  const double resolved = settings.near_rigid / (2.0 * std::numbers::pi);
  terms.normal_bias = gap / (h + tau);
  terms.normal_compliance = std::max(resolved * resolved * w, 1.0 / (h * surface.stiffness * (h + tau)));
  if (regularize_slip) terms.slip_compliance = settings.slip_regularization * w;
  return terms;
}

}  // namespace tribo
