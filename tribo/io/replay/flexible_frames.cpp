#include "tribo/io/replay/flexible_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tribo::detail {

namespace {

constexpr Index kMost = std::numeric_limits<Index>::max();

// Where the parts of every flexible body begin, and their number at the end.
std::vector<Index> read_firsts(const Hdf5Reader& in, const char* name) {
  std::vector<Index> first = in.indices(name, 0, kMost);
  if (first.size() < 2 || first.front() != 0) in.fail(name, "must begin with 0 and have an entry per body");
  for (std::size_t k = 1; k < first.size(); ++k) {
    if (first[k] < first[k - 1]) in.fail(name, fmt::format("[{}] is less than the one before", k));
  }
  return first;
}

bool is_whole(double x, double lowest, double end) { return x >= lowest && x < end && x == std::floor(x); }

}  // namespace

FlexibleFrames::FlexibleFrames(const Hdf5Reader& in, std::size_t frames, std::size_t bodies,
                               std::size_t geoms) {
  if (!in.has("/flexible") && !in.has("/node_position")) return;
  read_surface(in, bodies);
  if (geoms < triangle_.size()) {
    in.fail("/flexible/triangles",
            fmt::format("has {} triangles: the world has {} geoms", triangle_.size(), geoms));
  }
  rigid_geoms_ = geoms - triangle_.size();
  position_ = in.numbers("/node_position", 3 * static_cast<std::size_t>(first_node_.back()) * frames);
  energy_ = in.numbers("/elastic_energy", frames);
  read_contacts(in, frames);
}

void FlexibleFrames::read_surface(const Hdf5Reader& in, std::size_t bodies) {
  const char* name = "/flexible/triangles";
  first_node_ = read_firsts(in, "/flexible/first_node");
  first_triangle_ = read_firsts(in, "/flexible/first_triangle");
  if (first_triangle_.size() != first_node_.size()) {
    in.fail("/flexible/first_triangle",
            fmt::format("has {} values where {} are needed", first_triangle_.size(), first_node_.size()));
  }
  const auto count = static_cast<std::size_t>(first_triangle_.back());
  if (count >= bodies) {
    in.fail(
        "/flexible/first_triangle",
        fmt::format("has {} triangles: the world has {} bodies, one of them per triangle", count, bodies));
  }
  const Vector nodes = in.numbers(name, 3 * count);
  triangle_.resize(count);
  for (std::size_t f = 0; f + 1 < first_node_.size(); ++f) {
    for (auto t = static_cast<std::size_t>(first_triangle_[f]);
         t < static_cast<std::size_t>(first_triangle_[f + 1]); ++t) {
      for (std::size_t k = 0; k < 3; ++k) {
        const double node = nodes[static_cast<Eigen::Index>(3 * t + k)];
        if (!is_whole(node, first_node_[f], first_node_[f + 1])) {
          in.fail(name, fmt::format("[{}][{}] is {}: flexible body {} has the nodes {} to {}", t, k, node, f,
                                    first_node_[f], first_node_[f + 1] - 1));
        }
        triangle_[t][k] = static_cast<Index>(node);
      }
    }
  }
}

void FlexibleFrames::read_contacts(const Hdf5Reader& in, std::size_t frames) {
  const char *starts = "/flexible_contact_start", *sides = "/flexible_contact_sides";
  contact_start_ = in.indices_of_size(starts, static_cast<Index>(frames + 1), 0, kMost);
  for (std::size_t f = 0; f < frames; ++f) {
    if (contact_start_[f + 1] < contact_start_[f]) {
      in.fail(starts, fmt::format("[{}] is less than the one before", f + 1));
    }
  }
  const auto count = static_cast<std::size_t>(contact_start_.back());
  c_position_ = in.numbers("/flexible_contact_position", 3 * count);
  c_normal_ = in.numbers("/flexible_contact_normal", 3 * count);
  c_impulse_ = in.numbers("/flexible_contact_impulse", 3 * count);
  c_gap_ = in.numbers("/flexible_contact_gap", count);
  c_friction_ = in.numbers("/flexible_contact_friction", count);
  c_sides_ = in.numbers(sides, 3 * count);
  const auto flexible = static_cast<double>(first_node_.size() - 1);
  for (Eigen::Index c = 0; c < c_gap_.size(); ++c) {
    const double geom = c_sides_[3 * c], first = c_sides_[3 * c + 1], second = c_sides_[3 * c + 2];
    const bool known =
        first < 0.0 ? is_whole(geom, 0.0, static_cast<double>(rigid_geoms_)) : is_whole(first, 0.0, flexible);
    if (!known || !is_whole(second, 0.0, flexible)) {
      in.fail(sides, fmt::format("[{}] is {}, {}, {}: there are {} geoms and {} flexible bodies", c, geom,
                                 first, second, rigid_geoms_, flexible));
    }
  }
}

// Of a flexible body the geom of its first piece, as in frames of a simulation.
Index FlexibleFrames::shown_geom(double geom, double flexible) const {
  if (flexible < 0.0) return static_cast<Index>(geom);
  return static_cast<Index>(rigid_geoms_) + first_triangle_[static_cast<std::size_t>(flexible)];
}

void FlexibleFrames::add(std::size_t f, ReplayFrame& frame) const {
  if (triangle_.empty()) return;
  const double* nodes = position_.data() + 3 * f * static_cast<std::size_t>(first_node_.back());
  for (const SurfaceTriangle& triangle : triangle_) {
    add_pose(FlexibleLook::pose(triangle, nodes), frame);
  }
  frame.potential += energy_[static_cast<Eigen::Index>(f)];
  for (Eigen::Index c = contact_start_[f]; c < contact_start_[f + 1]; ++c) {
    const Vec3 normal = c_normal_.segment<3>(3 * c), impulse = c_impulse_.segment<3>(3 * c);
    frame.contacts.push_back({.position = c_position_.segment<3>(3 * c),
                              .normal = normal,
                              .impulse = impulse,
                              .velocity = Vec3::Constant(ReplayFrame::kUnknown),
                              .gap = c_gap_[c],
                              .friction = c_friction_[c],
                              .error = ReplayFrame::kUnknown,
                              .geom_a = shown_geom(c_sides_[3 * c], c_sides_[3 * c + 1]),
                              .geom_b = shown_geom(-1.0, c_sides_[3 * c + 2]),
                              .state = state_of(normal, impulse, c_friction_[c])});
  }
}

}  // namespace tribo::detail
