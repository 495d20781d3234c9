// Mangoni's thesis, chapter 5: interior point on frictionless scenes. The path alone (polish off), as printed.
#include <fmt/format.h>

#include <cmath>

#include "apps/tribo/study.h"
#include "apps/tribo/study_run.h"

namespace tribo::cli {

namespace {

constexpr const char* kPath = "ipm:polish=off,proximal_rounds=0";
constexpr double kTolerance = 1e-8;

// ----- Table 5.3 ------------------------------------------------------------------------------------------------------

struct Printed {
  Index balls;
  double iterations;
};
constexpr Printed kBalls[] = {{64, 17.2}, {280, 17.9}, {595, 17.7}, {1190, 17.8}};

std::vector<StudyCase> ball_cases(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  for (const Printed& size : kBalls) {
    if (options.quick && size.balls > 280) continue;
    cases.push_back(
        {fmt::format("{} balls 50 steps", size.balls), [size] {
           double iterations = 0.0, solves = 0.0, rows = 0.0;
           const auto after = [&](const Simulator&, const StepReport& r) {
             if (r.constraints == 0) return;
             iterations += r.iterations, solves += 1.0;
             rows = std::max(rows, static_cast<double>(r.constraints));
           };
           const SceneRun run = run_scene(
               "balls-in-box", {{"balls", size.balls}, {"mu", 0.0}},
               {.time = 1.0, .solver = kPath, .tolerance = kTolerance, .warm_start = false, .after = after});
           return std::vector<double>{6.0 * size.balls, rows,         iterations / std::max(1.0, solves),
                                      size.iterations,  run.solve_ms, static_cast<double>(run.missed)};
         }});
  }
  return cases;
}

StudyFinding judge_balls(const StudyTable& table, const StudyOptions&) {
  double low = 1e300, high = 0.0, largest = 0.0, missed = 0.0;
  std::vector<std::pair<double, double>> ours, printed;
  for (const StudyRow& row : table.rows) {
    const double iterations = table.at(row, "iterations");
    low = std::min(low, iterations), high = std::max(high, iterations);
    largest = std::max(largest, table.at(row, "dofs"));
    missed += table.at(row, "missed");
    ours.emplace_back(table.at(row, "dofs"), iterations);
    printed.emplace_back(table.at(row, "dofs"), table.at(row, "iterations_printed"));
  }
  CurveSet set{"Iterations against degrees of freedom", "degrees of freedom", "mean iterations per solve"};
  set.y_log = false;
  set.curves = {{"tribo ipm", ours}, {"thesis", printed}};
  return {.claims =
              {{"The number of iterations does not depend on the size", "17.2 to 17.9 for 384 to 7140 dofs",
                fmt::format("{:.3g} to {:.3g} up to {:g} dofs", low, high, largest),
                verdict_of(high <= 1.5 * low),
                fmt::format(
                    "largest mean within 1.5 times the smallest; islands are added up; {:g} steps above {:g}",
                    missed, kTolerance)}},
          .plots = {{"balls", curve_plot(set)}}};
}

// ----- Table 5.1 ------------------------------------------------------------------------------------------------------

struct WarmScene {
  const char* name;
  const char* scene;
  SceneValues values;
  int calls;
  double none, partial, full;  // printed totals
};

std::vector<WarmScene> warm_scenes() {
  return {{"balls in the box", "balls-in-box", {{"balls", 64}, {"mu", 0.0}}, 50, 935, 927, 747},
          {"single ball", "single-ball", {}, 100, 720, 515, 90},
          {"single brick", "single-brick", {}, 100, 499, 370, 81}};
}

constexpr const char* kWarm[] = {"none", "partial", "full"};

std::vector<StudyCase> warm_cases(const StudyOptions&) {
  std::vector<StudyCase> cases;
  for (const WarmScene& scene : warm_scenes()) {
    for (const std::string kind : kWarm) {
      cases.push_back(
          {fmt::format("{} {} {} steps", scene.name, kind, scene.calls), [scene, kind] {
             const SceneRun run = run_scene(scene.scene, scene.values,
                                            {.time = 0.02 * scene.calls,
                                             .solver = std::string(kPath) + ",warm=" + kind,
                                             .tolerance = kTolerance,
                                             .warm_start = kind != "none"});
             const double printed = kind == "none"      ? scene.none
                                    : kind == "partial" ? scene.partial
                                                        : scene.full;
             return std::vector<double>{run.iterations * run.steps, printed, static_cast<double>(run.missed)};
           }});
    }
  }
  return cases;
}

StudyFinding judge_warm(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  for (const WarmScene& scene : warm_scenes()) {
    const auto total = [&](const char* kind) {
      return table.at(fmt::format("{} {} {} steps", scene.name, kind, scene.calls), "iterations");
    };
    finding.claims.push_back(
        {fmt::format("Warm starts save iterations: {}", scene.name),
         fmt::format("{:g} / {:g} / {:g}", scene.none, scene.partial, scene.full),
         fmt::format("{:g} / {:g} / {:g}", total("none"), total("partial"), total("full")),
         verdict_of(total("partial") <= 1.02 * total("none") && total("full") <= total("partial") &&
                    total("full") < total("none")),
         "full below none, partial between them or at most 2 % above none (the printed totals differ by 1 % "
         "there); a start that is good enough costs no iteration"});
  }
  return finding;
}

// ----- Figs. 5.5 and 5.6 ----------------------------------------------------------------------------------------------

std::vector<double> first_step(const SceneValues& values) {
  const SceneRun run =
      run_scene("stacked-spheres", values,
                {.time = 0.05, .solver = kPath, .tolerance = kTolerance, .warm_start = false});
  return {run.iterations, run.worst, run["ground_force"], static_cast<double>(run.missed)};
}

std::vector<StudyCase> stack_cases(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  for (const int exponent : {2, 6, 12}) {
    for (const Index count : {1, 5, 10, 24, 100}) {
      if (options.quick && count > 24) continue;
      cases.push_back({fmt::format("1e{} kg x {}", exponent, count), [=] {
                         std::vector<double> values{static_cast<double>(count)};
                         for (const double x : first_step({{"spheres", count}, {"exponent", exponent}}))
                           values.push_back(x);
                         return values;
                       }});
    }
  }
  for (Index count = 1; count <= 18; ++count) {
    cases.push_back({fmt::format("10^n kg to 1e{}", count), [=] {
                       std::vector<double> values{static_cast<double>(count)};
                       for (const double x : first_step({{"spheres", count}, {"decades", 1}}))
                         values.push_back(x);
                       return values;
                     }});
  }
  return cases;
}

StudyFinding judge_stack(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  CurveSet set{"Iterations of the first step against the number of spheres", "spheres", "iterations"};
  set.y_log = false;
  double worst_spread = 0.0, tallest = 0.0, certified = 0.0, carried = 0.0, left = 0.0;
  for (const std::string kind : {"1e2 kg", "1e6 kg", "1e12 kg", "10^n kg"}) {
    std::vector<std::pair<double, double>> points;
    double low = 1e300, high = 0.0;
    for (const StudyRow& row : table.rows) {
      if (!row.name.starts_with(kind)) continue;
      const double spheres = table.at(row, "spheres"), iterations = table.at(row, "iterations");
      points.emplace_back(spheres, iterations);
      if (spheres > 1.0) low = std::min(low, iterations), high = std::max(high, iterations);
      if (kind != "10^n kg") continue;
      if (std::abs(table.at(row, "ground_force") - 1.0) <= 1e-3) tallest = std::max(tallest, spheres);
      if (spheres == 15.0) carried = table.at(row, "ground_force"), left = table.at(row, "worst");
      if (table.at(row, "missed") == 0.0) certified = std::max(certified, spheres);
    }
    if (kind != "10^n kg") worst_spread = std::max(worst_spread, high - low);
    set.curves.emplace_back(kind, points);
  }
  finding.claims.push_back(
      {"Equal masses: iterations do not depend on the number of spheres", "none stated",
       fmt::format("they differ by {:g}", worst_spread), verdict_of(worst_spread <= 5.0),
       "largest minus smallest count of one mass for 5 spheres and more, at most 5; here they do not depend "
       "on the mass either, because the solver scales"});
  finding.claims.push_back(explained(
      {"Sphere n of 10^n kg: at most 15 spheres before it fails", "15",
       fmt::format("{:g}; certified to 1e-8 up to {:g}", tallest, certified), verdict_of(tallest >= 15.0),
       "most spheres whose weight the ground carries to 1e-3 after the first step, at "
       "least 15. The certificate "
       "weighs every contact by its own masses: beyond a ratio of 1e9 the path without "
       "polish leaves errors in the "
       "lightest ones"},
      fmt::format("with 15 the ground carries {:.2g} of the weight and the error is {:.2g}; the masses then "
                  "differ by 1e14, a double and its rounding by 4.5e15",
                  carried, left)));
  finding.plots.push_back({"stack", curve_plot(set)});
  return finding;
}

}  // namespace

Study mangoni_study() {
  return {"mangoni",
          "Interior point without friction",
          "Mangoni: An interior-point method for non-smooth multibody dynamics (thesis, 2018)",
          {{"table53",
            "Balls in the box (Table 5.3): iterations against size",
            {"dofs", "rows", "iterations", "iterations_printed", "ms", "missed"},
            ball_cases,
            judge_balls},
           {"table51",
            "Warm start (Table 5.1): iterations of all steps",
            {"iterations", "iterations_printed", "missed"},
            warm_cases,
            judge_warm},
           {"fig55",
            "Stacked spheres (Figs. 5.5, 5.6)",
            {"spheres", "iterations", "worst", "ground_force", "missed"},
            stack_cases,
            judge_stack}},
          {"Sec. 5.3.2 (three-point bending): the scene `bending`, docs/flexible-bodies.md."}};
}

}  // namespace tribo::cli
