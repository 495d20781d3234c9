#include "tribo/flex/elasticity.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/math/pose.h"

namespace tribo {

namespace {

// Newton's iteration for the polar decomposition converges quadratically: a dozen steps from any F this well conditioned.
constexpr int kPolarSteps = 20;
constexpr double kPolarDone = 1e-15;       // change of R at which it ends
constexpr double kWellConditioned = 1e-3;  // det F / |F|^3, at most 0.19

Mat3 rotation_by_svd(const Mat3& f) {
  const Eigen::JacobiSVD<Mat3> svd(f, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Mat3 u = svd.matrixU();
  if ((u * svd.matrixV().transpose()).determinant() < 0.0) u.col(2) = -u.col(2);
  return u * svd.matrixV().transpose();
}

}  // namespace

std::string_view to_string(ElasticLaw law) {
  switch (law) {
    case ElasticLaw::linear:
      return "linear";
    case ElasticLaw::corotational:
      return "corotational";
    case ElasticLaw::stvk:
      return "stvk";
  }
  return "unknown";
}

ElasticLaw elastic_law_from_name(std::string_view name) {
  for (const ElasticLaw law : {ElasticLaw::linear, ElasticLaw::corotational, ElasticLaw::stvk}) {
    if (name == to_string(law)) return law;
  }
  throw InvalidInput(fmt::format("unknown elastic law '{}': it must be linear, corotational or stvk", name));
}

void validate(const Elasticity& e, std::string_view owner) {
  const auto refuse = [&](const char* field, double value, const char* rule) {
    throw InvalidInput(fmt::format("{} of {} is {}: it must be {}", field, owner, value, rule));
  };
  if (!(std::isfinite(e.young) && e.young > 0.0)) refuse("young", e.young, "finite and > 0 Pa");
  if (!(e.poisson > -1.0 && e.poisson < 0.5)) refuse("poisson", e.poisson, "in (-1, 0.5)");
  if (!(std::isfinite(e.density) && e.density > 0.0)) refuse("density", e.density, "finite and > 0 kg/m^3");
  if (!(std::isfinite(e.mass_damping) && e.mass_damping >= 0.0)) {
    refuse("mass_damping", e.mass_damping, "finite and >= 0 1/s");
  }
  if (!(std::isfinite(e.stiffness_damping) && e.stiffness_damping >= 0.0)) {
    refuse("stiffness_damping", e.stiffness_damping, "finite and >= 0 s");
  }
}

Mat3 polar_rotation(const Mat3& f) {
  if (!f.allFinite()) return Mat3::Identity();
  const double size = f.norm();
  if (!(f.determinant() > kWellConditioned * size * size * size)) return rotation_by_svd(f);
  Mat3 r = f;
  for (int k = 0; k < kPolarSteps; ++k) {
    const Mat3 next = 0.5 * (r + r.inverse().transpose());
    const double change = (next - r).norm();
    r = next;
    if (change <= kPolarDone) break;
  }
  return r;
}

DeformedElement::DeformedElement(const Elasticity& elasticity, const Mat3& f)
    : law_(elasticity.law), lambda_(elasticity.lame_lambda()), mu_(elasticity.lame_mu()), f_(f) {
  switch (law_) {
    case ElasticLaw::linear:
      base_.setIdentity();
      strain_ = 0.5 * (f + f.transpose()) - Mat3::Identity();
      break;
    case ElasticLaw::corotational: {
      base_ = polar_rotation(f);
      const Mat3 stretch = base_.transpose() * f;
      strain_ = 0.5 * (stretch + stretch.transpose()) - Mat3::Identity();
      break;
    }
    case ElasticLaw::stvk:
      base_ = f;
      strain_ = 0.5 * (f.transpose() * f - Mat3::Identity());
      break;
  }
}

double DeformedElement::energy_density() const {
  const double trace = strain_.trace();
  return mu_ * strain_.squaredNorm() + 0.5 * lambda_ * trace * trace;
}

Mat3 DeformedElement::stress() const {
  return base_ * (2.0 * mu_ * strain_ + lambda_ * strain_.trace() * Mat3::Identity());
}

void DeformedElement::prepare(Tangent tangent) {
  square_ = base_ * base_.transpose();
  tension_.setZero();
  if (law_ == ElasticLaw::stvk) {
    tension_ = 2.0 * mu_ * strain_ + lambda_ * strain_.trace() * Mat3::Identity();
    if (tangent == Tangent::positive) {
      const Eigen::SelfAdjointEigenSolver<Mat3> eigen(tension_);
      tension_ = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).asDiagonal() *
                 eigen.eigenvectors().transpose();
    }
  }
  turning_ = false;
  if (law_ != ElasticLaw::corotational || tangent == Tangent::positive) return;
  const Mat3 g = (3.0 + strain_.trace()) * Mat3::Identity() - (strain_ + Mat3::Identity());
  bool invertible = false;
  g.computeInverseWithCheck(inverse_g_, invertible);
  turning_ = invertible;  // else R has no derivative
  turning_stress_ = lambda_ * strain_.trace() - 2.0 * mu_;
}

Mat3 DeformedElement::stiffness(const Vec3& ga, const Vec3& gb) const {
  const Vec3 a = base_ * ga, b = base_ * gb;
  if (turning_) {
    return 2.0 * mu_ * ga.dot(gb) * Mat3::Identity() + lambda_ * a * b.transpose() -
           turning_stress_ * base_ * cross_matrix(ga) * inverse_g_ * cross_matrix(gb) * base_.transpose();
  }
  return ga.dot(tension_ * gb) * Mat3::Identity() + mu_ * (ga.dot(gb) * square_ + b * a.transpose()) +
         lambda_ * a * b.transpose();
}

}  // namespace tribo
