// tribo.Certificate, tribo.Solution, tribo.Report.
#include "report.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <set>
#include <string>

#include "arrays.h"
#include "tribo/base/errors.h"

namespace tribo::python {
namespace {

nb::object display(const char* function, nb::handle self) {
  return nb::module_::import_("tribo._display").attr(function)(self);
}

nb::tuple worst_state(const Worst& worst) { return nb::make_tuple(worst.value, worst.constraint); }
Worst worst_of(nb::handle state) { return {nb::cast<double>(state[0]), nb::cast<Index>(state[1])}; }

nb::tuple certificate_state(const Certificate& c) {
  return nb::make_tuple(worst_state(c.error), c.fclib_error, c.siconos_error, c.lee_residual, c.momentum,
                        worst_state(c.cone_primal), worst_state(c.cone_dual), worst_state(c.complementarity),
                        worst_state(c.penetration_velocity), worst_state(c.stick_slip_velocity),
                        worst_state(c.slip_angle));
}

Certificate certificate_of(nb::handle s) {
  const auto number = [&](int k) { return nb::cast<double>(s[k]); };
  return {.error = worst_of(s[0]),
          .fclib_error = number(1),
          .siconos_error = number(2),
          .lee_residual = number(3),
          .momentum = number(4),
          .cone_primal = worst_of(s[5]),
          .cone_dual = worst_of(s[6]),
          .complementarity = worst_of(s[7]),
          .penetration_velocity = worst_of(s[8]),
          .stick_slip_velocity = worst_of(s[9]),
          .slip_angle = worst_of(s[10])};
}

// Reports keep views of names, which live as long as the program; names from a pickle are kept here.
std::string_view lasting(const std::string& name) {
  static auto* names = new std::set<std::string>();
  return *names->insert(name).first;
}

nb::tuple stage_state(const Stage& s) {
  return nb::make_tuple(std::string(s.name), s.islands, s.contacts, s.iterations, s.factorizations, s.seconds,
                        s.error);
}

Stage stage_of(nb::handle s) {
  return {lasting(nb::cast<std::string>(s[0])),
          nb::cast<Index>(s[1]),
          nb::cast<Index>(s[2]),
          nb::cast<Index>(s[3]),
          nb::cast<Index>(s[4]),
          nb::cast<double>(s[5]),
          nb::cast<double>(s[6])};
}

nb::tuple contradiction_state(const Contradiction& c) {
  return nb::make_tuple(new_vector(c.ray), c.constraints, c.shares, c.violation, c.speed_ratio);
}

Contradiction contradiction_of(nb::handle s) {
  return {to_vector(s[0], "ray"), nb::cast<std::vector<Index>>(s[1]), nb::cast<std::vector<double>>(s[2]),
          nb::cast<double>(s[3]), nb::cast<double>(s[4])};
}

nb::tuple report_state(const Report& r) {
  nb::list history, stages, contradictions;
  for (const Progress& p : r.history)
    history.append(nb::make_tuple(p.iteration, p.error, p.seconds, p.penalty));
  for (const Stage& s : r.stages) stages.append(stage_state(s));
  for (const Contradiction& c : r.contradictions) contradictions.append(contradiction_state(c));
  return nb::make_tuple(std::string(r.solver), static_cast<int>(r.status), r.iterations, r.factorizations,
                        r.factor_flops, r.seconds, certificate_state(r.certificate), r.start_error, history,
                        r.islands, r.regularized_count, r.faceted_error, stages, contradictions);
}

Report report_of(nb::handle s) {
  Report r;
  r.solver = lasting(nb::cast<std::string>(s[0]));
  r.status = static_cast<Status>(nb::cast<int>(s[1]));
  r.iterations = nb::cast<Index>(s[2]);
  r.factorizations = nb::cast<Index>(s[3]);
  r.factor_flops = nb::cast<double>(s[4]);
  r.seconds = nb::cast<double>(s[5]);
  r.certificate = certificate_of(s[6]);
  r.start_error = nb::cast<double>(s[7]);
  for (const nb::handle p : nb::cast<nb::list>(s[8]))
    r.history.push_back(
        {nb::cast<Index>(p[0]), nb::cast<double>(p[1]), nb::cast<double>(p[2]), nb::cast<double>(p[3])});
  r.islands = nb::cast<Index>(s[9]);
  r.regularized_count = nb::cast<Index>(s[10]);
  r.faceted_error = nb::cast<double>(s[11]);
  for (const nb::handle stage : nb::cast<nb::list>(s[12])) r.stages.push_back(stage_of(stage));
  for (const nb::handle c : nb::cast<nb::list>(s[13])) r.contradictions.push_back(contradiction_of(c));
  return r;
}

void bind_solution(nb::module_& m) {
  using S = PhysicalSolution;
  nb::class_<S>(
      m, "Solution",
      R"(Impulses and velocities in physical units, rows in the order of the problem: contacts as (t1, t2, n).

The arrays are views of this object that cannot be written to; copy() what is to be changed.)")
      .def_prop_ro(
          "impulse", [](nb::pointer_and_handle<S> s) { return view_of(s.p->impulse, s.h); },
          "λ (rows,), N s; N m s of rows that measure an angle.")
      .def_prop_ro(
          "velocity", [](nb::pointer_and_handle<S> s) { return view_of(s.p->velocity, s.h); },
          "u = J v + e (rows,), m/s or rad/s.")
      .def_prop_ro(
          "generalized_velocity",
          [](nb::pointer_and_handle<S> s) { return view_of(s.p->generalized_velocity, s.h); },
          "v = A⁻¹ (b + Jᵀ λ) (dofs,); empty of problems in Delassus form.")
      .def(
          "__repr__", [](nb::handle self) { return display("solution_text", self); },
          nb::sig("def __repr__(self) -> str"))
      .def("__getstate__",
           [](const S& s) {
             return nb::make_tuple(new_vector(s.impulse), new_vector(s.velocity),
                                   new_vector(s.generalized_velocity));
           })
      .def("__setstate__", [](S& s, const nb::tuple& state) {
        const auto numbers = [&](std::size_t k) { return to_vector(state[k], "state", Finite::no); };
        new (&s) S{numbers(0), numbers(1), numbers(2)};
      });
}

void bind_parts(nb::module_& m) {
  nb::class_<Stage>(m, "Stage", "What one part of a solve cost (explain=True).")
      .def_ro("name", &Stage::name, "Name of the method.")
      .def_ro("islands", &Stage::islands, "Islands that went through it.")
      .def_ro("constraints", &Stage::contacts, "Constraints in them.")
      .def_ro("iterations", &Stage::iterations, "As the solver counts them.")
      .def_ro("factorizations", &Stage::factorizations, "Of matrices.")
      .def_ro("seconds", &Stage::seconds, "Summed over the islands, s.")
      .def_ro("error", &Stage::error, "Worst error after it, in the measure of the solve.")
      .def(
          "__repr__", [](nb::handle self) { return display("stage_text", self); },
          nb::sig("def __repr__(self) -> str"))
      .def("__getstate__", &stage_state)
      .def("__setstate__", [](Stage& s, const nb::tuple& state) { new (&s) Stage(stage_of(state)); });

  nb::class_<Contradiction>(
      m, "Contradiction",
      R"(Proof that a part of a problem has no solution: impulses y that only push against what is demanded, with Jᵀ y = 0.)")
      .def_prop_ro(
          "ray", [](nb::pointer_and_handle<Contradiction> c) { return view_of(c.p->ray, c.h); },
          "y (rows,) of the problem's stored rows.")
      .def_ro("constraints", &Contradiction::constraints,
              "Numbers of the constraints that contradict each other.")
      .def_ro("shares", &Contradiction::shares, "How much each of them takes part; sum 1.")
      .def_ro("violation", &Contradiction::violation,
              "Every velocity violates one of them by at least this, m/s.")
      .def_ro("speed_ratio", &Contradiction::speed_ratio,
              "How many times too slow everything is; inf: Jᵀ y is exactly 0.")
      .def(
          "__repr__", [](nb::handle self) { return display("contradiction_text", self); },
          nb::sig("def __repr__(self) -> str"))
      .def("__getstate__", &contradiction_state)
      .def("__setstate__",
           [](Contradiction& c, const nb::tuple& state) { new (&c) Contradiction(contradiction_of(state)); });
}

}  // namespace

PhysicalSolution physical(const ContactProblem& problem, Solution solution) {
  if (problem.has_row_units()) {
    solution.impulse = physical_impulse(problem, solution.impulse);
    solution.velocity = physical_velocity(problem, solution.velocity);
  }
  return {std::move(solution.impulse), std::move(solution.velocity),
          std::move(solution.generalized_velocity)};
}

void bind_certificate(nb::module_& m) {
  nb::class_<Worst>(m, "Worst", "A value and the constraint where it is worst (-1: none).")
      .def_ro("value", &Worst::value, "The largest of all constraints.")
      .def_ro("constraint", &Worst::constraint, "Where it is; -1: nowhere.")
      .def("__float__", [](const Worst& w) { return w.value; })
      .def(
          "__repr__", [](nb::handle self) { return display("worst_text", self); },
          nb::sig("def __repr__(self) -> str"))
      .def("__getstate__", &worst_state)
      .def("__setstate__", [](Worst& w, const nb::tuple& state) { new (&w) Worst(worst_of(state)); });

  using C = Certificate;
  nb::class_<C>(m, "Certificate",
                R"(How exact impulses are, recomputed from them alone on the raw data of the problem.)")
      .def_ro("error", &C::error, "Scaled natural map, the default error; dimensionless.")
      .def_ro("fclib_error", &C::fclib_error, "The error of FCLIB, Acary (131).")
      .def_ro("siconos_error", &C::siconos_error, "The error of Siconos.")
      .def_ro("lee_residual", &C::lee_residual, "Contact residual of Lee et al., m/s.")
      .def_ro("momentum", &C::momentum, "Residual of the momentum equation, relative.")
      .def_ro("cone_primal", &C::cone_primal, "Distance of the impulse from its set, N s.")
      .def_ro("cone_dual", &C::cone_dual, "Distance of the velocity from the dual set, m/s.")
      .def_ro("complementarity", &C::complementarity, "|λ · ŵ|, J.")
      .def_ro("penetration_velocity", &C::penetration_velocity, "Of contacts that go on closing, m/s.")
      .def_ro("stick_slip_velocity", &C::stick_slip_velocity, "Of contacts that should stick, m/s: creep.")
      .def_ro("slip_angle", &C::slip_angle, "Between slip and the opposite of friction, rad.")
      .def(
          "__repr__", [](nb::handle self) { return display("certificate_text", self); },
          nb::sig("def __repr__(self) -> str"))
      .def(
          "_repr_html_", [](nb::handle self) { return display("certificate_html", self); },
          nb::sig("def _repr_html_(self) -> str"))
      .def("__getstate__", &certificate_state)
      .def("__setstate__", [](C& c, const nb::tuple& state) { new (&c) C(certificate_of(state)); });
}

void bind_report(nb::module_& m) {
  bind_solution(m);
  bind_parts(m);
  using R = Report;
  nb::class_<R> report(m, "Report", "What came of a solve.");
  report.attr("_history_dtype") = structured_dtype({{"iteration", "i4", offsetof(Progress, iteration)},
                                                    {"error", "f8", offsetof(Progress, error)},
                                                    {"seconds", "f8", offsetof(Progress, seconds)},
                                                    {"penalty", "f8", offsetof(Progress, penalty)}},
                                                   sizeof(Progress));
  report.def_ro("solver", &R::solver, "Name of the solver.")
      .def_prop_ro(
          "status", [](const R& r) { return to_string(r.status); },
          "\"converged\", \"iteration_limit\", \"time_limit\", \"stalled\", \"infeasible\", "
          "\"no_solution_suspected\", "
          "\"cancelled\" or \"regularized\".")
      .def_prop_ro(
          "converged", [](const R& r) { return r.status == Status::converged; },
          "Whether the certificate is below the tolerance.")
      .def_prop_ro(
          "error", [](const R& r) { return r.certificate.error.value; },
          "Scaled error of the solution, of the certificate.")
      .def_ro("iterations", &R::iterations, "As the solver counts them.")
      .def_ro("factorizations", &R::factorizations, "Of matrices.")
      .def_ro("seconds", &R::seconds, "Wall clock, certification included, s.")
      .def_ro("certificate", &R::certificate, "All measures of the solution's accuracy.")
      .def_ro("start_error", &R::start_error,
              "Error of the impulses the solve began with; inf where islands began one by one.")
      .def_ro("islands", &R::islands, "Parts of the problem that do not know of each other.")
      .def_ro("regularized_count", &R::regularized_count, "Constraints that the solver gave compliance.")
      .def_ro("faceted_error", &R::faceted_error, "Of solvers whose cones have facets; NaN for all others.")
      .def_prop_ro(
          "history",
          [](nb::pointer_and_handle<R> r) {
            return structured(r.p->history.data(), r.p->history.size(), sizeof(Progress),
                              nb::type<R>().attr("_history_dtype"), r.h);
          },
          nb::sig("def history(self) -> numpy.ndarray"),
          "Every checked iterate (history=True): array with the fields iteration, error, seconds, penalty.")
      .def_ro("stages", &R::stages, "What the parts of the solve cost (explain=True).")
      .def_ro("contradictions", &R::contradictions, "Of infeasible problems the proofs, one per island.")
      .def(
          "__repr__", [](nb::handle self) { return display("report_text", self); },
          nb::sig("def __repr__(self) -> str"))
      .def(
          "_repr_html_", [](nb::handle self) { return display("report_html", self); },
          nb::sig("def _repr_html_(self) -> str"))
      .def("__getstate__", &report_state)
      .def("__setstate__", [](R& r, const nb::tuple& state) { new (&r) R(report_of(state)); });
}

}  // namespace tribo::python
