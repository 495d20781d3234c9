// Pressure fields of geoms (docs/pressure-fields.md) in MJCF's own words for plugins; MuJoCo does not have this one:
//
//   <geom type="sphere" size="0.1">
//     <plugin plugin="tribo.pressure">
//       <config key="modulus" value="1e5"/>       E, Pa; inf: rigid, for a resolution alone
//       <config key="depth" value="0.05"/>        H, m; the shape's largest depth without it
//       <config key="resolution" value="0.005"/>  of the faces, m
//       <config key="max_faces" value="60"/>
//       <config key="dissipation" value="0.02"/>  dissipation time of the geom's material, s
//     </plugin>
//   </geom>
#pragma once

#include "tribo/io/mjcf/tree.h"
#include "tribo/io/xml/xml_element.h"

namespace tribo::detail {

// Into the geom, whose shape is known. InvalidInput with file and line for names and values that there are not.
void read_pressure(const SourceElement& element, Geom& geom);

// Inside the geom's own element, after its attributes; nothing where it has no field.
void write_pressure(tinyxml2::XMLPrinter& printer, const Geom& geom);

}  // namespace tribo::detail
