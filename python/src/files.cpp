// tribo.read, tribo.write, tribo.generate.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "arrays.h"
#include "module.h"
#include "report.h"
#include "tribo/formats/problem_file.h"
#include "tribo/generate/generators.h"
#include "tribo/problem/sparse_trees.h"

namespace tribo::python {
namespace {

using namespace nb::literals;

nb::object impulse_of(const LoadedProblem& loaded, const std::optional<Vector>& impulse) {
  if (!impulse) return nb::none();
  return nb::cast(new_vector(physical_impulse(loaded.problem, *impulse)));
}

void write(const std::filesystem::path& path, const ContactProblem& problem, nb::handle solution,
           nb::handle guess, const std::string& title, const std::string& description, bool compress) {
  WriteOptions options{.title = title, .description = description, .compress = compress};
  Solution stored;
  if (!solution.is_none()) {
    const Vector impulse = nb::isinstance<PhysicalSolution>(solution)
                               ? nb::cast<const PhysicalSolution&>(solution).impulse
                               : to_vector(solution, "solution", problem.row_count());
    if (impulse.size() != problem.row_count())
      throw nb::value_error("solution: it belongs to another problem, its number of rows differs");
    stored.impulse = stored_impulse(problem, impulse);
    Vector scratch;
    problem.velocity_of(stored.impulse, scratch, stored.velocity);
    SparseScratch memory;
    if (!problem.has_delassus())
      problem.full_velocity_of(stored.impulse, stored.generalized_velocity, memory);
    options.solution = &stored;
  }
  Vector start;
  if (!guess.is_none()) {
    start = stored_impulse(problem, to_vector(guess, "guess", problem.row_count()));
    options.guess = &start;
  }
  const nb::gil_scoped_release release;
  write_problem(path, problem, options);
}

}  // namespace

void bind_files(nb::module_& m) {
  nb::class_<LoadedProblem>(m, "LoadedProblem", "What a problem file holds.")
      .def_ro("problem", &LoadedProblem::problem, "The Problem.")
      .def_prop_ro(
          "guess", [](const LoadedProblem& l) { return impulse_of(l, l.guess); },
          nb::sig("def guess(self) -> numpy.ndarray | None"),
          "The file's first guess of the impulses (rows,), N s.")
      .def_prop_ro(
          "solution", [](const LoadedProblem& l) { return impulse_of(l, l.solution); },
          nb::sig("def solution(self) -> numpy.ndarray | None"),
          "The impulses stored as solution (rows,), N s.")
      .def_ro("format", &LoadedProblem::format,
              "What the file is: \"FCLIB global, triplet\", \"Siconos local, sparse block\", ...")
      .def_ro("space_dimension", &LoadedProblem::space_dimension,
              "2: planar contacts, with an idle second tangent.")
      .def_ro("title", &LoadedProblem::title, "As stored in the file.")
      .def_ro("description", &LoadedProblem::description, "As stored in the file.")
      .def_ro("warnings", &LoadedProblem::warnings, "What is unusual about the file.");
  m.def("read_file", &read_problem, "path"_a, nb::call_guard<nb::gil_scoped_release>(),
        "Everything in a problem file, FCLIB .hdf5 or Siconos .dat: LoadedProblem.");
  m.def("write", &write, "path"_a, "problem"_a, "solution"_a.none() = nb::none(), nb::kw_only(),
        "guess"_a.none() = nb::none(), "title"_a = "", "description"_a = "", "compress"_a = false,
        nb::sig("def write(path: str | os.PathLike, problem: Problem, solution: Solution | "
                "numpy.typing.ArrayLike | None = "
                "None, *, guess: numpy.typing.ArrayLike | None = None, title: str = '', description: str = "
                "'', compress: bool "
                "= False) -> None"),
        "Writes FCLIB (.hdf5). A solution (or its impulses, N s) is stored with its certificate, recomputed "
        "here; "
        "InvalidInput if that is not finite. A failure leaves nothing behind.\n\nExample::\n\n    "
        "tribo.write(\"tower.hdf5\", problem, "
        "solution)");
  m.def(
      "generate",
      [](std::string_view kind, Index bodies, double mass_ratio, bool slide, double friction,
         double compliance, double time_step, std::uint64_t seed) {
        return generate(kind, {.bodies = bodies,
                               .mass_ratio = mass_ratio,
                               .slide = slide,
                               .friction = friction,
                               .compliance = compliance,
                               .time_step = time_step,
                               .seed = seed});
      },
      "kind"_a, "bodies"_a, "mass_ratio"_a, "slide"_a, "friction"_a, "compliance"_a, "time_step"_a, "seed"_a,
      nb::call_guard<nb::gil_scoped_release>(), "See tribo.generate.");
  m.def(
      "generators",
      [] {
        std::vector<std::pair<std::string, std::string>> all;
        for (const GeneratorInfo& info : generator_catalogue()) all.emplace_back(info.name, info.summary);
        nb::list list;
        for (const auto& [name, summary] : all) list.append(nb::make_tuple(name, summary));
        return list;
      },
      nb::sig("def generators() -> list[tuple[str, str]]"), "The generators of problems: (name, summary).");
}

}  // namespace tribo::python
