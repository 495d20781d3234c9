// Geoms of type sdf whose formula tribo has, in MJCF's own words for plugins:
//
//   <geom type="sdf" mass="0.4">
//     <plugin plugin="tribo.sdf.nut">
//       <config key="diameter" value="0.048"/>   the sizes of collide/shapes/ready_solids.h, m
//       <config key="spacing" value="0.002"/>    of the triangles of its surface, m; 1/30 of the body without it
//     </plugin>
//   </geom>
#pragma once

#include <optional>

#include "tribo/collide/shape.h"
#include "tribo/io/xml/source_xml.h"

namespace tribo::detail {

// Nothing where the geom's plugin is not one of tribo's. InvalidInput with file and line for names and values that there
// are not.
std::optional<Shape> read_formula_shape(const SourceElement& geom);

}  // namespace tribo::detail
