// Geoms of MJCF, and the segments that geoms and sites are given by.
#pragma once

#include <optional>
#include <string>

#include "tribo/io/mjcf/tree.h"

namespace tribo::detail {

// Reads one geom. `frame`: pose of the frames around it in the body. `with_inertia`: the body needs its mass.
// `paired`: named by a <pair>, so it may touch even where contype and conaffinity are zero.
struct GeomRequest {
  MjcfFile& file;
  const SourceElement& element;
  std::string childclass;
  Pose frame;
  bool with_inertia = true;
  bool paired = false;
};
GeomSpec read_geom(const GeomRequest& request, LoadLog& log);

// Ends of a segment -> pose of its middle with z along it and half its length; nothing where the element has no
// `fromto`.
struct Segment {
  Pose pose;
  double half_length = 0.0;
};
std::optional<Segment> read_segment(const Attributes& attributes);

}  // namespace tribo::detail
