#include "apps/tribo/study_castro_bubbles.h"

#include <fmt/format.h>

#include <cmath>

#include "apps/tribo/study_run.h"

namespace tribo::cli {

namespace {

constexpr double kPeriod = 6.0, kTight = 4.5;  // s, of the grip's square wave; its tight part
constexpr double kSample = 0.5;                // s, between the points of the pitch's curve
constexpr Index kPeriods = 3;
constexpr Index kSamples = static_cast<Index>(kPeriods * kPeriod / kSample);

struct Entry {
  const char* label;
  const char* solver;
  Law law;
  double tolerance;
};
// The paper's tolerances of SAP and of its interior point.
constexpr Entry kEntries[] = {{"sap (convex law)", "sap:rule=momentum,relative=1e-3", Law::convex, 1e-3},
                              {"ipm (convex law)", "ipm", Law::convex, 1e-6},
                              {"auto (exact law)", "auto", Law::exact, 1e-6}};

std::vector<std::string> columns() {
  std::vector<std::string> all{"tight_pitch", "contacts_tight", "contacts_loose", "iterations",
                               "ms",          "missed",         "worst"};
  for (Index k = 1; k <= kSamples; ++k) all.push_back(fmt::format("pitch_{:g}", kSample * k));
  return all;
}

std::vector<StudyCase> cases_of(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  const Index periods = options.quick ? 2 : kPeriods;
  for (const Entry& entry : kEntries) {
    cases.push_back({fmt::format("{}, {} periods", entry.label, periods), [=] {
                       std::vector<double> pitch(static_cast<std::size_t>(kSamples), NAN);
                       SceneHow how{.time = periods * kPeriod,
                                    .law = entry.law,
                                    .solver = entry.solver,
                                    .tolerance = entry.tolerance};
                       how.after = [&](const Simulator& s, const StepReport&) {
                         const double sample = s.state().time / kSample;
                         const double near = std::round(sample);
                         if (std::abs(sample - near) > 1e-6) return;
                         const Pose& spatula = s.kinematics().pose(s.model().find_body("spatula"));
                         const Vec3 along = spatula.rotation.col(0);
                         pitch.at(static_cast<std::size_t>(near) - 1) = std::atan2(-along.z(), along.x());
                       };
                       const SceneRun run = run_scene("slip-control", {}, how);
                       std::vector<double> values{run["pitch_in_tight_phases"],
                                                  run["contacts_tight"],
                                                  run["contacts_loose"],
                                                  run.iterations,
                                                  run.solve_ms,
                                                  static_cast<double>(run.missed),
                                                  run.worst};
                       values.insert(values.end(), pitch.begin(), pitch.end());
                       return values;
                     }});
  }
  return cases;
}

double pitch_at(const StudyTable& table, const StudyRow& row, double time) {
  return time > 0.0 ? table.at(row, fmt::format("pitch_{:g}", time)) : 0.0;
}

// Loose phases in which the spatula pitches by more than one degree, and how many there are.
std::pair<Index, Index> pitching_phases(const StudyTable& table, const StudyRow& row) {
  constexpr double kSeen = 0.0175;  // rad
  Index pitching = 0, all = 0;
  for (Index k = 1; k <= kPeriods; ++k) {
    const double turned =
        pitch_at(table, row, k * kPeriod) - pitch_at(table, row, (k - 1) * kPeriod + kTight);
    if (std::isnan(turned)) break;
    ++all;
    if (turned > kSeen) ++pitching;
  }
  return {pitching, all};
}

bool near(double value, double wanted) { return std::abs(value - wanted) <= 0.3 * wanted; }

StudyFinding judge(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  CurveSet pitch{"Pitch of the spatula", "time, s", "rad"};
  pitch.x_log = pitch.y_log = false;
  double sap = NAN, ipm = NAN;
  for (const StudyRow& row : table.rows) {
    std::vector<std::pair<double, double>> points{{0.0, 0.0}};
    for (Index k = 1; k <= kSamples; ++k) {
      const double value = pitch_at(table, row, kSample * k);
      if (!std::isnan(value)) points.emplace_back(kSample * k, value);
    }
    pitch.curves.emplace_back(row.name, points);
    if (row.name.starts_with("sap")) sap = table.at(row, "iterations");
    if (row.name.starts_with("ipm")) ipm = table.at(row, "iterations");
    const auto [pitching, all] = pitching_phases(table, row);
    finding.claims.push_back(explained(
        {fmt::format("The spatula pitches in the loose phases: {}", row.name), "in each",
         fmt::format("in {} of {}, to {:.3g} rad", pitching, all, points.back().second),
         verdict_of(all > 0 && pitching == all), "by more than one degree"},
        "it slides once, until its weight has done the work of friction, and rests beyond the angle at "
        "which the two balance; the paper gives neither masses nor lengths (docs/pressure-fields.md)"));
    finding.claims.push_back({fmt::format("The tight grip holds it: {}", row.name), "stiction",
                              fmt::format("{:.2g} rad in a tight phase", table.at(row, "tight_pitch")),
                              verdict_of(table.at(row, "tight_pitch") <= 1e-3),
                              "at most 1e-3 rad once the pads have settled"});
    finding.claims.push_back({fmt::format("Patches of many contacts: {}", row.name),
                              "about 160 tight, 60 loose",
                              fmt::format("{:.0f} and {:.0f}, {:.3g} iterations, {:.3g} ms a step",
                                          table.at(row, "contacts_tight"), table.at(row, "contacts_loose"),
                                          table.at(row, "iterations"), table.at(row, "ms")),
                              verdict_of(near(table.at(row, "contacts_tight"), 160.0) &&
                                         near(table.at(row, "contacts_loose"), 60.0)),
                              "means of the phases, within 30 %"});
  }
  finding.claims.push_back({"SAP needs fewer iterations per step than an interior point", "0.62 against 5.6",
                            fmt::format("{:.3g} against {:.3g}", sap, ipm), verdict_of(sap < ipm),
                            "means, warm started, with the paper's tolerances 1e-3 and 1e-6"});
  finding.plots.push_back({"pitch", curve_plot(pitch)});
  return finding;
}

}  // namespace

StudyFigure castro_bubbles() {
  return {"fig17", "Soft bubbles hold a spatula, tight and loose in turn (Figs. 16, 17)", columns(), cases_of,
          judge};
}

}  // namespace tribo::cli
