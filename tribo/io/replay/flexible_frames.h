// What a recording in HDF5 holds of flexible bodies (io/flexible_recording.h), as frames of a replay: the surface as pieces
// (flexible_look.h) and the contacts. Files come from anywhere: every array is checked, and InvalidInput names the file and the
// dataset.
#pragma once

#include <vector>

#include "tribo/formats/hdf5_reader.h"
#include "tribo/io/replay/frame.h"

namespace tribo::detail {

class FlexibleFrames {
 public:
  FlexibleFrames() = default;
  // Of a recording of so many frames, in whose world there are so many bodies and geoms, pieces included.
  FlexibleFrames(const Hdf5Reader& in, std::size_t frames, std::size_t bodies, std::size_t geoms);

  // Their bodies and geoms are the last ones of the world.
  std::size_t piece_count() const { return triangle_.size(); }
  // Behind what is rigid in frame f: poses of the pieces, elastic energy, contacts.
  void add(std::size_t f, ReplayFrame& frame) const;

 private:
  void read_surface(const Hdf5Reader& in, std::size_t bodies);
  void read_contacts(const Hdf5Reader& in, std::size_t frames);
  Index shown_geom(double geom, double flexible) const;

  std::vector<Index> first_node_, first_triangle_, contact_start_;
  std::vector<SurfaceTriangle> triangle_;
  std::size_t rigid_geoms_ = 0;  // and visuals
  Vector position_, energy_;
  Vector c_position_, c_normal_, c_impulse_, c_gap_, c_friction_, c_sides_;
};

}  // namespace tribo::detail
