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

Surface surface_of(const Material& material, double second_friction, double second_rolling) {
  Surface s;
  s.friction = material.friction;
  s.stiffness = material.stiffness;
  s.dissipation_time = material.dissipation_time;
  s.restitution = material.restitution;
  s.coefficients = {material.friction, second_friction < 0.0 ? material.friction : second_friction,
                    material.torsional, material.rolling,
                    second_rolling < 0.0 ? material.rolling : second_rolling};
  return s;
}

Surface Surface::with_rows(Index count) const {
  Surface s = *this;
  const auto tangents = static_cast<std::size_t>(std::max<Index>(count, 3)) - 1;
  for (std::size_t k = tangents; k < s.coefficients.size(); ++k) s.coefficients[k] = 0.0;
  s.rows = EllipticRows({s.coefficients.data(), tangents});
  if (s.rows.scaled) s.friction = s.rows.friction;  // 1, in scaled rows
  return s;
}

Surface combine(const Material& a, const Material& b, FrictionRule rule) {
  if (a.priority != b.priority) return surface_of(a.priority > b.priority ? a : b);
  Surface s;
  s.friction = combined_friction(a.friction, b.friction, rule);
  const double torsional = combined_friction(a.torsional, b.torsional, rule);
  const double rolling = combined_friction(a.rolling, b.rolling, rule);
  s.coefficients = {s.friction, s.friction, torsional, rolling, rolling};
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

ContactTerms compliant_terms(double stiffness, double dissipation_time, double gap, double w, double h,
                             bool regularize_slip, const ContactLawSettings& settings) {
  ContactTerms terms;
  const double tau = dissipation_time;
  const double resolved = settings.near_rigid / (2.0 * std::numbers::pi);
  terms.normal_bias = gap / (h + tau);
  terms.normal_compliance = std::max(resolved * resolved * w, 1.0 / (h * stiffness * (h + tau)));
  if (regularize_slip) terms.slip_compliance = settings.slip_regularization * w;
  return terms;
}

ContactTerms contact_terms(const Surface& surface, double gap, double w, double h, bool regularize_slip,
                           const ContactLawSettings& settings) {
  if (surface.is_rigid()) return {.normal_bias = rigid_bias(gap, h, settings)};
  return compliant_terms(surface.stiffness, surface.dissipation_time, gap, w, h, regularize_slip, settings);
}

}  // namespace tribo
