#include "apps/tribo/study_castro_tolerances.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/tribo/study_run.h"
#include "tribo/problem/certificate.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

constexpr Index kEvery =
    10;  // steps: how often complementarity is measured, by solving the step again from its start

struct Entry {
  const char* label;
  const char* solver;  // its tolerance in place of {}
  Law law;
};
constexpr Entry kEntries[] = {{"sap (convex law)", "sap:rule=momentum,relative={:g}", Law::convex},
                              {"ipm (convex law)", "ipm", Law::convex},
                              {"auto (exact law)", "auto", Law::exact}};

// Lowest, median, mean, highest; NaN of nothing.
std::vector<double> spread(std::vector<double> values) {
  if (values.empty()) return {NAN, NAN, NAN, NAN};
  std::ranges::sort(values);
  double sum = 0.0;
  for (const double value : values) sum += value;
  return {values.front(), values[values.size() / 2], sum / static_cast<double>(values.size()), values.back()};
}

// Worst |lambda . w| of a contact over the cost of the step, 1/2 lambda . (w - q), as (33); NaN where nothing presses.
double slack_of(const Simulator& s, const std::string& name, Law law, double tolerance) {
  const ContactProblem problem = s.problem();
  if (problem.constraint_count() == 0) return NAN;
  const Vector guess = s.problem_guess();
  Settings settings;
  settings.law = law;
  settings.tolerance = tolerance;
  Solution solution;
  const Report report = make_solver(name)->solve(problem, settings, solution, &guess);
  const double energy = 0.5 * std::abs(solution.impulse.dot(solution.velocity - problem.bias()));
  return energy > 0.0 ? report.certificate.complementarity.value / energy : NAN;
}

std::vector<double> measure(const Entry& entry, double tolerance, double marbles) {
  const std::string solver = fmt::format(fmt::runtime(entry.solver), tolerance);
  std::vector<double> errors, slacks;
  SceneHow how{.law = entry.law, .solver = solver, .tolerance = tolerance};
  how.after = [&](const Simulator& s, const StepReport& report) {
    errors.push_back(report.error);
    if (s.step_count() % kEvery != 0) return;
    const double slack = slack_of(s, solver, entry.law, tolerance);
    if (!std::isnan(slack)) slacks.push_back(slack);
  };
  const SceneRun run = run_scene("dual-arm", {{"marbles", marbles}}, how);
  const bool completes =
      run["marbles_in_bowl"] == marbles && run["lid_seated"] == 1.0 && run["jar_back"] == 1.0;
  std::vector<double> values{tolerance, completes ? 1.0 : 0.0, run.iterations};
  for (const std::vector<double>& all : {spread(errors), spread(slacks)})
    values.insert(values.end(), all.begin(), all.end());
  return values;
}

std::vector<StudyCase> cases_of(const StudyOptions& options) {
  const std::vector<double> tolerances = options.quick
                                             ? std::vector<double>{1e-1, 1e-3, 1e-5}
                                             : std::vector<double>{1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6};
  const double marbles = options.quick ? 4.0 : 16.0;
  std::vector<StudyCase> cases;
  for (const Entry& entry : kEntries) {
    for (const double tolerance : tolerances)
      cases.push_back({fmt::format("{} tolerance={:g} {:g} marbles", entry.label, tolerance, marbles),
                       [=] { return measure(entry, tolerance, marbles); }});
  }
  return cases;
}

// What the task's end says of errors above or below a tenth.
StudyClaim end_of_task(const StudyTable& table, bool below) {
  constexpr double kTenth = 0.1;
  Index agree = 0, all = 0;
  std::string others;
  for (const StudyRow& row : table.rows) {
    const double most = table.at(row, "error_most");
    if ((most < kTenth) != below) continue;
    ++all;
    if ((table.at(row, "completes") == 1.0) == below) {
      ++agree;
    } else {
      others += fmt::format("{}{:.3g}", others.empty() ? "" : ", ", most);
    }
  }
  return explained({below ? "The task completes where no error is above 10 %"
                          : "It does not where some error is above 10 %",
                    below ? "completes" : "does not", fmt::format("{} of {} runs", agree, all),
                    all == 0 ? Verdict::not_measurable : verdict_of(agree == all),
                    "scaled natural map of every step, in place of the momentum's error (32): tribo computes "
                    "velocities from "
                    "the impulses, and the momentum is balanced to rounding"},
                   "largest errors of the others: " + others);
}

StudyFinding judge(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  CurveSet errors{"Errors of the steps against the tolerance", "tolerance", "scaled error"},
      slacks{"Complementarity against the tolerance", "tolerance", "worst |lambda w| over the cost"};
  finding.claims.push_back(end_of_task(table, true));
  finding.claims.push_back(end_of_task(table, false));
  for (const Entry& entry : kEntries) {
    std::vector<std::pair<double, double>> mean, most, slack, slack_most;
    double over = 0.0;
    std::string ends;
    bool falls = true;
    for (const StudyRow& row : table.rows) {
      if (!row.name.starts_with(entry.label)) continue;
      const double tolerance = table.at(row, "tolerance");
      if (!slack.empty()) falls = falls && table.at(row, "slack_median") <= 1.5 * slack.back().second;
      mean.emplace_back(tolerance, table.at(row, "error_mean"));
      most.emplace_back(tolerance, table.at(row, "error_most"));
      slack.emplace_back(tolerance, table.at(row, "slack_median"));
      slack_most.emplace_back(tolerance, table.at(row, "slack_most"));
      over = std::max(over, table.at(row, "error_most") / tolerance);
      ends += fmt::format("{}{:g} {}", ends.empty() ? "" : ", ", tolerance,
                          table.at(row, "completes") == 1.0 ? "completes" : "fails");
    }
    if (mean.empty()) continue;
    errors.curves.emplace_back(fmt::format("{}, mean", entry.label), mean);
    errors.curves.emplace_back(fmt::format("{}, largest", entry.label), most);
    slacks.curves.emplace_back(fmt::format("{}, median", entry.label), slack);
    slacks.curves.emplace_back(fmt::format("{}, largest", entry.label), slack_most);
    const bool is_sap = std::string_view(entry.label).starts_with("sap");
    finding.claims.push_back(explained(
        {fmt::format("No error is above the tolerance: {}", entry.label),
         is_sap ? "guaranteed" : "not guaranteed", fmt::format("at most {:.2g} of it; {}", over, ends),
         verdict_of(over <= 1.0), "scaled error of every step over the tolerance"},
        is_sap ? "SAP stops by the momentum of its velocities (26), under near-rigid compliance; the "
                 "natural map is that of the rigid problem"
               : "a step that the iterations end keeps its best iterate"));
    finding.claims.push_back(explained(
        {fmt::format("The error of complementarity falls with the tolerance: {}", entry.label),
         is_sap ? "zero" : "falls",
         fmt::format("{:.2g} at {:g}, {:.2g} at {:g}", slack.front().second, slack.front().first,
                     slack.back().second, slack.back().first),
         verdict_of(falls && slack.back().second < slack.front().second),
         "medians of every tenth step, none above 1.5 times that at the looser tolerance"},
        is_sap ? "what near-rigid compliance leaves of the rigid problem does not fall with the tolerance"
               : "see the curve"));
  }
  finding.plots.push_back({"error", curve_plot(errors)});
  finding.plots.push_back({"complementarity", curve_plot(slacks)});
  return finding;
}

}  // namespace

StudyFigure castro_tolerances() {
  return {"fig19",
          "Errors of the two arms' task against the tolerance (Figs. 19, 20)",
          {"tolerance", "completes", "iterations", "error_least", "error_median", "error_mean", "error_most",
           "slack_least", "slack_median", "slack_mean", "slack_most"},
          cases_of,
          judge};
}

}  // namespace tribo::cli
