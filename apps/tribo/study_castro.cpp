// Castro, Permenter, Han (2022), sec. VI: spring and cylinder, clutter, slip parameter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/tribo/study.h"
#include "apps/tribo/study_castro_bubbles.h"
#include "apps/tribo/study_castro_dual_arm.h"
#include "apps/tribo/study_castro_tolerances.h"
#include "apps/tribo/study_run.h"

namespace tribo::cli {

namespace {

constexpr Scheme kSchemes[] = {Scheme::midpoint, Scheme::symplectic_euler, Scheme::implicit_euler};

std::string scheme_case(Scheme scheme, double mu, double h) {
  return fmt::format("{} mu={:g} h={:g}", to_string(scheme), mu, h);
}

// ----- Figs. 5 and 6 --------------------------------------------------------------------------------------------------

std::vector<StudyCase> energy_cases(const StudyOptions&) {
  std::vector<StudyCase> cases;
  for (const double mu : {0.0, 1.0}) {
    for (const Scheme scheme : kSchemes) {
      cases.push_back({scheme_case(scheme, mu, 0.02), [=] {
                         const SceneRun run = run_scene("spring-cylinder", {{"mu", mu}},
                                                        {.dt = 0.02, .time = 5.0, .scheme = scheme});
                         return std::vector<double>{run["energy_band"], run["energy"] / run["energy_exact"]};
                       }});
    }
  }
  return cases;
}

StudyFinding judge_energy(const StudyTable& table, const StudyOptions&) {
  const auto band = [&](Scheme s, double mu) { return table.at(scheme_case(s, mu, 0.02), "band"); };
  const auto left = [&](Scheme s, double mu) { return table.at(scheme_case(s, mu, 0.02), "energy_left"); };
  const double exact = band(Scheme::midpoint, 0.0), euler = band(Scheme::symplectic_euler, 0.0);
  const double rolling = band(Scheme::midpoint, 1.0), lost = left(Scheme::implicit_euler, 0.0);
  return {
      .claims = {{"The midpoint rule conserves the energy exactly without friction", "0", short_number(exact),
                  verdict_of(exact <= 1e-6), "band of the energy over 5 s, relative; at most 1e-6"},
                 {"Symplectic Euler keeps the energy in a band of 28 %", "0.28", short_number(euler),
                  verdict_of(euler > 0.2 && euler < 0.36), "band within a quarter of the paper's"},
                 {"Implicit Euler dissipates the energy in a few periods", "nearly 0 left",
                  short_number(lost), verdict_of(lost < 0.1), "less than a tenth left after 5 s"},
                 {"With friction the midpoint rule varies by 0.16 %", "0.0016", short_number(rolling),
                  verdict_of(rolling <= 0.0016),
                  "at most the paper's; the exact law has no slip of regularisation that would dissipate"}}};
}

// ----- Fig. 7 ---------------------------------------------------------------------------------------------------------

std::vector<StudyCase> order_cases(const StudyOptions&) {
  std::vector<StudyCase> cases;
  const std::vector<double> steps{0.02, 0.01, 0.005, 0.002, 0.001};
  for (const Scheme scheme : kSchemes) {
    for (const double h : steps) {
      cases.push_back({scheme_case(scheme, 1.0, h) + " T=5", [=] {
                         const SceneRun run =
                             run_scene("spring-cylinder", {}, {.dt = h, .time = 5.0, .scheme = scheme});
                         return std::vector<double>{h, run["position_error"]};
                       }});
    }
  }
  return cases;
}

StudyFinding judge_order(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  CurveSet set{"Error of the position against the time step", "time step, s", "rms position error, m"};
  for (const Scheme scheme : kSchemes) {
    std::vector<std::pair<double, double>> points;
    for (const StudyRow& row : table.rows) {
      if (row.name.starts_with(to_string(scheme)))
        points.emplace_back(table.at(row, "h"), table.at(row, "error"));
    }
    set.curves.emplace_back(to_string(scheme), points);
    const std::size_t fine = std::min<std::size_t>(2, points.size());
    const double order = log_slope({points.end() - static_cast<std::ptrdiff_t>(fine), points.end()});
    const double wanted = scheme == Scheme::midpoint ? 2.0 : 1.0;
    constexpr double room = 0.3;
    finding.claims.push_back({fmt::format("{} is of order {:g} although the cylinder rolls by friction",
                                          to_string(scheme), wanted),
                              fmt::format("{:g}", wanted), short_number(order),
                              verdict_of(std::abs(order - wanted) <= room),
                              fmt::format("slope between the two finest steps, within {:g}; coarser ones "
                                          "damp implicit Euler's motion away",
                                          room)});
  }
  finding.plots.push_back({"order", curve_plot(set)});
  return finding;
}

// ----- Fig. 9 ---------------------------------------------------------------------------------------------------------

constexpr struct {
  const char* label;
  const char* solver;
  Law law;
} kClutterSolvers[] = {{"sap", "sap:rule=momentum,relative=1e-5", Law::convex},
                       {"ipm", "ipm", Law::convex},
                       {"auto (exact law)", "auto", Law::exact}};

std::vector<StudyCase> clutter_cases(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  const double time = options.quick ? 6.0 : 10.0;
  for (const auto& entry : kClutterSolvers) {
    cases.push_back(
        {fmt::format("{} 40 bodies T={:g}", entry.label, time), [=] {
           double early = 0.0, late = 0.0, early_ms = 0.0, late_ms = 0.0, early_steps = 0.0, late_steps = 0.0,
                  islands = 0.0;
           const auto after = [&](const Simulator& s, const StepReport& r) {
             if (s.state().time <= 1.0) {
               early += r.iterations, early_ms += 1e3 * r.times.solve, early_steps += 1.0;
             } else if (s.state().time > 0.75 * time) {
               late += r.iterations, late_ms += 1e3 * r.times.solve, late_steps += 1.0;
               islands += r.islands;
             }
           };
           const SceneRun run = run_scene(
               "clutter", {{"bodies", 40}},
               {.time = time, .law = entry.law, .solver = entry.solver, .tolerance = 1e-5, .after = after});
           return std::vector<double>{early / early_steps,
                                      late / late_steps,
                                      early_ms / early_steps,
                                      late_ms / late_steps,
                                      static_cast<double>(run.missed),
                                      run["escaped"],
                                      islands / late_steps};
         }});
  }
  return cases;
}

StudyFinding judge_clutter(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  for (const StudyRow& row : table.rows) {
    if (!row.name.starts_with("sap")) continue;
    const double early = table.at(row, "iterations_first_second"),
                 late = table.at(row, "iterations_last_quarter");
    finding.claims.push_back(explained(
        {"SAP warm starts: about 3 iterations per step in the steady state", "3", short_number(late),
         verdict_of(late <= 4.0), "mean of the last quarter, at most 4"},
        fmt::format("iterations of all islands are added up: with {:.3g} islands a step {:.3g} each, and "
                    "bodies still "
                    "roll; step 520 alone needs 6 (Fig. 10)",
                    table.at(row, "islands_last_quarter"), late / table.at(row, "islands_last_quarter"))));
    finding.claims.push_back({"It needs more in the energetic transient", "more",
                              fmt::format("{:.3g} against {:.3g}", early, late), verdict_of(early > late),
                              "mean of the first second above that of the last quarter"});
  }
  return finding;
}

// ----- Figs. 11 and 12 ------------------------------------------------------------------------------------------------

std::string size_case(const char* label, Index bodies, bool walls, double time) {
  return fmt::format("{} {} bodies {} T={:g}", label, bodies, walls ? "walls" : "open", time);
}

std::vector<StudyCase> size_cases(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  const std::vector<Index> sizes =
      options.quick ? std::vector<Index>{8, 20, 40} : std::vector<Index>{8, 20, 40, 80, 160, 320};
  const double time = 5.0;
  for (const bool walls : {true, false}) {
    for (const Index bodies : sizes) {
      for (const auto& entry : kClutterSolvers) {
        cases.push_back({size_case(entry.label, bodies, walls, time), [=] {
                           const SceneRun run = run_scene(
                               "clutter", {{"bodies", bodies}, {"walls", walls ? 1.0 : 0.0}},
                               {.time = time, .law = entry.law, .solver = entry.solver, .tolerance = 1e-5});
                           return std::vector<double>{static_cast<double>(bodies),
                                                      walls ? 1.0 : 0.0,
                                                      static_cast<double>(run.contacts_end),
                                                      run.iterations,
                                                      run.solve_ms,
                                                      static_cast<double>(run.missed)};
                         }});
      }
    }
  }
  return cases;
}

StudyFinding judge_size(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  for (const bool walls : {true, false}) {
    CurveSet set{walls ? "Solve time per step, with walls" : "Solve time per step, without walls", "bodies",
                 "ms per step"};
    for (const auto& entry : kClutterSolvers) {
      std::vector<std::pair<double, double>> points;
      for (const StudyRow& row : table.rows) {
        if (row.name.starts_with(entry.label) && (table.at(row, "walls") != 0.0) == walls)
          points.emplace_back(table.at(row, "bodies"), table.at(row, "ms"));
      }
      set.curves.emplace_back(entry.label, points);
    }
    finding.plots.push_back({walls ? "time-walls" : "time-open", curve_plot(set)});
  }
  double faster = 0.0, sizes = 0.0, ratio = 0.0, more = 0.0, pairs = 0.0;
  std::string counts;
  for (const StudyRow& row : table.rows) {
    if (!row.name.starts_with("sap ")) continue;
    const double other = table.at("ipm" + row.name.substr(3), "ms");
    if (std::isfinite(other)) {
      sizes += 1.0, ratio += other / table.at(row, "ms"), faster += other > table.at(row, "ms") ? 1.0 : 0.0;
    }
    const std::size_t place = row.name.find(" walls ");
    if (place == std::string::npos) continue;
    std::string open = row.name;
    open.replace(place, 7, " open ");
    if (table.find(open) == nullptr) continue;
    counts += fmt::format("{}{:g} bodies {:g} and {:g}", counts.empty() ? "" : ", ", table.at(row, "bodies"),
                          table.at(row, "contacts"), table.at(open, "contacts"));
    pairs += 1.0, more += table.at(open, "contacts") > table.at(row, "contacts") ? 1.0 : 0.0;
  }
  finding.claims.push_back({"SAP is about twice as fast as an interior point", "2",
                            short_number(ratio / sizes), verdict_of(ratio / sizes >= 1.0),
                            "mean ratio of solve times over all sizes, at least 1; ours is tribo's ipm"});
  finding.claims.push_back(
      explained({"More contacts without walls, where boxes lie flat", "all sizes",
                 fmt::format("{:g} of {:g}", more, pairs), verdict_of(more > 0.5 * pairs),
                 "contacts within reach at the end, in more than half of the sizes"},
                "contacts with and without walls: " + counts +
                    ". Boxes that pile up or lean on a wall have several points in tribo, too; how the paper "
                    "counts is not known"));
  return finding;
}

// ----- Figs. 14 and 15 ------------------------------------------------------------------------------------------------

std::vector<StudyCase> slip_cases(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  const double time = options.quick ? 6.0 : 10.0;
  const std::vector<double> sigmas = options.quick ? std::vector<double>{1e-4, 1e-3, 1e-2}
                                                   : std::vector<double>{1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1};
  for (const bool walls : {true, false}) {
    for (const double sigma : sigmas) {
      cases.push_back({fmt::format("{} sigma={:g} T={:g}", walls ? "walls" : "open", sigma, time), [=] {
                         double slip = 0.0, median = 0.0;
                         const auto after = [&](const Simulator& s, const StepReport&) {
                           if (s.state().time < time - 1e-9) return;
                           double sum = 0.0, count = 0.0;
                           std::vector<double> all;
                           for (std::size_t c = 0; c < s.contacts().size(); ++c) {
                             if (s.contact_impulses()[c].norm() == 0.0) continue;
                             const Vec3& u = s.contact_details()[c].velocity;
                             const Vec3& n = s.contacts()[c].normal;
                             sum += (u - n * n.dot(u)).norm(), count += 1.0;
                             all.push_back((u - n * n.dot(u)).norm());
                           }
                           slip = count > 0.0 ? sum / count : 0.0;
                           std::ranges::sort(all);
                           median = all.empty() ? 0.0 : all[all.size() / 2];
                         };
                         const SceneRun run =
                             run_scene("clutter", {{"bodies", 40}, {"walls", walls ? 1.0 : 0.0}},
                                       {.time = time,
                                        .law = Law::convex,
                                        .solver = "sap:rule=momentum",
                                        .tolerance = 1e-5,
                                        .slip = sigma,
                                        .after = after});
                         return std::vector<double>{walls ? 1.0 : 0.0,         sigma,          slip,
                                                    sigma * 1.0 * 0.01 * 9.81, run.iterations, median};
                       }});
    }
  }
  return cases;
}

StudyFinding judge_slip(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  CurveSet slips{"Mean slip at the end against the slip parameter", "sigma", "mean slip velocity, m/s"};
  CurveSet steps{"Newton iterations against the slip parameter", "sigma", "mean iterations per step"};
  steps.y_log = false;
  std::vector<std::pair<double, double>> bound;
  for (const bool walls : {true, false}) {
    std::vector<std::pair<double, double>> slip, iterations;
    bool below = true;
    std::string means, medians;
    for (const StudyRow& row : table.rows) {
      if ((table.at(row, "walls") != 0.0) != walls) continue;
      slip.emplace_back(table.at(row, "sigma"), table.at(row, "slip"));
      iterations.emplace_back(table.at(row, "sigma"), table.at(row, "iterations"));
      if (walls) bound.emplace_back(table.at(row, "sigma"), table.at(row, "bound"));
      below = below && table.at(row, "slip") <= table.at(row, "bound");
      const char* comma = means.empty() ? "" : ", ";
      means += fmt::format("{}{:.2g}", comma, table.at(row, "slip") / table.at(row, "bound"));
      medians += fmt::format("{}{:.2g}", comma, table.at(row, "slip_median") / table.at(row, "bound"));
    }
    const char* place = walls ? "with walls" : "without walls";
    slips.curves.emplace_back(place, slip);
    steps.curves.emplace_back(place, iterations);
    finding.claims.push_back(
        explained({fmt::format("The mean slip at rest stays below sigma mu dt g, {}", place), "below",
                   below ? "below everywhere" : "above somewhere", verdict_of(below),
                   "mean over the contacts that press at the end, at every sigma"},
                  "bodies that still move at the end: slip over bound at each sigma, of the mean " + means +
                      ", of the median contact " + medians));
    if (!iterations.empty()) {
      const bool falls = iterations.front().second >= iterations.back().second;
      finding.claims.push_back(
          {fmt::format("A larger sigma needs fewer iterations, {}", place), "about ln sigma",
           fmt::format("{:.3g} at {:g}, {:.3g} at {:g}", iterations.front().second, iterations.front().first,
                       iterations.back().second, iterations.back().first),
           verdict_of(falls), "mean at the smallest sigma not below that at the largest"});
    }
  }
  slips.curves.emplace_back("sigma mu dt g", bound);
  finding.plots.push_back({"slip", curve_plot(slips)});
  finding.plots.push_back({"iterations", curve_plot(steps)});
  return finding;
}

}  // namespace

Study castro_study() {
  return {"castro",
          "Compliant contact as a convex problem",
          "Castro, Permenter, Han: An unconstrained convex formulation of compliant contact (2022)",
          {{"fig5",
            "Energy of the spring and cylinder (Figs. 5, 6)",
            {"band", "energy_left"},
            energy_cases,
            judge_energy},
           {"fig7", "Order of the schemes with friction (Fig. 7)", {"h", "error"}, order_cases, judge_order},
           {"fig9",
            "Clutter of 40 bodies: iterations and time per step (Fig. 9)",
            {"iterations_first_second", "iterations_last_quarter", "ms_first_second", "ms_last_quarter",
             "missed", "escaped", "islands_last_quarter"},
            clutter_cases,
            judge_clutter},
           {"fig11",
            "Clutter of growing size with and without walls (Figs. 11, 12)",
            {"bodies", "walls", "contacts", "iterations", "ms", "missed"},
            size_cases,
            judge_size},
           castro_convergence(),
           castro_accuracy(),
           {"fig14",
            "The slip parameter (Figs. 14, 15)",
            {"walls", "sigma", "slip", "bound", "iterations", "slip_median"},
            slip_cases,
            judge_slip},
           castro_bubbles(),
           castro_tolerances(),
           castro_dual_arm()},
          {"Figs. 12, 13, 19, 20: no Gurobi beside them."}};
}

}  // namespace tribo::cli
