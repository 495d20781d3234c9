// Static friction: what stands by friction alone must stand for minutes, and what is below the verge must move.
#include <fmt/format.h>

#include <cmath>

#include "apps/tribo/study.h"
#include "apps/tribo/study_run.h"

namespace tribo::cli {

namespace {

struct StandingScene {
  const char* label;
  const char* scene;
  SceneValues values;
  const char* observable;
  double aim;  // m of drift
  // Largest drift in 295 s after 5 s, by default and at its best settings (bench/results/standing_mujoco.csv).
  const char* mujoco;
};

const std::vector<StandingScene>& standing_scenes() {
  static const std::vector<StandingScene> scenes{
      {"roman-arch", "roman-arch", {}, "keystone_drift", 1e-5, "falls by default, 4.6e-5 m at its best"},
      {"gothic-arch", "gothic-arch", {}, "keystone_drift", 1e-5, "falls by default, 3.9e-5 m at its best"},
      {"house-of-cards", "house-of-cards", {}, "drift", 1e-6, "falls by default, 3.7e-5 m at its best"},
      {"house-of-cards of 4 levels", "house-of-cards", {{"levels", 4}}, "drift", 1e-6, "not measured"},
      {"house of 26 cards",
       "house-of-cards",
       {{"levels", 4}, {"flats", 1}},
       "drift",
       1e-6,
       "falls by default, 3.2e-4 m at its best"}};
  return scenes;
}

std::vector<StudyCase> standing_cases(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  const double time = options.quick ? 5.0 : 300.0, settled = options.quick ? 1.0 : 5.0;
  for (const StandingScene& scene : standing_scenes()) {
    cases.push_back({fmt::format("{} T={:g}", scene.label, time), [=] {
                       // Drift after settling: of all bodies between then and the end.
                       Vector then;
                       double drift = 0.0;
                       const auto after = [&](const Simulator& s, const StepReport&) {
                         if (then.size() == 0 && s.state().time >= settled) then = s.state().q;
                         if (then.size() == 0) return;
                         for (Index j = 0; j < s.model().joint_count(); ++j) {
                           const Index q = s.model().joint_coordinate(j);
                           drift = std::max(drift, (s.state().q.segment<3>(q) - then.segment<3>(q)).norm());
                         }
                       };
                       const SceneRun run =
                           run_scene(scene.scene, scene.values, {.time = time, .after = after});
                       return std::vector<double>{time, run[scene.observable], drift, run["friction_used"],
                                                  static_cast<double>(run.missed)};
                     }});
  }
  return cases;
}

StudyFinding judge_standing(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  for (const StandingScene& scene : standing_scenes()) {
    for (const StudyRow& row : table.rows) {
      if (!row.name.starts_with(std::string(scene.label) + " T")) continue;
      finding.claims.push_back(
          {fmt::format("{} stands, by friction alone, for {:g} s", scene.label, table.at(row, "time")),
           fmt::format("aim: drift below {:g} m; MuJoCo: {}", scene.aim, scene.mujoco),
           fmt::format("{:.2g} m after settling", table.at(row, "drift_settled")),
           verdict_of(table.at(row, "drift_settled") <= scene.aim),
           "largest displacement of any body from its place after settling, without any tuning"});
    }
  }
  return finding;
}

// ----- critical grasp -------------------------------------------------------------------------------------------------

constexpr double kShares[] = {0.90, 0.95, 0.99, 0.999, 1.001, 1.01, 1.05, 1.10};

std::vector<StudyCase> grasp_cases(const StudyOptions&) {
  std::vector<StudyCase> cases;
  for (const int ball : {0, 1}) {
    for (const double share : kShares) {
      cases.push_back({fmt::format("{} share={:g}", ball ? "ball" : "cube", share), [=] {
                         const SceneRun run = run_scene("critical-grasp", {{"share", share}, {"ball", ball}},
                                                        {.tolerance = 1e-9});
                         return std::vector<double>{share, run["fall"], run["fall_exact"],
                                                    static_cast<double>(run.missed)};
                       }});
    }
  }
  return cases;
}

StudyFinding judge_grasp(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  for (const std::string kind : {"cube", "ball"}) {
    bool right = true;
    double above = 0.0, below = 1e300, off = 0.0;
    for (const StudyRow& row : table.rows) {
      if (!row.name.starts_with(kind)) continue;
      const double fall = table.at(row, "fall"), exact = table.at(row, "fall_exact");
      if (table.at(row, "share") > 1.0) {
        above = std::max(above, std::abs(fall));
      } else {
        below = std::min(below, fall / exact);
        off = std::max(off, std::abs(fall / exact - 1.0));
      }
    }
    right = above <= 1e-6 && below >= 0.99;
    finding.claims.push_back(
        {fmt::format("A {} is held above the critical friction and falls below it, down to 0.1 %", kind),
         kind == "cube" ? "sharp at 1; MuJoCo at its best sinks 3 mm in a second at 1.01" : "sharp at 1",
         fmt::format("moves {:.2g} m above; falls {:.3g} times the exact way or more below", above, below),
         verdict_of(right),
         fmt::format(
             "1 s of motion; the way below is off by {:.2g} at most{}", off,
             kind == "cube" ? " (an uneven load on the corners turns the cube and takes friction)" : "")});
  }
  return finding;
}

// ----- slope ----------------------------------------------------------------------------------------------------------

std::vector<StudyCase> slope_cases(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  const double time = options.quick ? 2.0 : 60.0;
  for (const double angle : {5.0, 15.0, 30.0, 44.9, 45.1}) {
    cases.push_back({fmt::format("angle={:g} mu=1 T={:g}", angle, angle > 45.0 ? 2.0 : time), [=] {
                       const SceneRun run = run_scene("slope", {{"angle", angle}, {"mu", 1.0}},
                                                      {.time = angle > 45.0 ? 2.0 : time});
                       return std::vector<double>{angle, run["creep_speed"], run["speed"], run["speed_exact"],
                                                  static_cast<double>(run.missed)};
                     }});
  }
  return cases;
}

StudyFinding judge_slope(const StudyTable& table, const StudyOptions&) {
  double creep = 0.0, off = 0.0;
  for (const StudyRow& row : table.rows) {
    if (table.at(row, "angle") < 45.0) {
      creep = std::max(creep, std::abs(table.at(row, "creep_speed")));
    } else {
      off = std::abs(table.at(row, "speed") - table.at(row, "speed_exact")) /
            std::abs(table.at(row, "speed_exact"));
    }
  }
  return {
      .claims = {
          {"A box sticks on any slope below the angle of friction", "0 m/s", fmt::format("{:.2g} m/s", creep),
           verdict_of(creep <= 1e-9), "creep at most 1e-9 m/s, also 0.1 degrees below"},
          {"and slides as mechanics says 0.1 degrees above", "exact", fmt::format("off by {:.2g}", off),
           verdict_of(off <= 0.01), "speed after 2 s within 1 %"}}};
}

}  // namespace

Study friction_study() {
  return {"friction",
          "Static friction",
          "Not from a paper: structures that stand by Coulomb's law alone",
          {{"standing",
            "Arches and houses of cards",
            {"time", "drift", "drift_settled", "friction_used", "missed"},
            standing_cases,
            judge_standing},
           {"grasp",
            "A grasp at the verge of slipping",
            {"share", "fall", "fall_exact", "missed"},
            grasp_cases,
            judge_grasp},
           {"slope",
            "A box on a slope",
            {"angle", "creep_speed", "speed", "speed_exact", "missed"},
            slope_cases,
            judge_slope}},
          {"MuJoCo's values are those of bench/peers/standing_mujoco.py, which needs its package."}};
}

}  // namespace tribo::cli
