// Measured tosses of a cube beside their simulation: surfaces fitted on 100 tosses, judged on the others.
#include <fmt/format.h>

#include <cmath>

#include "apps/tribo/study.h"
#include "apps/tribo/tosses.h"
#include "tribo/base/errors.h"

namespace tribo::cli {

namespace {

constexpr int kSubsteps =
    5;  // per frame: 1.35 ms; half of it changes the errors by less than 1 % of themselves

struct Split {
  std::vector<Toss> fit, check;
};

Split split_of(const StudyOptions& options) {
  if (options.data.empty())
    throw InvalidInput("tribo reproduce reality needs --data FILE, the measured tosses (cube_tosses.h5)");
  const std::vector<Toss> all = read_tosses(options.data);
  // The fit gets tosses from the whole campaign: every fourth; quick: every twentieth, and the one after for the check.
  const std::size_t stride = options.quick ? 20 : 4;
  Split split;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k % stride == 0) split.fit.push_back(all[k]);
    if (options.quick ? k % stride == 1 || k % stride == 2 : k % stride != 0) split.check.push_back(all[k]);
  }
  if (split.fit.size() < 2 || split.check.size() < 2)
    throw InvalidInput(fmt::format("--data {}: {} tosses are too few", options.data.string(), all.size()));
  return split;
}

std::vector<double> numbers(const TossSurface& surface, const Split& split) {
  const TossErrors errors = simulate_tosses(split.check, surface, kSubsteps);
  return {surface.friction,
          surface.restitution,
          surface.stiffness,
          surface.dissipation,
          100.0 * errors.position,
          errors.rotation * 180.0 / 3.14159265358979323846,
          1e3 * errors.penetration,
          1e3 * errors.measured_penetration,
          1e6 * errors.step_seconds,
          static_cast<double>(errors.missed),
          static_cast<double>(split.check.size()),
          100.0 * errors.position_median,
          100.0 * errors.position_trimmed};
}

std::vector<StudyCase> toss_cases(const StudyOptions& options) {
  const std::string set = fmt::format("{}", options.quick ? "quick" : "every fourth fitted");
  split_of(options);
  std::vector<StudyCase> cases;
  for (const bool compliant : {true, false}) {
    cases.push_back({fmt::format("{} {}", compliant ? "compliant" : "rigid", set), [=] {
                       const Split split = split_of(options);
                       const int evaluations = (compliant ? 60 : 40) / (options.quick ? 2 : 1);
                       return numbers(fit_tosses(split.fit, compliant, kSubsteps, evaluations), split);
                     }});
  }
  cases.push_back({fmt::format("rigid as the authors fitted {}", set),
                   [=] { return numbers({.friction = 0.18, .restitution = 0.125}, split_of(options)); }});
  cases.push_back({fmt::format("rigid by default {}", set), [=] { return numbers({}, split_of(options)); }});
  return cases;
}

StudyFinding judge_tosses(const StudyTable& table, const StudyOptions&) {
  StudyFinding finding;
  for (const StudyRow& row : table.rows) {
    const bool fitted = !row.name.starts_with("rigid as") && !row.name.starts_with("rigid by");
    if (!fitted) continue;
    const double position = table.at(row, "position_percent");
    const bool compliant = row.name.starts_with("compliant");
    finding.claims.push_back(explained(
        {fmt::format("Fitted {} contact is as near as fitted simulators are",
                     compliant ? "compliant" : "rigid"),
         "10.0 % of the side (Drake's SAP), 10.5 % (MuJoCo tuned), 23 % (MuJoCo by default)",
         fmt::format("{:.3g} % (median {:.3g} %), {:.3g} degrees", position,
                     table.at(row, "position_median_percent"), table.at(row, "rotation_degrees")),
         verdict_of(position <= 10.5),
         fmt::format("mean position error over all frames of tosses that the fit has not seen, at most 10.5 "
                     "%; mu {:.3g}, {}",
                     table.at(row, "mu"),
                     compliant
                         ? fmt::format("k {:.3g} N/m, tau {:.3g} s", table.at(row, "k"), table.at(row, "tau"))
                         : fmt::format("e {:.3g}", table.at(row, "e")))},
        fmt::format("few tosses make the mean: without the furthest tenth it is {:.3g} %. The values beside "
                    "are of an earlier study, whose tosses are not recorded",
                    table.at(row, "position_trimmed_percent"))));
    finding.claims.push_back(
        {fmt::format("{} contact lets nothing sink further than the capture shows",
                     compliant ? "Compliant" : "Rigid"),
         fmt::format("{:.3g} mm in the capture", table.at(row, "measured_penetration_mm")),
         fmt::format("{:.3g} mm", table.at(row, "penetration_mm")),
         verdict_of(table.at(row, "penetration_mm") <= table.at(row, "measured_penetration_mm")),
         "mean over the tosses of the deepest corner below the board"});
  }
  return finding;
}

}  // namespace

Study reality_study() {
  return {"reality",
          "Measured tosses of a cube",
          "Data: ContactNets (Pfrommer, Halm, Posa, CoRL 2020), BSD-3-Clause",
          {{"tosses",
            "Errors on tosses that no fit has seen",
            {"mu", "e", "k", "tau", "position_percent", "rotation_degrees", "penetration_mm",
             "measured_penetration_mm", "us_per_step", "missed", "tosses", "position_median_percent",
             "position_trimmed_percent"},
            toss_cases,
            judge_tosses}},
          {"MuJoCo and Drake are not measured by the tool; the values beside are of an earlier study with "
           "the same fitter."}};
}

}  // namespace tribo::cli
