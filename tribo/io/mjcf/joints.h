// Joints of MJCF, and what they share with tendons and actuators: ranges that may or may not count.
#pragma once

#include "tribo/io/mjcf/tree.h"

namespace tribo::detail {

// `limited` and its range: "auto" means that a range which is given counts.
struct Range {
  bool limited = false;
  double lower = 0.0, upper = 0.0;
};
Range read_range(const Attributes& attributes, std::string_view range, std::string_view limited,
                 const CompilerSettings& compiler);

// The first number of a stiffness or damping; the higher terms that MuJoCo allows are warned of.
double linear_coefficient(const Attributes& attributes, std::string_view name, LoadLog& log);

JointSpec read_joint(MjcfFile& file, const SourceElement& element, const std::string& childclass,
                     const Pose& frame, LoadLog& log);
JointSpec read_free_joint(MjcfFile& file, const SourceElement& element, LoadLog& log);

}  // namespace tribo::detail
