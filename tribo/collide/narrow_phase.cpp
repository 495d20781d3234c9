// Chooses the function for two kinds of shapes; pairs in the other order are turned round and their normals
// reversed.
#include "tribo/collide/narrow_phase.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tribo/base/errors.h"
#include "tribo/collide/narrow/box_box.h"
#include "tribo/collide/narrow/capsule_box.h"
#include "tribo/collide/narrow/clipping.h"
#include "tribo/collide/narrow/convex_pairs.h"
#include "tribo/collide/narrow/field_pairs.h"
#include "tribo/collide/narrow/mesh_pairs.h"
#include "tribo/collide/narrow/pair_query.h"
#include "tribo/collide/narrow/pair_scratch.h"
#include "tribo/collide/narrow/plane_pairs.h"
#include "tribo/collide/narrow/sphere_pairs.h"

namespace tribo {

namespace {

using detail::PairQuery;
using Function = void (*)(const PairQuery&);
constexpr int kinds = 10;
using Table = std::array<std::array<Function, kinds>, kinds>;

void collide_nothing(const PairQuery&) {}

// Shape a is the one whose kind comes first in ShapeKind.
constexpr Table make_table() {
  using namespace detail;
  Table t{};
  for (auto& row : t)
    for (auto& entry : row) entry = collide_nothing;
  const auto set = [&t](ShapeKind a, ShapeKind b, Function f) {
    t[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = f;
  };
  using enum ShapeKind;
  set(plane, sphere, collide_plane_sphere);
  set(plane, capsule, collide_plane_capsule);
  set(plane, box, collide_plane_box);
  set(plane, cylinder, collide_plane_cylinder);
  set(plane, ellipsoid, collide_plane_ellipsoid);
  set(sphere, sphere, collide_sphere_sphere);
  set(sphere, capsule, collide_sphere_capsule);
  set(sphere, box, collide_sphere_box);
  set(sphere, cylinder, collide_sphere_cylinder);
  set(capsule, capsule, collide_capsule_capsule);
  set(capsule, box, collide_capsule_box);
  set(box, box, collide_box_box);
  for (const ShapeKind first : {sphere, capsule, box, cylinder, ellipsoid, hull}) {
    for (const ShapeKind second : {cylinder, ellipsoid, hull})
      if (first <= second && !(first == sphere && second == cylinder)) set(first, second, collide_convex);
  }
  set(plane, hull, collide_plane_hull);
  for (const ShapeKind convex : {sphere, capsule, box, cylinder, ellipsoid, hull}) {
    set(convex, mesh, collide_convex_mesh);
    set(convex, height_field, collide_convex_height_field);
    set(convex, distance_field, collide_convex_distance_field);
  }
  set(plane, mesh, collide_plane_surface);
  set(plane, distance_field, collide_plane_surface);
  set(mesh, mesh, collide_mesh_mesh);
  set(mesh, height_field, collide_mesh_height_field);
  set(mesh, distance_field, collide_surface_distance_field);
  set(distance_field, distance_field, collide_surface_distance_field);
  set(height_field, distance_field, collide_height_field_distance_field);
  return t;
}

constexpr Table table = make_table();

}  // namespace

struct NarrowPhase::Scratch : detail::PairScratch {};

NarrowPhase::NarrowPhase(const NarrowPhaseSettings& settings)
    : settings_(settings), scratch_(std::make_unique<Scratch>()) {
  const auto require = [](const char* name, Index value, Index least, Index most) {
    if (value >= least && value <= most) return;
    throw InvalidInput(fmt::format("{} is {}: it must be between {} and {}", name, value, least, most));
  };
  require("max_points", settings.max_points, 1, 1 << 20);
  require("rim_points", settings.rim_points, 3, detail::Facet::capacity);
  require("max_field_points", settings.max_field_points, 1, 1 << 20);
  for (Index k = 0; k < settings.rim_points; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / settings.rim_points;
    scratch_->rim.emplace_back(std::cos(angle), std::sin(angle));
  }
}

NarrowPhase::~NarrowPhase() = default;
NarrowPhase::NarrowPhase(NarrowPhase&&) noexcept = default;
NarrowPhase& NarrowPhase::operator=(NarrowPhase&&) noexcept = default;

void NarrowPhase::collide(const Shape& a, const Pose& pose_a, const Shape& b, const Pose& pose_b,
                          double margin, std::vector<ContactPoint>& points) {
  const auto kind_a = static_cast<std::size_t>(a.kind()), kind_b = static_cast<std::size_t>(b.kind());
  if (kind_a <= kind_b) {
    table[kind_a][kind_b]({a, pose_a, b, pose_b, margin, settings_, *scratch_, points});
    return;
  }
  const std::size_t begin = points.size();
  table[kind_b][kind_a]({b, pose_b, a, pose_a, margin, settings_, *scratch_, points});
  for (std::size_t k = begin; k < points.size(); ++k) points[k].normal = -points[k].normal;
}

}  // namespace tribo
