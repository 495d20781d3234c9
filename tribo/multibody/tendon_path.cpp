#include "tribo/multibody/tendon_path.h"

#include <algorithm>

#include "tribo/multibody/tendon_wrap.h"

namespace tribo {
namespace {

// Calls use(dof, sign) for the dofs that move the second body against the first: +1 below the second, -1 the first.
template <class Use>
void dofs_between(const Model& model, Index first, Index second, Use use) {
  Index a = model.body_dof(first), b = model.body_dof(second);
  // The larger number is the one further out; where the numbers meet, both bodies move alike.
  while (a != b) {
    if (a > b) {
      use(a, -1.0);
      a = model.dof_parent(a);
    } else {
      use(b, 1.0);
      b = model.dof_parent(b);
    }
  }
}

struct End {
  Index body;
  Vec3 point;  // in the world
};

// A straight part; its length.
double add_straight(const Kinematics& kinematics, const End& from, const End& to, double weight,
                    std::span<double> gradient) {
  const Model& model = kinematics.model();
  const Vec3 path = to.point - from.point;
  const double length = path.norm();
  if (!(length > 1e-15)) return length;  // without a direction
  const Vec3 u = weight / length * path;
  dofs_between(model, from.body, to.body, [&](Index dof, double sign) {
    const End& end = sign > 0.0 ? to : from;
    const Vec3 arm = end.point - kinematics.origin(model.body_tree(end.body));
    const auto motion = kinematics.motion().col(dof);
    const Vec3 velocity = motion.head<3>() + motion.tail<3>().cross(arm);
    gradient[static_cast<std::size_t>(dof)] += sign * u.dot(velocity);
  });
  return length;
}

bool is_shape(const TendonPoint& point) {
  return point.kind == TendonPoint::Kind::sphere || point.kind == TendonPoint::Kind::cylinder;
}

}  // namespace

std::vector<Index> tendon_dofs(const Model& model, const TendonDescription& tendon) {
  std::vector<Index> dofs;
  const auto note = [&](const TendonPoint& a, const TendonPoint& b) {
    dofs_between(model, a.body, b.body, [&](Index dof, double) { dofs.push_back(dof); });
  };
  for (std::size_t k = 0; k + 1 < tendon.path.size(); ++k) {
    const TendonPoint &a = tendon.path[k], &b = tendon.path[k + 1];
    if (a.kind == TendonPoint::Kind::pulley || b.kind == TendonPoint::Kind::pulley) continue;
    note(a, b);
    if (is_shape(b)) note(a, tendon.path[k + 2]);
  }
  std::sort(dofs.begin(), dofs.end());
  dofs.erase(std::unique(dofs.begin(), dofs.end()), dofs.end());
  return dofs;
}

double add_tendon_gradient(const Kinematics& kinematics, const TendonDescription& tendon,
                           std::span<double> gradient) {
  const auto end_of = [&](const TendonPoint& point) -> End {
    return {point.body, kinematics.pose(point.body) * point.pose.position};
  };
  double length = 0.0, weight = 1.0;
  for (std::size_t k = 0; k + 1 < tendon.path.size();) {
    const TendonPoint &first = tendon.path[k], &next = tendon.path[k + 1];
    if (first.kind == TendonPoint::Kind::pulley) weight = 1.0 / first.divisor;
    if (first.kind == TendonPoint::Kind::pulley || next.kind == TendonPoint::Kind::pulley) {
      ++k;
      continue;
    }
    const bool around = is_shape(next);
    const End a = end_of(first), b = end_of(around ? tendon.path[k + 2] : next);
    std::optional<detail::Wrap> wrap;
    if (around) {
      const Vec3 side = next.has_side ? kinematics.pose(next.side_body) * next.side : Vec3::Zero();
      wrap = detail::wrap_around(a.point, b.point, kinematics.pose(next.body) * next.pose, next.radius,
                                 next.kind == TendonPoint::Kind::cylinder, next.has_side ? &side : nullptr);
    }
    double part = 0.0;
    if (wrap) {
      part = add_straight(kinematics, a, {next.body, wrap->first}, weight, gradient) + wrap->length +
             add_straight(kinematics, {next.body, wrap->second}, b, weight, gradient);
    } else {
      part = add_straight(kinematics, a, b, weight, gradient);
    }
    length += weight * part;
    k += around ? 2 : 1;
  }
  return length;
}

}  // namespace tribo
