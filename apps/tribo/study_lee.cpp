// Lee et al. (2024), sec. VII: residual against iterations and time, ablations. And Acary et al. (2018) from a campaign.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "apps/tribo/campaign_data.h"
#include "apps/tribo/study.h"
#include "apps/tribo/study_lee_pouring.h"
#include "apps/tribo/study_lee_robots.h"
#include "apps/tribo/study_run.h"
#include "tribo/base/errors.h"
#include "tribo/scenes/single_steps.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

constexpr const char* kSolvers[] = {"canal", "subadmm", "pgs", "auto"};

std::vector<std::string> curve_columns() {
  std::vector<std::string> columns{"cases", "solved", "ms", "iterations"};
  for (const Index k : kCheckpoints) columns.push_back(fmt::format("residual_{}", k));
  return columns;
}

// Ten poses of a nut on a bolt, or of four dishes, with ten random wrenches each: single steps from their real geometry.
std::vector<StudyCase> ring_cases(const char* scene, const StudyOptions& options) {
  std::vector<StudyCase> cases;
  const int count = options.quick ? 10 : 100;
  for (const std::string solver : kSolvers) {
    cases.push_back({fmt::format("{} {} {} cases", scene, solver, count), [=, kind = std::string(scene)] {
                       constexpr std::size_t kPoints = std::size(kCheckpoints);
                       std::vector<double> logs(kPoints, 0.0);
                       double solved = 0.0, ms = 0.0, iterations = 0.0;
                       for (int k = 0; k < count; ++k) {
                         // Quick: one wrench of every pose.
                         const auto seed = static_cast<std::uint64_t>(count == 10 ? 11 * k : k);
                         const Convergence run = converge(make_single_step(kind, {.seed = seed}), solver);
                         for (std::size_t p = 0; p < kPoints; ++p)
                           logs[p] += std::log10(std::max(run.lee[p], 1e-300)) / count;
                         solved += run.lee.back() <= 1e-8 ? 1.0 : 0.0;
                         ms += 1e3 * run.seconds / count;
                         iterations += static_cast<double>(run.iterations) / count;
                       }
                       std::vector<double> values{static_cast<double>(count), solved, ms, iterations};
                       for (const double x : logs) values.push_back(std::pow(10.0, x));
                       return values;
                     }});
  }
  return cases;
}

StudyFinding judge_rings(const char* scene, const StudyTable& table) {
  StudyFinding finding;
  CurveSet set{fmt::format("Residual against iterations: {}", scene), "iterations",
               "Lee's residual, m/s (geometric mean)"};
  const StudyRow *canal = nullptr, *subadmm = nullptr, *pgs = nullptr;
  for (const StudyRow& row : table.rows) {
    std::vector<std::pair<double, double>> points;
    for (const Index k : kCheckpoints) points.emplace_back(k, table.at(row, fmt::format("residual_{}", k)));
    for (const char* solver : kSolvers) {
      if (row.name.starts_with(fmt::format("{} {} ", scene, solver))) set.curves.emplace_back(solver, points);
    }
    if (row.name.starts_with(fmt::format("{} canal", scene))) canal = &row;
    if (row.name.starts_with(fmt::format("{} subadmm", scene))) subadmm = &row;
    if (row.name.starts_with(fmt::format("{} pgs", scene))) pgs = &row;
  }
  finding.plots.push_back({scene, curve_plot(set)});
  if (canal == nullptr || subadmm == nullptr || pgs == nullptr) return finding;
  finding.claims.push_back(
      {fmt::format("CANAL reaches 1e-8: {}", scene), "all cases",
       fmt::format("{:g} of {:g}, {:.3g} ms, {:.3g} iterations", table.at(*canal, "solved"),
                   table.at(*canal, "cases"), table.at(*canal, "ms"), table.at(*canal, "iterations")),
       verdict_of(table.at(*canal, "solved") == table.at(*canal, "cases")),
       "Lee's residual at most 1e-8 m/s in every case after at most 1000 iterations"});
  finding.claims.push_back({fmt::format("PGS is slow beyond 1e-4: {}", scene), "1e-4",
                            short_number(table.at(*pgs, "residual_1000")),
                            verdict_of(table.at(*pgs, "residual_1000") > table.at(*canal, "residual_1000")),
                            "mean residual after 1000 iterations above that of CANAL"});
  const double reached[] = {table.at(*canal, "residual_100"), table.at(*subadmm, "residual_100"),
                            table.at(*pgs, "residual_100")};
  finding.claims.push_back(explained({fmt::format("SubADMM lies between the two: {}", scene), "between",
                                      short_number(table.at(*subadmm, "residual_1000")),
                                      verdict_of(reached[1] <= reached[2] && reached[1] >= reached[0]),
                                      "mean residuals after 100 iterations"},
                                     fmt::format("after 100 iterations canal {:.2g}, subadmm {:.2g}, pgs "
                                                 "{:.2g}: one nut of six degrees of freedom is easier for "
                                                 "sweeps than a pile",
                                                 reached[0], reached[1], reached[2])));
  return finding;
}

std::vector<StudyCase> bolt_cases(const StudyOptions& o) { return ring_cases("bolt-nut", o); }
std::vector<StudyCase> dish_cases(const StudyOptions& o) { return ring_cases("dish-pile", o); }
StudyFinding judge_bolt(const StudyTable& t, const StudyOptions&) { return judge_rings("bolt-nut", t); }
StudyFinding judge_dishes(const StudyTable& t, const StudyOptions&) { return judge_rings("dish-pile", t); }

// ----- Fig. 12: quadrupeds fall on each other -------------------------------------------------------------------------

std::vector<StudyCase> quadruped_cases(const StudyOptions& options) {
  std::vector<StudyCase> cases;
  const double time = options.quick ? 0.4 : 1.0;
  for (const Index robots : {8, 27}) {
    for (const std::string solver : {"auto", "canal", "subadmm", "pgs"}) {
      cases.push_back(
          {fmt::format("{} robots {} T={:g}", robots, solver, time), [=] {
             const SceneRun run =
                 run_scene("quadrupeds", {{"robots", robots}},
                           {.dt = 1.0 / 240.0, .time = time, .solver = solver, .max_iterations = 100});
             return std::vector<double>{18.0 * robots,
                                        static_cast<double>(run.contacts_end),
                                        run.iterations,
                                        run.solve_ms,
                                        static_cast<double>(run.missed) / static_cast<double>(run.steps),
                                        run.worst,
                                        run.penetration};
           }});
    }
  }
  return cases;
}

StudyFinding judge_quadrupeds(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  for (const Index robots : {8, 27}) {
    double sub = 1.0, pgs = 1.0, automatic = 1.0;
    for (const StudyRow& row : table.rows) {
      if (row.name.starts_with(fmt::format("{} robots subadmm", robots))) sub = table.at(row, "missed");
      if (row.name.starts_with(fmt::format("{} robots pgs", robots))) pgs = table.at(row, "missed");
      if (row.name.starts_with(fmt::format("{} robots auto", robots))) automatic = table.at(row, "missed");
    }
    finding.claims.push_back(
        {fmt::format("With 100 iterations a step, SubADMM is more accurate than PGS: {} quadrupeds", robots),
         "more accurate",
         fmt::format("{:.2g} % of the steps above 1e-6 against {:.2g} % (auto {:.2g} %)", 100.0 * sub,
                     100.0 * pgs, 100.0 * automatic),
         verdict_of(sub <= pgs), "share of the steps whose certificate misses 1e-6"});
  }
  return finding;
}

// ----- Acary 2018 -----------------------------------------------------------------------------------------------------

std::vector<CampaignRow> campaign_rows(const std::filesystem::path& folder) {
  if (folder.empty()) {
    throw InvalidInput(
        "tribo reproduce acary2018 needs --data FOLDER of a campaign; make one with 'tribo collect' and "
        "'tribo campaign DIR --out FOLDER'");
  }
  const std::filesystem::path file = folder / kResultsFile;
  if (!std::filesystem::exists(file))
    throw InvalidInput(fmt::format("--data {}: it has no {}", folder.string(), kResultsFile));
  return parse_results(file);
}

// Nothing is measured here: the campaign has done it.
std::vector<StudyCase> campaign_cases(const StudyOptions& options) {
  campaign_rows(options.data);
  return {};
}

// What a campaign is made of, for conclusions that do not hold on it.
std::string what_was_solved(const std::vector<CampaignRow>& rows) {
  std::map<std::string, Index> contacts;
  std::map<std::string, std::pair<double, double>>
      solved;  // of the paper's solvers at the tightest tolerance
  double tightest = 1.0;
  for (const CampaignRow& row : rows) tightest = std::min(tightest, row.tolerance);
  for (const CampaignRow& row : rows) {
    contacts[row.file] = row.contacts;
    if (row.tolerance != tightest || row.solver.find('-') == std::string::npos)
      continue;  // theirs have names of several parts
    auto& [done, all] = solved[row.solver];
    done += row.solved() ? 1.0 : 0.0, all += 1.0;
  }
  Index least = 0, most = 0;
  for (const auto& [file, count] : contacts)
    least = least == 0 ? count : std::min(least, count), most = std::max(most, count);
  std::string best = "none";
  double share = 0.0;
  for (const auto& [solver, count] : solved) {
    if (count.first / count.second > share) share = count.first / count.second, best = solver;
  }
  return fmt::format(
      "{} problems of {} to {} contacts, smaller than the paper's; of the paper's solvers {} solves most at "
      "{:g}, "
      "{:.0f} %",
      contacts.size(), least, most, best, tightest, 100.0 * share);
}

StudyFinding judge_campaign(const StudyTable&, const StudyOptions& options) {
  StudyFinding finding;
  const std::vector<CampaignRow> rows = campaign_rows(options.data);
  const std::string solved = what_was_solved(rows);
  for (const Conclusion& c : conclusions_of(rows)) {
    finding.claims.push_back(explained(
        {c.said.text, c.said.figures.empty() ? "as stated" : c.said.figures, c.evidence, c.verdict, c.rule},
        solved));
  }
  return finding;
}

}  // namespace

Study lee_study() {
  return {"lee2024",
          "CANAL and SubADMM",
          "Lee, Lee, Park, Yun, Lee: Variations of augmented Lagrangian for robotic multi-contact simulation "
          "(2024)",
          {{"fig7", "Bolt and nut: residual (Fig. 7)", curve_columns(), bolt_cases, judge_bolt},
           {"fig9", "Dishes: residual (Fig. 9)", curve_columns(), dish_cases, judge_dishes},
           lee_assembly(),
           lee_piling(),
           lee_pouring_task(),
           lee_pouring_size(),
           {"fig12",
            "Quadrupeds dropped on each other (Fig. 12)",
            {"dofs", "contacts", "iterations", "ms", "missed", "worst", "penetration"},
            quadruped_cases,
            judge_quadrupeds},
           lee_table2(),
           lee_table3()},
          {}};
}

Study acary_study() {
  return {"acary2018",
          "Solvers for frictional contact compared",
          "Acary, Bremond, Huber: On solving contact problems with Coulomb friction (2018)",
          {{"conclusions", "The study's conclusions on a campaign", {}, campaign_cases, judge_campaign},
           acary_profiles()},
          {}};
}

}  // namespace tribo::cli
