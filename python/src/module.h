// The parts of the extension tribo._core, one file per subject. A new part: write bind_<part>(), call it in module.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace tribo::python {

void bind_problem(nanobind::module_& m);
void bind_problem_builder(nanobind::module_& m);
void bind_solve(nanobind::module_& m);
void bind_files(nanobind::module_& m);
void bind_world(nanobind::module_& m);
void bind_tet_mesh(nanobind::module_& m);
void bind_world_builder(nanobind::module_& m);
void bind_simulator(nanobind::module_& m);
void bind_batch(nanobind::module_& m);
void bind_view(nanobind::module_& m);

}  // namespace tribo::python
