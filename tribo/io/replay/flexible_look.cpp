#include "tribo/io/replay/flexible_look.h"

namespace tribo::detail {

namespace {

// Of a triangle: its centre, the direction of its first edge and its normal. Without area: axes of the world.
Pose frame_of(const std::array<Vec3, 3>& x) {
  Pose pose;
  pose.position = (x[0] + x[1] + x[2]) / 3.0;
  const Vec3 edge = x[1] - x[0], normal = edge.cross(x[2] - x[0]);
  if (!(normal.squaredNorm() > 0.0)) return pose;
  pose.rotation.col(0) = edge.normalized();
  pose.rotation.col(2) = normal.normalized();
  pose.rotation.col(1) = pose.rotation.col(2).cross(pose.rotation.col(0));
  return pose;
}

}  // namespace

FlexibleLook::FlexibleLook(const World& world) {
  for (std::size_t f = 0; f < world.flexible_bodies.size(); ++f) {
    const TetMesh& mesh = world.flexible_bodies[f].mesh;
    const Index node = first_node(world, static_cast<Index>(f));
    first_.push_back(static_cast<Index>(pieces_.size()));
    for (const SurfaceTriangle& t : boundary(mesh)) {
      const Pose frame = frame_of({mesh.nodes[t[0]], mesh.nodes[t[1]], mesh.nodes[t[2]]});
      Piece piece{
          .body = static_cast<Index>(f), .node = {node + t[0], node + t[1], node + t[2]}, .shape = {}};
      for (int k = 0; k < 3; ++k) piece.shape[k] = frame.to_local(mesh.nodes[t[k]]);
      pieces_.push_back(piece);
    }
  }
  first_.push_back(static_cast<Index>(pieces_.size()));
}

Pose FlexibleLook::pose(const std::array<Index, 3>& node, const double* positions) {
  std::array<Vec3, 3> x;
  for (int k = 0; k < 3; ++k)
    x[k] = Eigen::Map<const Vec3>(positions + 3 * static_cast<std::ptrdiff_t>(node[k]));
  return frame_of(x);
}

}  // namespace tribo::detail
