#include "tribo/sim/contact/contact_finder.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tribo/sim/contact/field_contacts.h"

namespace tribo {

namespace {

constexpr Index kPairsPerChunk = 64;
// Bodies this close, relative to their size, touch: an impact next to them may come through in the same step.
constexpr double kTouch = 1e-4;

std::uint64_t pair_key(Index a, Index b) {
  const auto low = static_cast<std::uint64_t>(std::min(a, b)),
             high = static_cast<std::uint64_t>(std::max(a, b));
  return high << 32 | low;
}

// Spreads the bits (a finaliser of multiplications and shifts), so that keys of different points differ.
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 29)) * 0xc2b2ae3d27d4eb4fULL;
  return x ^ (x >> 32);
}

}  // namespace

ContactFinder::ContactFinder(const World& world) : world_(&world) {
  weld_bodies();
  choose_geoms();
  for (const auto& [a, b] : world.excluded_bodies) excluded_.push_back(pair_key(a, b));
  std::sort(excluded_.begin(), excluded_.end());
  for (std::size_t p = 0; p < world.pairs.size(); ++p) {
    explicit_pairs_.emplace_back(pair_key(world.pairs[p].first, world.pairs[p].second),
                                 static_cast<Index>(p));
  }
  std::sort(explicit_pairs_.begin(), explicit_pairs_.end());

  std::vector<Material> materials;
  for (const Geom& geom : world.geoms) {
    const auto found = std::find(materials.begin(), materials.end(), geom.material);
    material_of_.push_back(static_cast<Index>(found - materials.begin()));
    if (found == materials.end()) materials.push_back(geom.material);
  }
  material_count_ = static_cast<Index>(materials.size());
  for (const Material& a : materials) {
    for (const Material& b : materials) add_surface(combine(a, b, world.friction_rule));
  }
  for (const GeomPair& pair : world.pairs) {
    add_surface(surface_of(pair.material, pair.second_friction, pair.second_rolling));
  }
  const auto may_meet = [this](Index a, Index b) {
    return explicit_pair(a, b) != nullptr || !filtered(a, b);
  };
  broad_.set_filter([this, may_meet](Index i, Index j) { return may_meet(active_[i], active_[j]); });
  fields_ = std::make_unique<FieldContacts>(world, active_, may_meet);
}

ContactFinder::~ContactFinder() = default;

void ContactFinder::add_surface(const Surface& surface) {
  for (const Index rows : {1, 3, 4, 6}) surfaces_.push_back(surface.with_rows(rows));
}

// Of two geoms that of higher priority, or the larger number of rows.
Index ContactFinder::rows_of_pair(const Geom& a, const Geom& b) {
  const Index rows_a = a.frictionless ? 1 : a.friction_rows, rows_b = b.frictionless ? 1 : b.friction_rows;
  if (a.material.priority != b.material.priority) {
    return a.material.priority > b.material.priority ? rows_a : rows_b;
  }
  return std::max(rows_a, rows_b);
}

void ContactFinder::weld_bodies() {
  const Model& model = world_->model;
  weld_.assign(model.body_count(), 0);
  weld_parent_.assign(model.body_count(), 0);
  for (Index b = 1; b < model.body_count(); ++b) {
    const bool moves = model.joint_begin(b) < model.joint_end(b);
    weld_[b] = moves ? b : weld_[model.body_parent(b)];
    weld_parent_[b] = moves ? weld_[model.body_parent(b)] : weld_parent_[model.body_parent(b)];
  }
}

void ContactFinder::choose_geoms() {
  const World& world = *world_;
  pose_.resize(world.geoms.size());
  reach_.assign(world.geoms.size(), 0.0);
  radius_.assign(world.geoms.size(), 0.0);
  is_plane_.assign(world.geoms.size(), 0);
  std::vector<bool> named(world.geoms.size(), false);
  pair_reach_.assign(world.geoms.size(), 0.0);
  for (const GeomPair& pair : world.pairs) {
    for (const Index g : {pair.first, pair.second}) {
      named[g] = true;
      pair_reach_[g] = std::max(pair_reach_[g], 0.5 * (pair.margin + pair.thickness));
    }
  }
  for (std::size_t g = 0; g < world.geoms.size(); ++g) {
    const Geom& geom = world.geoms[g];
    if (geom.contact_type == 0 && geom.contact_affinity == 0 && !named[g]) continue;
    active_.push_back(static_cast<Index>(g));
    group_.push_back(weld_[geom.body]);
    is_plane_[g] = geom.shape.kind() == ShapeKind::plane ? 1 : 0;
    if (is_plane_[g] != 0) continue;
    const Aabb box = geom.shape.bounds(geom.pose);
    const Vec3 center = world.model.inertia(geom.body).center;
    radius_[g] = (box.upper - center).cwiseAbs().cwiseMax((box.lower - center).cwiseAbs()).norm();
  }
  bounds_.resize(active_.size());
}

bool ContactFinder::filtered(Index a, Index b) const {
  const Geom &ga = world_->geoms[a], &gb = world_->geoms[b];
  if (!(ga.contact_type & gb.contact_affinity) && !(gb.contact_type & ga.contact_affinity)) return true;
  const Index wa = weld_[ga.body], wb = weld_[gb.body];
  if (wa == wb) return true;
  if (!world_->parent_child_contacts && wa != 0 && wb != 0 &&
      (weld_parent_[wa] == wb || weld_parent_[wb] == wa)) {
    return true;
  }
  return !excluded_.empty() &&
         std::binary_search(excluded_.begin(), excluded_.end(), pair_key(ga.body, gb.body));
}

const GeomPair* ContactFinder::explicit_pair(Index a, Index b) const {
  if (explicit_pairs_.empty()) return nullptr;
  const std::pair key(pair_key(a, b), Index{0});
  const auto found = std::lower_bound(explicit_pairs_.begin(), explicit_pairs_.end(), key);
  if (found == explicit_pairs_.end() || found->first != key.first) return nullptr;
  return &world_->pairs[found->second];
}

ContactFinder::PairInfo ContactFinder::lookup(Index a, Index b) const {
  if (const GeomPair* pair = explicit_pair(a, b)) {
    const Index number = static_cast<Index>(pair - world_->pairs.data());
    const SurfaceId surface{material_count_ * material_count_ + number,
                            pair->frictionless ? 1 : pair->friction_rows};
    return {surface, std::max(pair->margin, world_->margin), pair->thickness};
  }
  const Geom &ga = world_->geoms[a], &gb = world_->geoms[b];
  const SurfaceId surface{material_of_[a] * material_count_ + material_of_[b], rows_of_pair(ga, gb)};
  return {surface, std::max(ga.margin + gb.margin, world_->margin), ga.thickness + gb.thickness};
}

void ContactFinder::place(const Kinematics& kinematics, double h) {
  const double fall = h * h * world_->gravity.norm();
  for (std::size_t k = 0; k < active_.size(); ++k) {
    const Index g = active_[k];
    const Geom& geom = world_->geoms[g];
    pose_[g] = kinematics.pose(geom.body) * geom.pose;
    if (weld_[geom.body] != 0 || !kinematics.velocity(geom.body).isZero(0.0)) {
      const double speed = kinematics.point_velocity(geom.body, kinematics.center(geom.body)).norm() +
                           kinematics.velocity(geom.body).tail<3>().norm() * radius_[g];
      reach_[g] = h * speed + fall + kTouch * radius_[g];
    } else {
      reach_[g] = 0.0;
    }
    const double grow =
        reach_[g] + std::max(std::max(geom.margin, 0.5 * world_->margin) + geom.thickness, pair_reach_[g]);
    Aabb box = geom.shape.bounds(pose_[g]);
    box.lower.array() -= grow;
    box.upper.array() += grow;
    bounds_[k] = box;
  }
}

void ContactFinder::collide_pair(Index a, Index b, const PairInfo& info, Index worker, Chunk& chunk) {
  const Geom &ga = world_->geoms[a], &gb = world_->geoms[b];
  if (fields_->meet(a, b)) {
    Contact pair{.geom_a = a, .geom_b = b, .body_a = ga.body, .body_b = gb.body, .surface = info.surface};
    pair.surface.rows = std::min<Index>(pair.surface.rows, 3);
    const GeomPair* given = explicit_pair(a, b);
    const std::size_t begin = chunk.contacts.size();
    fields_->find(pair, pose_[a], pose_[b], info.thickness, given, worker, chunk.contacts);
    for (std::size_t k = begin; k < chunk.contacts.size(); ++k) {
      chunk.contacts[k].key = mix(mix(pair_key(a, b)) ^ (chunk.contacts[k].key << 1 | 1));
    }
    return;
  }
  chunk.points.clear();
  narrow_[worker].collide(ga.shape, pose_[a], gb.shape, pose_[b],
                          info.thickness + std::max(info.margin, reach_[a] + reach_[b]), chunk.points);
  for (const ContactPoint& point : chunk.points) {
    const std::uint64_t key = mix(mix(pair_key(a, b)) ^ (std::uint64_t{point.feature} << 1 | 1));
    chunk.contacts.push_back({a, b, ga.body, gb.body, point.position, point.normal,
                              point.gap - info.thickness, info.surface, key});
  }
}

// A plane meets every box in the broad phase. Box: as grown by place(), so that it errs on the safe side.
bool ContactFinder::is_above(Index plane, const Aabb& box, double margin) const {
  const Vec3 normal = pose_[plane].rotation.col(2);
  const double middle = 0.5 * normal.dot(box.lower + box.upper) - normal.dot(pose_[plane].position);
  return middle - 0.5 * normal.cwiseAbs().dot(box.upper - box.lower) > margin;
}

void ContactFinder::find(const Kinematics& kinematics, double h, Workers& workers,
                         std::vector<Contact>& contacts) {
  contacts.clear();
  if (!collides()) return;
  place(kinematics, h);
  broad_.find(bounds_, group_, pairs_);
  infos_.clear();
  std::size_t kept = 0;
  for (const auto& [first, second] : pairs_) {
    const Index a = active_[first], b = active_[second];
    const PairInfo info = lookup(a, b);
    const double margin = info.thickness + std::max(info.margin, reach_[a] + reach_[b]);
    if (is_plane_[a] != 0 && is_above(a, bounds_[second], margin)) continue;
    if (is_plane_[b] != 0 && is_above(b, bounds_[first], margin)) continue;
    pairs_[kept++] = {a, b};
    infos_.push_back(info);
  }
  pairs_.resize(kept);
  const Index chunk_count = (static_cast<Index>(kept) + kPairsPerChunk - 1) / kPairsPerChunk;
  if (static_cast<Index>(chunks_.size()) < chunk_count) chunks_.resize(chunk_count);
  while (static_cast<Index>(narrow_.size()) < workers.count()) narrow_.emplace_back();
  fields_->prepare(workers.count());
  workers.run(chunk_count, [&](Index c, Index worker) {
    chunks_[c].contacts.clear();
    const Index end = std::min<Index>((c + 1) * kPairsPerChunk, static_cast<Index>(kept));
    for (Index p = c * kPairsPerChunk; p < end; ++p) {
      collide_pair(pairs_[p].first, pairs_[p].second, infos_[p], worker, chunks_[c]);
    }
  });
  for (Index c = 0; c < chunk_count; ++c) {
    contacts.insert(contacts.end(), chunks_[c].contacts.begin(), chunks_[c].contacts.end());
  }
}

}  // namespace tribo
