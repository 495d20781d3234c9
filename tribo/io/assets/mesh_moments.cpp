#include "tribo/io/assets/mesh_moments.h"

#include <fmt/format.h>

#include <cmath>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/quickhull.h"

namespace tribo::detail {
namespace {

struct Corner {
  Vec3 a, b, c;
  double area() const { return 0.5 * (b - a).cross(c - a).norm(); }
  Vec3 middle() const { return (a + b + c) / 3.0; }
};

Corner corners(const MeshData& mesh, const std::array<Index, 3>& t, const Vec3& origin) {
  const auto at = [&](int k) -> Vec3 { return mesh.vertices[static_cast<std::size_t>(t[k])] - origin; };
  return {at(0), at(1), at(2)};
}

double signed_volume(const Corner& t) { return t.a.dot(t.b.cross(t.c)) / 6.0; }

// Integral of x x^T over the tetrahedron (0, a, b, c): volume / 20 (sum of the corners' products + s s^T), s the
// sum of the corners. Over a triangle the same with area / 12.
Mat3 second_moment(const Corner& t, double measure, double denominator) {
  const Vec3 s = t.a + t.b + t.c;
  return measure / denominator *
         (t.a * t.a.transpose() + t.b * t.b.transpose() + t.c * t.c.transpose() + s * s.transpose());
}

Mat3 to_inertia(const Mat3& moment) { return moment.trace() * Mat3::Identity() - moment; }

VolumeMoments shell_moments(const MeshData& mesh) {
  VolumeMoments result;
  Vec3 weighted = Vec3::Zero();
  for (const auto& triangle : mesh.triangles) {
    const Corner t = corners(mesh, triangle, Vec3::Zero());
    result.volume += t.area();
    weighted += t.area() * t.middle();
  }
  if (!(result.volume > 0.0)) throw InvalidInput("the surface of the mesh has no area");
  result.center = weighted / result.volume;
  Mat3 moment = Mat3::Zero();
  for (const auto& triangle : mesh.triangles) {
    const Corner t = corners(mesh, triangle, result.center);
    moment += second_moment(t, t.area(), 12.0);
  }
  result.inertia = to_inertia(moment);
  return result;
}

}  // namespace

MeshData hull_surface(const std::vector<Vec3>& points) {
  if (points.size() < 4) {
    throw InvalidInput(fmt::format("a convex hull needs 4 points, not {}", points.size()));
  }
  Eigen::AlignedBox3d box;
  for (const Vec3& p : points) box.extend(p);
  MeshData surface{points, {}};
  // The tolerance of ConvexHull::around.
  for (const HullTriangle& t : quickhull(points, 1e-10 * box.sizes().maxCoeff())) {
    surface.triangles.push_back(t.vertices);
  }
  return surface;
}

VolumeMoments mesh_moments(const MeshData& mesh, MeshInertia mode) {
  if (mode == MeshInertia::convex) return mesh_moments(hull_surface(mesh.vertices), MeshInertia::exact);
  if (mode == MeshInertia::shell) return shell_moments(mesh);
  const bool absolute = mode == MeshInertia::legacy;
  const auto volume_of = [absolute](const Corner& t) {
    const double volume = signed_volume(t);
    return absolute ? std::abs(volume) : volume;
  };
  // Tetrahedra from the middle of the surface: the choice matters where volumes count absolutely.
  const Vec3 middle = shell_moments(mesh).center;
  VolumeMoments result;
  Vec3 weighted = Vec3::Zero();
  double first_volume = 0.0;
  for (const auto& triangle : mesh.triangles) {
    const Corner t = corners(mesh, triangle, middle);
    const double volume = volume_of(t);
    first_volume += volume;
    weighted += volume * 0.75 * t.middle();
  }
  if (!(first_volume > 1e-15)) throw InvalidInput("the volume of the mesh is not positive");
  result.center = middle + weighted / first_volume;
  Mat3 moment = Mat3::Zero();
  for (const auto& triangle : mesh.triangles) {
    const Corner t = corners(mesh, triangle, result.center);
    const double volume = volume_of(t);
    result.volume += volume;
    moment += second_moment(t, volume, 20.0);
  }
  result.inertia = to_inertia(moment);
  return result;
}

}  // namespace tribo::detail
