// How flexible bodies look in a replay, whose bodies are rigid: every triangle of a surface is a body of its own, in its shape at
// rest, placed at the centre and turned into the plane of the triangle where it is now. The small gaps that stretching leaves between
// neighbours are all that is lost.
#pragma once

#include <array>
#include <vector>

#include "tribo/flex/tet_mesh.h"
#include "tribo/math/pose.h"
#include "tribo/sim/simulator.h"

namespace tribo::detail {

class FlexibleLook {
 public:
  explicit FlexibleLook(const World& world);

  struct Piece {
    Index body;                 // flexible body
    std::array<Index, 3> node;  // among all nodes of the world
    std::array<Vec3, 3> shape;  // at rest, in its own frame
  };
  const std::vector<Piece>& pieces() const { return pieces_; }
  Index first_piece(Index body) const { return first_[body]; }  // of the one behind the last: their number
  // Of a triangle where its nodes are, among the positions of all of them [3 x nodes].
  static Pose pose(const std::array<Index, 3>& node, const double* positions);

 private:
  std::vector<Piece> pieces_;
  std::vector<Index> first_;
};

}  // namespace tribo::detail
