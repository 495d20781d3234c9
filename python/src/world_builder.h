// A world in the making, as Python holds it.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "tribo/base/errors.h"
#include "world.h"

namespace tribo::python {

namespace nb = nanobind;

// Bodies, geoms, joints by name until the world is built.
struct WorldBuilderBox {
  World world;
  ModelBuilder model;
  std::vector<std::string> bodies{"world"}, joints, sites;
  bool built = false;

  void require_open() const {
    if (built) throw InvalidInput("this WorldBuilder has built its world already: make a new one");
  }
  Index number(const char* what, nb::handle wanted, const std::vector<std::string>& names) const;
  Index body(const char* what, nb::handle wanted) const { return number(what, wanted, bodies); }
};

// An array of shape (n, 3).
std::vector<Vec3> points_of(nb::handle points, const char* argument);

void bind_flexible_builder(nb::class_<WorldBuilderBox>& c);

}  // namespace tribo::python
