#include "tribo/collide/narrow/convex_core.h"

#include <algorithm>

#include "tribo/collide/narrow/facets.h"

namespace tribo::detail {

namespace {

double sign(double x) { return x < 0.0 ? -1.0 : 1.0; }

}  // namespace

ConvexCore core_of(const Shape& shape) {
  ConvexCore core;
  core.size = shape.size();
  switch (shape.kind()) {
    case ShapeKind::sphere:
      core.kind = CoreKind::point;
      core.radius = core.scale = shape.radius();
      break;
    case ShapeKind::capsule:
      core.kind = shape.half_length() > 0.0 ? CoreKind::segment : CoreKind::point;
      core.size = Vec3(0.0, 0.0, shape.half_length());
      core.radius = core.scale = shape.radius();
      break;
    case ShapeKind::box:
      core.kind = CoreKind::box;
      core.scale = core.size.minCoeff();
      break;
    case ShapeKind::cylinder:
      core.kind = CoreKind::cylinder;
      core.scale = std::min(shape.radius(), shape.half_length());
      break;
    case ShapeKind::ellipsoid:
      core.kind = CoreKind::ellipsoid;
      core.scale = core.size.minCoeff();
      break;
    case ShapeKind::hull:
      core.kind = CoreKind::hull;
      core.hull = &shape.hull();
      core.scale = 0.5 * (core.hull->bounds().upper - core.hull->bounds().lower).minCoeff();
      break;
    default:
      break;
  }
  return core;
}

ConvexCore core_of(const std::array<Vec3, 3>& triangle) {
  ConvexCore core;
  core.kind = CoreKind::triangle;
  core.corners = triangle;
  core.scale = 0.5 * std::sqrt(std::min({(triangle[1] - triangle[0]).squaredNorm(),
                                         (triangle[2] - triangle[1]).squaredNorm(),
                                         (triangle[0] - triangle[2]).squaredNorm()}));
  return core;
}

Vec3 ConvexCore::center() const {
  if (kind == CoreKind::hull) return 0.5 * (hull->bounds().lower + hull->bounds().upper);
  if (kind == CoreKind::triangle) return (corners[0] + corners[1] + corners[2]) / 3.0;
  return Vec3::Zero();
}

Vec3 ConvexCore::support(const Vec3& d) const {
  switch (kind) {
    case CoreKind::point:
      return Vec3::Zero();
    case CoreKind::segment:
      return {0.0, 0.0, std::copysign(size.z(), d.z())};
    case CoreKind::box:
      return {std::copysign(size.x(), d.x()), std::copysign(size.y(), d.y()), std::copysign(size.z(), d.z())};
    case CoreKind::cylinder: {
      const double length = std::sqrt(d.x() * d.x() + d.y() * d.y());
      const double factor = length > 0.0 ? size.x() / length : 0.0;
      return {factor * d.x(), factor * d.y(), std::copysign(size.y(), d.z())};
    }
    case CoreKind::ellipsoid: {
      const Vec3 scaled = size.cwiseProduct(d);
      return size.cwiseProduct(scaled) / std::max(scaled.norm(), 1e-300);
    }
    case CoreKind::hull:
      hint = hull->support(d, hint);
      return hull->vertices()[hint];
    case CoreKind::triangle: {
      const double x = d.dot(corners[0]), y = d.dot(corners[1]), z = d.dot(corners[2]);
      if (x >= y) return x >= z ? corners[0] : corners[2];
      return y >= z ? corners[1] : corners[2];
    }
  }
  return Vec3::Zero();
}

// Cylinder: h = r |n_xy| + ..., curved around the axis only. Ellipsoid: h = |D n|.
Mat3 ConvexCore::support_hessian(const Vec3& n) const {
  Mat3 result = Mat3::Zero();
  if (kind == CoreKind::cylinder) {
    const double length2 = n.x() * n.x() + n.y() * n.y();
    if (length2 < 1e-12) return result;
    const Vec2 tangent = Vec2(-n.y(), n.x()) / std::sqrt(length2);
    result.topLeftCorner<2, 2>() = (size.x() / std::sqrt(length2)) * tangent * tangent.transpose();
  } else if (kind == CoreKind::ellipsoid) {
    const Vec3 square = size.cwiseProduct(size), gradient = square.cwiseProduct(n);
    const double h = size.cwiseProduct(n).norm();
    result = (Mat3(square.asDiagonal()) - gradient * gradient.transpose() / (h * h)) / h;
  }
  return result;
}

namespace {

void cylinder_facet(const ConvexCore& core, const Vec3& n, std::span<const Vec2> rim, Facet& facet) {
  const double radius = core.size.x(), half = core.size.y(), across = std::hypot(n.x(), n.y());
  if (std::abs(n.z()) > across) {
    const double side = sign(n.z());
    const std::uint32_t base = side > 0.0 ? 256u : 0u;
    facet.normal = Vec3(0.0, 0.0, side);
    for (std::size_t k = 0; k < rim.size(); ++k) {
      const std::size_t position = side > 0.0 ? k : rim.size() - 1 - k;
      facet.add({radius * rim[position].x(), radius * rim[position].y(), side * half},
                base + static_cast<std::uint32_t>(position));
    }
    return;
  }
  const double x = radius * n.x() / across, y = radius * n.y() / across;
  facet.add({x, y, -half}, 512u);
  facet.add({x, y, half}, 513u);
}

// The face at the farthest vertex that looks most into the direction; so it contains that vertex. Faces with more
// vertices than a facet holds are thinned out evenly.
void hull_facet(const ConvexCore& core, const Vec3& n, Facet& facet) {
  const ConvexHull& hull = *core.hull;
  core.hint = hull.support(n, core.hint);
  Index best = -1;
  double cosine = -2.0;
  for (const Index f : hull.faces_at(core.hint)) {
    const double c = hull.face_normal(f).dot(n);
    if (c > cosine) cosine = c, best = f;
  }
  const auto loop = hull.face(best);
  const std::size_t step = (loop.size() + Facet::capacity - 1) / Facet::capacity;
  facet.normal = hull.face_normal(best);
  for (std::size_t k = 0; k < loop.size(); k += step)
    facet.add(hull.vertices()[loop[k]], static_cast<std::uint32_t>(loop[k]) & 0x7fffu);
}

}  // namespace

void core_facet(const ConvexCore& core, const Vec3& n, std::span<const Vec2> rim, Facet& facet) {
  facet.count = 0;
  switch (core.kind) {
    case CoreKind::segment:
      if (std::abs(n.z()) < 0.7) {
        facet.add({0.0, 0.0, -core.size.z()}, 0);
        facet.add({0.0, 0.0, core.size.z()}, 1);
      } else {
        facet.add({0.0, 0.0, std::copysign(core.size.z(), n.z())}, n.z() > 0.0 ? 1 : 0);
      }
      break;
    case CoreKind::box:
      box_facet(core.size, Pose{}, n, facet);
      break;
    case CoreKind::cylinder:
      cylinder_facet(core, n, rim, facet);
      break;
    case CoreKind::hull:
      hull_facet(core, n, facet);
      break;
    case CoreKind::triangle: {
      const Vec3 normal =
          (core.corners[1] - core.corners[0]).cross(core.corners[2] - core.corners[0]).normalized();
      const bool front = normal.dot(n) >= 0.0;
      facet.normal = front ? normal : Vec3(-normal);
      for (std::uint32_t k = 0; k < 3; ++k) facet.add(core.corners[front ? k : 2 - k], front ? k : 2 - k);
      break;
    }
    case CoreKind::point:
    case CoreKind::ellipsoid:
      facet.add(core.support(n), 0);
      break;
  }
}

}  // namespace tribo::detail
