#include "tribo/multibody/model_validation.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <utility>

#include "tribo/base/errors.h"

namespace tribo::detail {
namespace {

constexpr double kSymmetry = 1e-9;   // of inertias, relative to their trace
constexpr double kSmallest = 1e-15;  // kg, kg m^2: what counts as no inertia, as in MuJoCo

// One piece of the model by kind, number and name, for messages.
struct Piece {
  const char* kind;
  Index index;
  const std::string& name;

  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> why, Args&&... args) const {
    const std::string label =
        name.empty() ? fmt::format("{} {}", kind, index) : fmt::format("{} {} \"{}\"", kind, index, name);
    throw InvalidInput(label + ": " + fmt::format(why, std::forward<Args>(args)...));
  }
  void finite(bool ok, const char* field) const {
    if (!ok) refuse("{} is not finite", field);
  }
  void not_negative(double value, const char* field) const {
    if (!(value >= 0.0) || std::isinf(value)) refuse("{} is {}: it must be finite and >= 0", field, value);
  }
  void ordered(double lower, double upper, const char* field) const {
    if (!(lower <= upper)) refuse("{} [{}, {}] are crossed: lower must be <= upper", field, lower, upper);
  }
};

void validate_inertia(const Piece& piece, const RigidInertia& inertia) {
  piece.not_negative(inertia.mass, "mass");
  piece.finite(inertia.center.allFinite(), "centre of mass");
  piece.finite(inertia.rotational.allFinite(), "inertia");
  const double scale = inertia.rotational.cwiseAbs().maxCoeff();
  if (!((inertia.rotational - inertia.rotational.transpose()).cwiseAbs().maxCoeff() <= kSymmetry * scale)) {
    piece.refuse("inertia is not symmetric");
  }
  const Eigen::SelfAdjointEigenSolver<Mat3> spectrum(inertia.rotational, Eigen::EigenvaluesOnly);
  const double smallest = spectrum.eigenvalues()[0];
  if (smallest < -kSymmetry * scale) {
    piece.refuse("inertia has the negative eigenvalue {}: inertias are >= 0 about every axis", smallest);
  }
}

}  // namespace

void validate_body(Index body, const BodyDescription& description, std::span<const BodyDescription> before) {
  const Piece piece{"body", body, description.name};
  if (description.parent < 0 || description.parent >= body) {
    piece.refuse("parent is {}: it must be 0 (the world) or a body added before", description.parent);
  }
  // The bodies still open are those on the path from the last one to the world.
  Index open = body - 1;
  while (open > description.parent) open = before[open - 1].parent;
  if (open != description.parent) {
    piece.refuse(
        "body {} was finished when another branch was begun: add all descendants of a body before its next "
        "sibling",
        description.parent);
  }
  piece.finite(description.position.allFinite(), "position");
  const double length = description.rotation.coeffs().stableNorm();
  if (!(length > 0.0) || !std::isfinite(length))
    piece.refuse("rotation is not a quaternion that can be normalised");
  validate_inertia(piece, description.inertia);
  piece.finite(std::isfinite(description.gravity_compensation), "gravity compensation");
  if (description.inertia_axes &&
      !(std::abs(description.inertia_axes->coeffs().stableNorm() - 1.0) <= kSymmetry)) {
    piece.refuse("the axes of its inertia are not a unit quaternion");
  }
  if (description.mocap && description.parent != 0) {
    piece.refuse("it is a mocap body on body {}: mocap bodies hang on the world", description.parent);
  }
}

void validate_joint(Index joint, const JointDescription& d) {
  const Piece piece{"joint", joint, d.name};
  const JointTraits& traits = traits_of(d.kind);
  if (traits.has_axis) {
    piece.finite(d.axis.allFinite(), "axis");
    if (!(d.axis.stableNorm() > 0.0)) piece.refuse("axis is zero");
  }
  if (traits.is_scalar()) piece.finite(std::isfinite(d.reference), "reference");
  if (traits.has_anchor) piece.finite(d.anchor.allFinite(), "anchor");
  piece.not_negative(d.armature, "armature");
  piece.not_negative(d.damping, "damping");
  piece.not_negative(d.stiffness, "stiffness");
  piece.not_negative(d.dry_friction, "dry friction");
  piece.finite(std::isfinite(d.spring_reference), "spring reference");
  piece.ordered(d.actuator_force_lower, d.actuator_force_upper, "limits of the actuators' force");
  if (!d.limited) return;
  piece.not_negative(d.limit_margin, "limit margin");
  if (traits.limit == JointLimit::none) piece.refuse("a {} joint has no limits", traits.name);
  if (traits.limit == JointLimit::rotation && !(d.upper > 0.0)) {
    piece.refuse("the upper limit is {}: that of a {} joint is its largest angle, > 0", d.upper, traits.name);
  }
  if (traits.limit == JointLimit::coordinate) piece.ordered(d.lower, d.upper, "limits");
}

void validate_joints_of(const BodyDescription& body, std::span<const JointDescription> joints) {
  if (body.mocap) {
    Piece{"body", joints.front().body, body.name}.refuse(
        "it is a mocap body and has joints: the user moves it, nothing else");
  }
  for (const JointDescription& joint : joints) {
    if (!traits_of(joint.kind).floating) continue;
    const Piece piece{"body", joint.body, body.name};
    if (joints.size() > 1)
      piece.refuse("a free joint must be the only joint of its body, here are {}", joints.size());
    if (body.parent != 0) {
      piece.refuse(
          "it has a free joint and hangs on body {}: a free joint needs a body that hangs on the world",
          body.parent);
    }
  }
}

namespace {

void validate_path(const Piece& piece, const std::vector<TendonPoint>& path, Index body_count) {
  using Kind = TendonPoint::Kind;
  const auto kind = [&](std::size_t k) { return k < path.size() ? path[k].kind : Kind::pulley; };
  for (std::size_t k = 0; k < path.size(); ++k) {
    const TendonPoint& point = path[k];
    if (point.kind == Kind::pulley) {
      if (!(point.divisor > 0.0) || std::isinf(point.divisor)) {
        piece.refuse("the divisor of a pulley is {}: it must be finite and > 0", point.divisor);
      }
      if (kind(k + 1) != Kind::site) piece.refuse("a pulley must be followed by a site");
      continue;
    }
    if (point.body < 0 || point.body >= body_count) piece.refuse("there is no body {}", point.body);
    piece.finite(point.pose.position.allFinite() && point.pose.rotation.allFinite(), "a point of its path");
    const bool after_site = k > 0 && path[k - 1].kind == Kind::site;
    if (point.kind == Kind::site) {
      const bool after_shape = k > 0 && !after_site && path[k - 1].kind != Kind::pulley;
      if (!after_site && !after_shape && kind(k + 1) == Kind::pulley) {
        piece.refuse("a piece of its path has one site only");
      }
      continue;
    }
    if (!after_site || kind(k + 1) != Kind::site)
      piece.refuse("a shape of its path must stand between two sites");
    if (!(point.radius > 0.0) || std::isinf(point.radius)) {
      piece.refuse("the radius of a shape is {}: it must be finite and > 0", point.radius);
    }
    if (!point.has_side) continue;
    if (point.side_body < 0 || point.side_body >= body_count) {
      piece.refuse("there is no body {}", point.side_body);
    }
    piece.finite(point.side.allFinite(), "a side point");
  }
}

}  // namespace

void validate_tendon(Index tendon, const TendonDescription& d, std::span<const JointDescription> joints,
                     Index body_count) {
  const Piece piece{"tendon", tendon, d.name};
  if (d.terms.empty() && d.path.empty()) piece.refuse("it has no terms and no path");
  if (!d.terms.empty() && !d.path.empty()) piece.refuse("it has terms and a path: it can have one of them");
  validate_path(piece, d.path, body_count);
  for (const TendonDescription::Term& term : d.terms) {
    if (term.joint < 0 || term.joint >= static_cast<Index>(joints.size())) {
      piece.refuse("there is no joint {}", term.joint);
    }
    const JointKind kind = joints[term.joint].kind;
    if (!traits_of(kind).is_scalar()) {
      piece.refuse("joint {} is a {} joint: terms take hinges and slides", term.joint, to_string(kind));
    }
    piece.finite(std::isfinite(term.coefficient), "a coefficient");
  }
  piece.not_negative(d.damping, "damping");
  piece.not_negative(d.stiffness, "stiffness");
  piece.not_negative(d.dry_friction, "dry friction");
  if (d.stiffness > 0.0) piece.ordered(d.spring_lower, d.spring_upper, "spring lengths");
  if (!d.limited) return;
  piece.ordered(d.lower, d.upper, "limits");
  piece.not_negative(d.limit_margin, "limit margin");
}

namespace {

void validate_muscle(const Piece& piece, const Muscle& m) {
  for (const double x : {m.range_lower, m.range_upper, m.force, m.shortest, m.longest, m.fastest,
                         m.passive_force, m.stretch_force, m.length_lower, m.length_upper}) {
    piece.finite(std::isfinite(x), "a number of its muscle");
  }
  if (!(m.range_lower < m.range_upper)) piece.refuse("the operating range of its muscle is empty");
  if (!(m.length_lower < m.length_upper)) {
    piece.refuse("the lengths [{}, {}] of its muscle are crossed: lower must be < upper", m.length_lower,
                 m.length_upper);
  }
  if (!(m.shortest < 1.0 && m.longest > 1.0)) {
    piece.refuse("its muscle works between {} and {} resting lengths: 1 must lie between them", m.shortest,
                 m.longest);
  }
  if (!(m.fastest > 0.0)) piece.refuse("the speed of its muscle is {}: it must be > 0", m.fastest);
}

void validate_activation(const Piece& piece, const ActuatorDescription& d) {
  if (d.activation == ActivationKind::none) return;
  piece.finite(d.activation_times.allFinite(), "a time of its activation");
  piece.ordered(d.activation_lower, d.activation_upper, "activation limits");
  const bool timed = d.activation != ActivationKind::integrator;
  if (timed && !(d.activation_times[0] > 0.0)) {
    piece.refuse("the time of its activation is {}: it must be > 0 s", d.activation_times[0]);
  }
  if (d.activation != ActivationKind::muscle) return;
  if (!(d.activation_times[1] > 0.0)) {
    piece.refuse("the time of its deactivation is {}: it must be > 0 s", d.activation_times[1]);
  }
  piece.not_negative(d.activation_times[2], "width of the change between activation and deactivation");
}

}  // namespace

void validate_actuator(Index actuator, const ActuatorDescription& d, const ModelSizes& sizes) {
  const Piece piece{"actuator", actuator, d.name};
  const int targets = (d.joint >= 0) + (d.tendon >= 0) + (d.site >= 0) + (d.body >= 0);
  if (targets != 1) {
    piece.refuse(
        "it acts on joint {}, tendon {}, site {} and body {}: exactly one of them must be given (others -1)",
        d.joint, d.tendon, d.site, d.body);
  }
  if (d.joint >= sizes.joints) piece.refuse("there is no joint {}", d.joint);
  if (d.tendon >= sizes.tendons) piece.refuse("there is no tendon {}", d.tendon);
  if (d.site >= sizes.sites) piece.refuse("there is no site {}", d.site);
  if (d.reference_site >= sizes.sites) piece.refuse("there is no site {}", d.reference_site);
  if (d.body >= sizes.bodies) piece.refuse("there is no body {}", d.body);
  if (d.reference_site >= 0 && d.site < 0) piece.refuse("a reference site needs a site");
  piece.finite(d.gear.allFinite(), "gear");
  piece.finite(std::isfinite(d.gain), "gain");
  piece.finite(std::isfinite(d.gain_slope[0]) && std::isfinite(d.gain_slope[1]), "slope of the gain");
  piece.finite(d.bias.allFinite(), "bias");
  piece.ordered(d.control_lower, d.control_upper, "control limits");
  piece.ordered(d.force_lower, d.force_upper, "force limits");
  for (const auto& muscle : {d.muscle_gain, d.muscle_bias}) {
    if (muscle) validate_muscle(piece, *muscle);
  }
  validate_activation(piece, d);
}

void validate_site(Index site, const SiteDescription& d, Index body_count) {
  const Piece piece{"site", site, d.name};
  if (d.body < 0 || d.body >= body_count) piece.refuse("there is no body {}", d.body);
  piece.finite(d.pose.position.allFinite() && d.pose.rotation.allFinite(), "pose");
}

// A joint with nothing but point masses on its axis is singular for good only when nothing below it moves.
void validate_inertias(const Model& model) {
  std::vector<RigidInertia> composite(model.body_count());
  std::vector<bool> moves_below(model.body_count(), false);
  for (Index b = 1; b < model.body_count(); ++b) composite[b] = model.inertia(b);
  for (Index b = model.body_count() - 1; b >= 1; --b) {
    const Piece piece{"body", b, model.body_name(b)};
    const RigidInertia& whole = composite[b];
    for (Index j = model.joint_begin(b); j < model.joint_end(b); ++j) {
      const JointDescription& joint = model.joint(j);
      const JointTraits& traits = traits_of(joint.kind);
      if (joint.armature > 0.0) continue;
      if (!(whole.mass > kSmallest)) {
        const double spin = whole.rotational.trace();
        if (traits.translates || !(spin > kSmallest)) {
          piece.refuse("it moves but has no mass: give it an inertia, or its joints an armature");
        }
      }
      if (traits.rotation == JointRotation::none || moves_below[b]) continue;
      const Vec3 pivot = traits.has_anchor ? joint.anchor : whole.center;
      const Mat3 about =
          whole.rotational + whole.mass * ((whole.center - pivot).squaredNorm() * Mat3::Identity() -
                                           (whole.center - pivot) * (whole.center - pivot).transpose());
      const double least =
          traits.rotation == JointRotation::axis
              ? joint.axis.dot(about * joint.axis)
              : Eigen::SelfAdjointEigenSolver<Mat3>(about, Eigen::EigenvaluesOnly).eigenvalues()[0];
      if (!(least > kSmallest)) {
        piece.refuse(
            "its {} joint turns it about an axis without rotational inertia: give it one, or the joint an "
            "armature",
            traits.name);
      }
    }
    const Index parent = model.body_parent(b);
    if (parent == 0) continue;
    composite[parent] =
        composite[parent] + whole.placed({model.body_position(b), model.body_rotation(b).toRotationMatrix()});
    if (moves_below[b] || model.joint_begin(b) < model.joint_end(b)) moves_below[parent] = true;
  }
}

}  // namespace tribo::detail
