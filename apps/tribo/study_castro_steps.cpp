// Castro, Permenter, Han (2022), sec. VI-C: how SAP converges in two steps of the clutter (Fig. 10), and what error solvers leave
// in the balance of momentum and in complementarity (Fig. 13).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/tribo/study.h"
#include "apps/tribo/study_run.h"
#include "tribo/problem/certificate.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

struct Step {
  ContactProblem problem;
  Vector guess;
};

// Steps of the clutter as SAP simulates it under the convex law, in 10 ms.
std::vector<Step> clutter_steps(double bodies, bool walls, const std::vector<Index>& steps) {
  std::vector<Step> found;
  Index done = 0;
  const auto after = [&](const Simulator& s, const StepReport&) {
    if (std::ranges::find(steps, ++done) != steps.end()) found.push_back({s.problem(), s.problem_guess()});
  };
  run_scene("clutter", {{"bodies", bodies}, {"walls", walls ? 1.0 : 0.0}},
            {.dt = 0.01,
             .time = 0.01 * static_cast<double>(steps.back()),
             .law = Law::convex,
             .solver = "sap:rule=momentum",
             .tolerance = 1e-5,
             .after = after});
  return found;
}

// ----- Fig. 10 --------------------------------------------------------------------------------------------------------

constexpr Index kShown = 30;
constexpr Index kSteps[] = {60, 520};

std::vector<StudyCase> convergence_cases(const StudyOptions&) {
  std::vector<StudyCase> cases;
  for (const Index step : kSteps) {
    cases.push_back({fmt::format("step {}", step), [step] {
                       const std::vector<Step> steps = clutter_steps(40, true, {step});
                       const auto sap = make_solver("sap");
                       Settings settings;
                       settings.law = Law::convex;
                       settings.tolerance = 1e-13;
                       settings.islands = false;
                       std::vector<double> values;
                       Index needed = 0;
                       for (Index k = 1; k <= kShown; ++k) {
                         settings.max_iterations = k;
                         Solution solution;
                         const Report report =
                             sap->solve(steps[0].problem, settings, solution, &steps[0].guess);
                         const double error = report.certificate.error.value;
                         if (needed == 0 && error <= 1e-5) needed = k;
                         values.push_back(error);
                       }
                       values.insert(values.begin(), {static_cast<double>(steps[0].problem.contact_count()),
                                                      needed > 0 ? static_cast<double>(needed) : NAN});
                       return values;
                     }});
  }
  return cases;
}

std::vector<std::string> convergence_columns() {
  std::vector<std::string> columns{"contacts", "iterations"};
  for (Index k = 1; k <= kShown; ++k) columns.push_back(fmt::format("error_{}", k));
  return columns;
}

StudyFinding judge_convergence(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  CurveSet set{"Error against Newton iterations of SAP", "iterations", "scaled error"};
  set.x_log = false;
  for (const Index step : kSteps) {
    std::vector<std::pair<double, double>> points;
    bool falls = true;
    double steepest = 1.0, before = INFINITY;
    for (Index k = 1; k <= kShown; ++k) {
      const double error = table.at(fmt::format("step {}", step), fmt::format("error_{}", k));
      points.emplace_back(static_cast<double>(k), error);
      if (before < 1e-2 && error < before) steepest = std::min(steepest, error / before);
      falls = falls && !(error > 1.000001 * before);
      before = error;
    }
    set.curves.emplace_back(fmt::format("step {}", step), points);
    finding.claims.push_back({fmt::format("SAP decreases monotonically in step {}", step), "yes",
                              falls ? "yes" : "no", verdict_of(falls),
                              "error of the best iterate after k iterations, in place of the cost"});
    if (step == kSteps[0]) {
      finding.claims.push_back(
          {"... and ends quadratically after a linear transient", "quadratic",
           fmt::format("one iteration divides the error by up to {:.2g}", 1.0 / steepest),
           verdict_of(steepest <= 0.02), "an iteration below an error of 1e-2 divides it by fifty or more"});
    }
  }
  const double early = table.at("step 60", "iterations"), late = table.at("step 520", "iterations");
  finding.claims.push_back({"The energetic transient needs more iterations than the steady state",
                            "21 against 5", fmt::format("{:g} against {:g}", early, late),
                            verdict_of(early > late),
                            "to a scaled error of 1e-5 from the impulses of the step before"});
  finding.plots.push_back({"convergence", curve_plot(set)});
  return finding;
}

// ----- Fig. 13 --------------------------------------------------------------------------------------------------------

constexpr struct {
  const char* label;
  const char* solver;
} kJudged[] = {{"sap", "sap:rule=momentum,relative=1e-5"}, {"ipm", "ipm"}};

std::vector<StudyCase> accuracy_cases(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  const std::vector<double> sizes =
      options.quick ? std::vector<double>{8, 40} : std::vector<double>{8, 20, 40, 80, 160};
  for (const bool walls : {true, false}) {
    for (const double bodies : sizes) {
      for (const auto& entry : kJudged) {
        cases.push_back(
            {fmt::format("{} {:g} bodies {}", entry.label, bodies, walls ? "walls" : "open"), [=] {
               const std::vector<Step> steps =
                   clutter_steps(bodies, walls, {40, 60, 80, 100, 120, 140, 160, 180, 200});
               const auto solver = make_solver(entry.solver);
               double natural = 0.0, momentum = 0.0, slack = 0.0;
               for (const Step& step : steps) {
                 Settings settings;
                 settings.law = Law::convex;
                 settings.tolerance = 1e-5;
                 settings.islands = false;
                 Solution solution;
                 const Report report = solver->solve(step.problem, settings, solution, &step.guess);
                 const double energy = std::max(1e-300, std::abs(solution.impulse.dot(step.problem.bias())));
                 natural += report.certificate.error.value;
                 momentum += report.certificate.momentum;
                 slack += report.certificate.complementarity.value / energy;
               }
               const auto count = static_cast<double>(std::max<std::size_t>(1, steps.size()));
               return std::vector<double>{bodies, walls ? 1.0 : 0.0, natural / count, momentum / count,
                                          slack / count};
             }});
      }
    }
  }
  return cases;
}

StudyFinding judge_accuracy(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  for (const auto& entry : kJudged) {
    double momentum = 0.0, natural = 0.0, slack = 0.0;
    for (const StudyRow& row : table.rows) {
      if (!row.name.starts_with(entry.label)) continue;
      momentum = std::max(momentum, table.at(row, "momentum"));
      natural = std::max(natural, table.at(row, "error"));
      slack = std::max(slack, table.at(row, "slack"));
    }
    finding.claims.push_back(
        {fmt::format("The balance of momentum holds to 1e-5: {}", entry.label), "1e-5",
         short_number(momentum), verdict_of(momentum <= 1e-5),
         "A v - b - J^T lambda, relative; tribo computes v from the impulses, so what a solver "
         "leaves shows in the natural map, at most " +
             short_number(natural)});
    finding.claims.push_back(
        {fmt::format("Complementarity holds to 1e-5: {}", entry.label),
         std::string_view(entry.label) == "sap" ? "exactly" : "1e-5", short_number(slack),
         verdict_of(slack <= 1e-5),
         "worst |w . lambda| of a contact over |q . lambda| of the step, mean of nine steps; of "
         "velocities computed from the impulses"});
  }
  return finding;
}

}  // namespace

StudyFigure castro_convergence() {
  return {"fig10", "Convergence of SAP in two steps (Fig. 10)", convergence_columns(), convergence_cases,
          judge_convergence};
}

StudyFigure castro_accuracy() {
  return {"fig13",
          "What solvers leave of momentum and complementarity (Fig. 13)",
          {"bodies", "walls", "error", "momentum", "slack"},
          accuracy_cases,
          judge_accuracy};
}

}  // namespace tribo::cli
