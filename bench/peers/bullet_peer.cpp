// Bullet's double-precision collision library on the scenes of collide_scenes.h. Hulls get no collision margin, so
// that both libraries see the same bodies; contact points are found from nothing in every call, as tribo does.
#include <btBulletCollisionCommon.h>

#include <limits>
#include <memory>

#include "measure.h"
#include "studies/collide_scenes.h"
#include "tribo/collide/shapes/convex_hull.h"

namespace tribo::bench {

namespace {

btVector3 convert(const Vec3& v) { return {v.x(), v.y(), v.z()}; }

btTransform convert(const Pose& pose) {
  const Mat3& r = pose.rotation;
  const btMatrix3x3 rotation(r(0, 0), r(0, 1), r(0, 2), r(1, 0), r(1, 1), r(1, 2), r(2, 0), r(2, 1), r(2, 2));
  return btTransform(rotation, convert(pose.position));
}

std::unique_ptr<btCollisionShape> convert(const Shape& shape) {
  switch (shape.kind()) {
    case ShapeKind::plane:
      return std::make_unique<btStaticPlaneShape>(btVector3(0, 0, 1), 0.0);
    case ShapeKind::sphere:
      return std::make_unique<btSphereShape>(shape.radius());
    case ShapeKind::capsule:
      return std::make_unique<btCapsuleShapeZ>(shape.radius(), 2.0 * shape.half_length());
    case ShapeKind::box:
      return std::make_unique<btBoxShape>(convert(shape.size()));
    case ShapeKind::cylinder:
      return std::make_unique<btCylinderShapeZ>(
          btVector3(shape.radius(), shape.radius(), shape.half_length()));
    case ShapeKind::hull: {
      auto hull = std::make_unique<btConvexHullShape>();
      for (const Vec3& vertex : shape.hull().vertices()) hull->addPoint(convert(vertex), false);
      hull->recalcLocalAabb();
      hull->setMargin(0.0);
      return hull;
    }
    default:
      return nullptr;  // Bullet has no ellipsoid
  }
}

}  // namespace

double bullet_pair_time(const PairScene& scene) {
  const auto shape_a = convert(scene.a), shape_b = convert(scene.b);
  if (!shape_a || !shape_b) return -1.0;
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btCollisionObject a, b;
  a.setCollisionShape(shape_a.get());
  b.setCollisionShape(shape_b.get());
  btCollisionObjectWrapper wrapper_a(nullptr, shape_a.get(), &a, a.getWorldTransform(), -1, -1);
  btCollisionObjectWrapper wrapper_b(nullptr, shape_b.get(), &b, b.getWorldTransform(), -1, -1);
  btPersistentManifold* manifold = dispatcher.getNewManifold(&a, &b);
  btCollisionAlgorithm* algorithm =
      dispatcher.findAlgorithm(&wrapper_a, &wrapper_b, manifold, BT_CONTACT_POINT_ALGORITHMS);
  btManifoldResult result(&wrapper_a, &wrapper_b);
  result.setPersistentManifold(manifold);
  const btDispatcherInfo info;
  std::vector<std::pair<btTransform, btTransform>> poses;
  for (const auto& [pose_a, pose_b] : scene.poses) poses.emplace_back(convert(pose_a), convert(pose_b));
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round < 15; ++round) {
    const double start = cpu_ms();
    for (int repeat = 0; repeat < 20; ++repeat)
      for (const auto& [pose_a, pose_b] : poses) {
        a.setWorldTransform(pose_a);
        b.setWorldTransform(pose_b);
        manifold->clearManifold();
        algorithm->processCollision(&wrapper_a, &wrapper_b, info, &result);
      }
    best = std::min(best, cpu_ms() - start);
  }
  algorithm->~btCollisionAlgorithm();
  dispatcher.freeCollisionAlgorithm(algorithm);
  dispatcher.releaseManifold(manifold);
  return 1e6 * best / (20.0 * static_cast<double>(poses.size()));
}

double bullet_broad_time(Index bodies, bool mixed_sizes, double by, int steps) {
  btDefaultCollisionConfiguration configuration;
  btCollisionDispatcher dispatcher(&configuration);
  btDbvtBroadphase broad;
  std::vector<Aabb> bounds = pile_bounds(bodies, mixed_sizes);
  std::vector<btBroadphaseProxy*> proxies;
  std::vector<btCollisionObject> objects(bounds.size());
  for (std::size_t k = 0; k < bounds.size(); ++k)
    proxies.push_back(broad.createProxy(convert(bounds[k].lower), convert(bounds[k].upper), 0, &objects[k], 1,
                                        1, &dispatcher));
  broad.calculateOverlappingPairs(&dispatcher);
  double total = 0.0;
  for (int step = 0; step < steps; ++step) {
    move(bounds, by);
    const double start = cpu_ms();
    for (std::size_t k = 0; k < bounds.size(); ++k)
      broad.setAabb(proxies[k], convert(bounds[k].lower), convert(bounds[k].upper), &dispatcher);
    broad.calculateOverlappingPairs(&dispatcher);
    total += cpu_ms() - start;
  }
  for (btBroadphaseProxy* proxy : proxies) broad.destroyProxy(proxy, &dispatcher);
  return 1e6 * total / (static_cast<double>(bodies) * steps);
}

}  // namespace tribo::bench
