#include "module.h"

#include <nanobind/nanobind.h>

#include <string>

#include "tribo/base/errors.h"
#include "tribo/version.h"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  using namespace tribo::python;
  m.doc() = "The compiled part of tribo. Use it through `import tribo`.";
  m.attr("__version__") = nb::str(std::string(tribo::version()).c_str());
  nb::exception<tribo::InvalidInput> invalid(m, "InvalidInput", PyExc_ValueError);
  invalid.attr("__doc__") =
      "Input that cannot be used: the message names the argument, field or file, and what would be right.";
  bind_problem(m);
  bind_solve(m);
  bind_files(m);
  bind_tet_mesh(m);
  bind_world(m);
  bind_world_builder(m);
  bind_simulator(m);
  bind_batch(m);
  bind_view(m);
}
