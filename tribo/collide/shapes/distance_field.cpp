// The surface comes from marching tetrahedra: every cube of the grid is six tetrahedra around its diagonal, each cut
// by the zero of its linear interpolant in one or two triangles. Neighbouring tetrahedra share their faces, so the
// surface is closed. Bodies from formulas bring a better one, whose triangles follow their profiles.
#include "tribo/collide/shapes/distance_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "tribo/base/errors.h"
#include "tribo/collide/narrow/sphere_pairs.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/collide/shapes/mesh_distance.h"

namespace tribo {

namespace {

constexpr double most_samples = 5e7;
// Moments that no formula gives come from a surface so many times as fine as that of the contact search: the error of a
// chord falls with the square.
constexpr double kMomentRefinement = 2.0;

// Builds the surface; vertices are shared by the edge of the grid they lie on.
class MarchingTetrahedra {
 public:
  MarchingTetrahedra(const std::array<Index, 3>& count, const Vec3& origin, double spacing,
                     const std::vector<double>& values)
      : count_(count), origin_(origin), spacing_(spacing), values_(values) {}

  void run() {
    static constexpr int paths[6][2] = {{1, 2}, {2, 1}, {0, 2}, {2, 0}, {0, 1}, {1, 0}};
    for (Index z = 0; z + 1 < count_[2]; ++z)
      for (Index y = 0; y + 1 < count_[1]; ++y)
        for (Index x = 0; x + 1 < count_[0]; ++x)
          for (const auto& path : paths) {
            // From corner (0,0,0) to (1,1,1) along one axis after another.
            std::array<Index, 3> at{x, y, z};
            std::array<Index, 4> corners;
            corners[0] = number(at);
            const int first = 3 - path[0] - path[1];
            int step = 0;
            for (const int axis : {first, path[0], path[1]}) {
              ++at[axis];
              corners[++step] = number(at);
            }
            cut(corners);
          }
  }

  std::vector<Vec3> vertices;
  std::vector<TriangleMesh::Triangle> triangles;

 private:
  Index number(const std::array<Index, 3>& at) const {
    return (at[2] * count_[1] + at[1]) * count_[0] + at[0];
  }
  Vec3 position(Index n) const {
    return origin_ + spacing_ * Vec3(n % count_[0], (n / count_[0]) % count_[1], n / (count_[0] * count_[1]));
  }

  Index vertex(Index i, Index j) {
    const auto key = std::minmax(i, j);
    const auto [it, fresh] = known_.try_emplace({key.first, key.second}, static_cast<Index>(vertices.size()));
    if (fresh) {
      const double vi = values_[key.first], vj = values_[key.second];
      const double t =
          std::clamp(vi / (vi - vj), 0.01, 0.99);  // not in the corner: no triangles without area
      vertices.push_back(position(key.first) + t * (position(key.second) - position(key.first)));
    }
    return it->second;
  }

  // `inside`: a point on the inner side, which decides how the triangle turns.
  void add(Index a, Index b, Index c, const Vec3& inside) {
    const Vec3 normal = (vertices[b] - vertices[a]).cross(vertices[c] - vertices[a]);
    if (normal.dot(inside - vertices[a]) > 0.0) std::swap(b, c);
    triangles.push_back({a, b, c});
  }

  void cut(const std::array<Index, 4>& corners) {
    std::array<Index, 4> in, out;
    int ins = 0, outs = 0;
    for (const Index c : corners) (values_[c] < 0.0 ? in[ins++] : out[outs++]) = c;
    if (ins == 0 || outs == 0) return;
    Vec3 inside = Vec3::Zero();
    for (int k = 0; k < ins; ++k) inside += position(in[k]) / ins;
    if (ins == 1) {
      add(vertex(in[0], out[0]), vertex(in[0], out[1]), vertex(in[0], out[2]), inside);
    } else if (ins == 3) {
      add(vertex(in[0], out[0]), vertex(in[1], out[0]), vertex(in[2], out[0]), inside);
    } else {
      const Index a = vertex(in[0], out[0]), b = vertex(in[0], out[1]), c = vertex(in[1], out[1]),
                  d = vertex(in[1], out[0]);
      add(a, b, c, inside);
      add(a, c, d, inside);
    }
  }

  std::array<Index, 3> count_;
  Vec3 origin_;
  double spacing_;
  const std::vector<double>& values_;
  std::map<std::pair<Index, Index>, Index> known_;
};

double primitive_distance(const Shape& shape, const Vec3& p) {
  const Vec3 s = shape.size();
  switch (shape.kind()) {
    case ShapeKind::sphere:
      return p.norm() - s.x();
    case ShapeKind::capsule:
      return (p - Vec3(0, 0, std::clamp(p.z(), -s.y(), s.y()))).norm() - s.x();
    case ShapeKind::box:
      return detail::distance_from_box(s, p).distance;
    case ShapeKind::cylinder:
      return detail::distance_from_cylinder(s.x(), s.y(), p).distance;
    default:
      throw InvalidInput(fmt::format("no distance field of a {}", to_string(shape.kind())));
  }
}

}  // namespace

void DistanceField::sample_grid(const Function& distance, const Aabb& region, double spacing) {
  if (!(spacing > 0.0) || !std::isfinite(spacing))
    throw InvalidInput(fmt::format("spacing of a distance field is {}: it must be finite and > 0", spacing));
  const Vec3 width = region.upper - region.lower;
  if (!width.allFinite() || !(width.minCoeff() > 0.0))
    throw InvalidInput("region of a distance field must be finite and have a volume");
  double samples = 1.0;
  for (int k = 0; k < 3; ++k) samples *= std::ceil(width[k] / spacing) + 1.0;
  if (samples > most_samples)
    throw InvalidInput(
        fmt::format("spacing {} of a distance field needs {:.2g} samples: at most {:.2g} are allowed",
                    spacing, samples, most_samples));
  for (int k = 0; k < 3; ++k) count_[k] = static_cast<Index>(std::ceil(width[k] / spacing)) + 1;
  origin_ = region.lower;
  spacing_ = spacing;
  values_.resize(static_cast<std::size_t>(samples));
  std::size_t n = 0;
  for (Index z = 0; z < count_[2]; ++z)
    for (Index y = 0; y < count_[1]; ++y)
      for (Index x = 0; x < count_[0]; ++x) {
        const double value = distance(origin_ + spacing * Vec3(x, y, z));
        if (!std::isfinite(value))
          throw InvalidInput("the function of a distance field is not finite in its region");
        values_[n++] = value;
      }
}

std::shared_ptr<const DistanceField> DistanceField::bake(const Function& distance, const Aabb& region,
                                                         double spacing) {
  std::shared_ptr<DistanceField> field(new DistanceField);
  field->sample_grid(distance, region, spacing);
  MarchingTetrahedra marching(field->count_, field->origin_, spacing, field->values_);
  marching.run();
  if (marching.triangles.empty()) throw InvalidInput("a distance field has no surface in its region");
  // Onto the zero of the function itself, as far as it is smooth there.
  for (Vec3& vertex : marching.vertices)
    for (int step = 0; step < 3; ++step) {
      const Sample sample = field->sample(vertex);
      const double length2 = sample.gradient.squaredNorm();
      if (length2 < 0.25) break;
      const Vec3 shift = (distance(vertex) / length2) * sample.gradient;
      if (shift.norm() > 0.25 * spacing) break;
      vertex -= shift;
    }
  field->take_surface(TriangleMesh::make(std::move(marching.vertices), std::move(marching.triangles)));
  return field;
}

std::shared_ptr<const DistanceField> DistanceField::around(std::shared_ptr<const TriangleMesh> mesh,
                                                           double spacing) {
  if (!mesh) throw InvalidInput("a distance field around a mesh needs the mesh: the pointer is null");
  std::shared_ptr<DistanceField> field(new DistanceField);
  const double room = 3.0 * spacing;
  const Aabb region{mesh->bounds().lower.array() - room, mesh->bounds().upper.array() + room};
  const detail::MeshDistance distance(*mesh);
  field->sample_grid([&](const Vec3& p) { return distance.signed_distance(p); }, region, spacing);
  field->take_surface(std::move(mesh));
  return field;
}

std::shared_ptr<const DistanceField> DistanceField::of(const Shape& shape, double spacing) {
  const double room = 3.0 * spacing;
  if (shape.kind() == ShapeKind::hull) {
    const ConvexHull& hull = shape.hull();
    std::vector<TriangleMesh::Triangle> triangles;
    for (Index f = 0; f < hull.face_count(); ++f)
      for (std::size_t k = 2; k < hull.face(f).size(); ++k)
        triangles.push_back({hull.face(f)[0], hull.face(f)[k - 1], hull.face(f)[k]});
    return around(TriangleMesh::make(hull.vertices(), std::move(triangles)), spacing);
  }
  if (shape.kind() == ShapeKind::mesh) return around(std::make_shared<TriangleMesh>(shape.mesh()), spacing);
  Aabb region = shape.bounds(Pose{});
  if (!region.lower.allFinite())
    throw InvalidInput(fmt::format("no distance field of a {}", to_string(shape.kind())));
  region = {region.lower.array() - room, region.upper.array() + room};
  return bake([&](const Vec3& p) { return primitive_distance(shape, p); }, region, spacing);
}

void DistanceField::take_surface(std::shared_ptr<const TriangleMesh> surface) {
  surface_ = std::move(surface);
  moments_ = surface_->moments();
}

namespace {

std::shared_ptr<const TriangleMesh> surface_of(const Solid& solid, double spacing) {
  Triangles t = solid.surface(spacing);
  if (!t.faces.empty()) return TriangleMesh::make(std::move(t.vertices), std::move(t.faces));
  const double room = 3.0 * spacing;
  const Aabb region{solid.bounds().lower.array() - room, solid.bounds().upper.array() + room};
  const auto field = DistanceField::bake([&](const Vec3& p) { return solid.distance(p); }, region, spacing);
  std::vector<Vec3> vertices = field->surface().vertices();
  for (Vec3& vertex : vertices)
    for (int step = 0; step < 4; ++step) {
      const Solid::Sample s = solid.sample(vertex);
      if (std::abs(s.distance) < spacing) vertex -= s.distance * s.gradient;
    }
  return TriangleMesh::make(std::move(vertices), field->surface().triangles());
}

}  // namespace

std::shared_ptr<const DistanceField> DistanceField::of(const Solid& solid, double spacing) {
  if (!(spacing > 0.0) || !std::isfinite(spacing))
    throw InvalidInput(fmt::format("spacing of a distance field is {}: it must be finite and > 0", spacing));
  std::shared_ptr<DistanceField> field(new DistanceField);
  field->spacing_ = spacing;
  field->formula_ = solid;
  field->take_surface(surface_of(solid, spacing));
  if (const auto exact = solid.exact_moments()) {
    field->moments_ = *exact;
  } else {
    field->moments_ = surface_of(solid, spacing / kMomentRefinement)->moments();
  }
  return field;
}

Shape Solid::shape(double spacing) const { return Shape::distance_field(DistanceField::of(*this, spacing)); }

DistanceField::Sample DistanceField::sample(const Vec3& point) const {
  if (!formula_) return interpolated(point);
  const Solid::Sample s = formula_->sample(point);
  return {s.distance, s.gradient};
}

DistanceField::Sample DistanceField::interpolated(const Vec3& point) const {
  Vec3 f = (point - origin_) / spacing_;
  const Vec3 inside = f.cwiseMax(0.0).cwiseMin(Vec3(count_[0] - 1, count_[1] - 1, count_[2] - 1));
  const Vec3 beyond = spacing_ * (f - inside);
  std::array<Index, 3> cell;
  for (int k = 0; k < 3; ++k) {
    cell[k] = std::min(static_cast<Index>(inside[k]), count_[k] - 2);
    f[k] = inside[k] - cell[k];
  }
  const Index row = count_[0], layer = count_[0] * count_[1];
  const double* v = values_.data() + (static_cast<std::size_t>(cell[2]) * layer + cell[1] * row + cell[0]);
  const auto mixed = [](double a, double b, double t) { return a + t * (b - a); };
  const double x00 = mixed(v[0], v[1], f.x()), x10 = mixed(v[row], v[row + 1], f.x());
  const double x01 = mixed(v[layer], v[layer + 1], f.x()),
               x11 = mixed(v[layer + row], v[layer + row + 1], f.x());
  const double y0 = mixed(x00, x10, f.y()), y1 = mixed(x01, x11, f.y());
  Sample result;
  result.distance = mixed(y0, y1, f.z());
  const double dx0 = mixed(v[1] - v[0], v[row + 1] - v[row], f.y());
  const double dx1 = mixed(v[layer + 1] - v[layer], v[layer + row + 1] - v[layer + row], f.y());
  result.gradient = Vec3(mixed(dx0, dx1, f.z()), mixed(x10 - x00, x11 - x01, f.z()), y1 - y0) / spacing_;
  const double outside = beyond.norm();
  if (outside > 0.0) {
    result.distance += outside;
    result.gradient = beyond / outside;
  }
  return result;
}

}  // namespace tribo
