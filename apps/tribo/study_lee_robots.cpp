#include "apps/tribo/study_lee_robots.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/tribo/study_run.h"

namespace tribo::cli {

namespace {

struct RobotTask {
  const char* scene;
  double budget;  // s, Lee's
  const char *shortened, *observable;
  double short_form;  // value of the scene's parameter `shortened` for --quick: the end of the task alone
};
constexpr RobotTask kAssembly{"assembly", 0.5e-3, "start", "nut_height", 2.0};
constexpr RobotTask kPiling{"piling", 1e-3, "first", "dishes_stacked", 4.0};
constexpr const char* kSolvers[] = {"auto", "canal", "subadmm", "pgs"};

std::string case_name(const std::string& solver, bool budget, const StudyOptions& options) {
  return fmt::format("{}{}{}", solver, budget ? " with the budget" : "",
                     options.quick ? ", end of the task" : "");
}

std::vector<StudyCase> cases(const RobotTask& task, const StudyOptions& options) {
  std::vector<StudyCase> list;
  for (const std::string solver : kSolvers) {
    for (const bool budget : {true, false}) {
      // Without a limit the slow ones take hours and show nothing that the paper claims.
      if (!budget && (solver == "subadmm" || solver == "pgs")) continue;
      list.push_back({case_name(solver, budget, options), [=] {
                        SceneHow how{.solver = solver};
                        if (budget) how.budget = task.budget;
                        SceneValues values;
                        if (options.quick) values[task.shortened] = task.short_form;
                        const SceneRun run = run_scene(task.scene, values, how);
                        const auto steps = static_cast<double>(run.steps);
                        return std::vector<double>{run["task_done"],
                                                   run[task.observable],
                                                   run["slip_in_hand"],
                                                   run.penetration,
                                                   static_cast<double>(run.missed) / steps,
                                                   run.worst,
                                                   run.solve_ms};
                      }});
    }
  }
  return list;
}

// Whether the nut sits, to the play of its thread; whether all dishes are in their places.
bool succeeded(const RobotTask& task, double done, double value) {
  return done == 1.0 && (task.scene == kPiling.scene ? value == 4.0 : std::abs(value) <= 1e-4);
}

StudyFinding judge(const RobotTask& task, const StudyTable& table, const StudyOptions& options) {
  StudyFinding finding;
  for (const std::string solver : kSolvers) {
    for (const bool budget : {true, false}) {
      const StudyRow* row = table.find(case_name(solver, budget, options));
      if (row == nullptr) continue;
      const bool good = succeeded(task, table.at(*row, "done"), table.at(*row, "value"));
      const bool fails = solver == "pgs";
      const std::string limit = budget ? fmt::format(" within {:g} ms a step", 1e3 * task.budget) : "";
      finding.claims.push_back(
          {fmt::format("{} {} the {}{}", solver, fails ? "fails at" : "completes", task.scene, limit),
           fails ? "fails" : "completes",
           fmt::format(
               "{}: {} {:.3g}, deepest penetration {:.2g} mm, slip in the hand {:.2g} mm, {:.2g} % of the "
               "steps above 1e-6 (worst {:.1e}), {:.2g} ms a solve",
               good ? "completed" : "failed", task.observable, table.at(*row, "value"),
               1e3 * table.at(*row, "penetration"), 1e3 * table.at(*row, "slip"),
               100.0 * table.at(*row, "missed"), table.at(*row, "worst"), table.at(*row, "ms")),
           verdict_of(good != fails),
           task.scene == kPiling.scene
               ? "4 of 4 dishes within 10 mm of the axis of the one below and 2 mm of their heights"
               : "the nut within 0.1 mm of its seat, m above it"});
    }
  }
  return finding;
}

const std::vector<std::string> kColumns{"done", "value", "slip", "penetration", "missed", "worst", "ms"};

}  // namespace

StudyFigure lee_assembly() {
  return {"fig1-assembly", "A robot screws a nut on (Fig. 1)", kColumns,
          [](const StudyOptions& o) { return cases(kAssembly, o); },
          [](const StudyTable& t, const StudyOptions& o) { return judge(kAssembly, t, o); }};
}

StudyFigure lee_piling() {
  return {"fig1-piling", "A robot piles dishes (Fig. 1)", kColumns,
          [](const StudyOptions& o) { return cases(kPiling, o); },
          [](const StudyTable& t, const StudyOptions& o) { return judge(kPiling, t, o); }};
}

}  // namespace tribo::cli
