#include "apps/tribo/campaign_conclusions.h"

#include <cmath>
#include <iterator>
#include <utility>

#include "apps/tribo/campaign_rules.h"

namespace tribo::cli {

namespace {

const Names kRigid = {"boxes-stack", "chain",     "capsules",    "kapla-tower", "chute-1000",
                      "chute-4000",  "perio-box", "spheres-box", "bridge",      "low-wall"};
const Names kChutes = {"chute-1000", "chute-4000"};
const Names kTightSets = {"bridge", "chain", "capsules", "boxes-stack"};  // rigid, 1e-8 in the paper

std::function<bool(double)> at_least(double bound) {
  return [bound](double share) { return share >= bound; };
}
std::function<bool(double)> at_most(double bound) {
  return [bound](double share) { return share <= bound; };
}

// 5 points less, or twice as long (median).
bool clearly_worse(const Beside& b) { return b.first <= b.second - 0.05 || b.ratio >= 2.0; }

using Conclusions = std::vector<Conclusion>;

Conclusions about_projections(const Measured& m) {
  return {
      about_shares(m, {"FP-DS with rho = 1 diverges (9.1)", "0 % on every set plotted (Fig. 4)"},
                   "fp-ds solves at most 10 % of every family at 1e-4", {{"fp-ds"}, true}, kLooseTolerance,
                   kRigid, at_most(0.1)),
      projections_are_robust_and_slow(
          m, {"Extragradient and fixed point with an adaptive step solve nearly everything but need a lot of "
              "time (9.1)",
              "EG-VI-UPK within 50 times the fastest: periodic box 100, towers 94, bridge 90, chute-1000 37, "
              "spheres 5 % (Fig. 15)"}),
      beside(m,
             {"Extragradient is better than the fixed point, except on towers at 1e-4 (9.1)",
              "EG-VI-UPK and FP-VI-UPK fastest: periodic box 55 and 1, bridge 28 and 12 %; towers 4 and 50 % "
              "(Fig. 4)"},
             "eg-vi-upk solves as much as fp-vi-upk in less time (median)", {"eg-vi-upk", "fp-vi-upk"},
             kLooseTolerance, {"bridge", "perio-box", "capsules", "chain", "boxes-stack"},
             [](const Beside& b) { return b.first >= b.second && b.ratio < 1.0; }),
      step_rules_are_alike(m, {"UPK and UPTS: negligible difference (9.1)",
                               "shares within 1 point of each other on every set (Fig. 4)"}),
  };
}

Conclusions about_sweeps(const Measured& m) {
  return {
      about_shares(
          m,
          {"NSGS is robust at 1e-4: for each set some local solver reaches the accuracy (9.2)",
           "best: bridge, periodic box, towers, chute-4000 100, chute-1000 99, spheres 98 % (Fig. 5)"},
          "in every rigid family the best nsgs-* solves at least 95 % at 1e-4", {{"nsgs-"}}, kLooseTolerance,
          kRigid, at_least(0.95)),
      about_shares(m,
                   {"NSGS has difficulties at 1e-8 on Bridge, Chain, Capsules and BoxesStack (9.2)",
                    "best: bridge 52, boxes 87, capsules 96, chain 100 % (Fig. 5)"},
                   "in each of these families the best nsgs-* solves less than 98 % at 1e-8", {{"nsgs-"}},
                   kTightTolerance, kTightSets, at_most(0.98)),
      about_shares(m,
                   {"NSGS-EXACT is poor except on KaplasTower and BoxesStack (9.2)",
                    "chain 27, bridge 16, capsules 10 % (Fig. 5)"},
                   "nsgs-exact solves at most 50 % of the other families at 1e-8", {{"nsgs-exact"}, true},
                   kTightTolerance, {"chain", "capsules", "bridge"}, at_most(0.5)),
      fastest_group(
          m,
          {"Of the sweeps, one projected step is the most efficient on bridges and towers at 1e-4 (9.2)",
           "fastest: bridge 58, towers 83 % (Fig. 5)"},
          {"nsgs-fp-ds-one"}, kLooseTolerance, {"bridge", "kapla-tower"}, {"nsgs-"}),
      fastest_group(m,
                    {"... and on chains and stacks of boxes at 1e-8 (9.2)",
                     "fastest: chain 61, boxes 79 %; solved 69 and 87 % (Fig. 5)"},
                    {"nsgs-fp-ds-one"}, kTightTolerance, {"chain", "boxes-stack"}, {"nsgs-"}),
      fastest_group(m,
                    {"... adaptive projections on spheres and chutes of 4000 (9.2)",
                     "fastest: spheres 71, chute-4000 35 %, where NSGS-JM 50 % (Fig. 5)"},
                    {"nsgs-fp-vi-upk"}, kLooseTolerance, {"spheres-box", "chute-4000"}, {"nsgs-"}),
      fastest_group(m,
                    {"... local Newton methods on towers, chains and capsules at 1e-8 (9.2)",
                     "fastest: capsules 87, towers 78, chain 34 % (Fig. 5)"},
                    {"nsgs-ac", "nsgs-jm"}, kTightTolerance, {"kapla-tower", "chain", "capsules"}, {"nsgs-"}),
      beside(m,
             {"NSGS-JM is better than NSGS-AC on the chutes (9.2)",
              "solved 100 and 100 % of chute-4000, 99 and 99 % of chute-1000; fastest 50 and 8, 29 and 35 % "
              "(Fig. 5)"},
             "nsgs-jm solves more than nsgs-ac", {"nsgs-jm", "nsgs-ac"}, kLooseTolerance, kChutes,
             [](const Beside& b) { return b.first > b.second; }),
      beside(m,
             {"A line search in the local Newton method costs time and brings no robustness (9.2)",
              "NSGS-AC-GP and NSGS-AC at 1e-8: capsules 93 and 95, towers 96 and 100, chain 100 and 99 %; "
              "fastest on none (Fig. 5)"},
             "nsgs-ac-gp solves at most 2 points more than nsgs-ac and takes longer (median)",
             {"nsgs-ac-gp", "nsgs-ac"}, kTightTolerance, kRigid,
             [](const Beside& b) { return b.first <= b.second + 0.02 && !(b.ratio < 1.0); }),
      beside(m,
             {"Adaptive projections suffer less from unsymmetric contacts than local Newton methods (10)",
              "NSGS-FP-VI-UPK 99, NSGS-AC 69, NSGS-JM 77 % of the single contacts (Fig. 5)"},
             "nsgs-fp-vi-upk solves more than nsgs-ac", {"nsgs-fp-vi-upk", "nsgs-ac"}, kTightTolerance,
             {"chute-local"}, [](const Beside& b) { return b.first > b.second; }),
  };
}

Conclusions about_sweep_options(const Measured& m) {
  const std::string worse = " solves at least 5 points less, or takes at least twice as long (median)";
  return {
      beside(
          m,
          {"A fixed rho = 1 in the local Newton method has a dramatic effect: never (9.2)",
           "instead of 100, 100, 98, 96, 82, 69 %: chute-4000 0, towers 8, chute-1000 5, capsules 48, "
           "spheres 0, single contacts 2 % (Fig. 8)"},
          "nsgs-ac:rho=constant,scaled=off" + worse, {"nsgs-ac:rho=constant,scaled=off", "nsgs-ac"},
          kLooseTolerance,
          {"spheres-box", "perio-box", "kapla-tower", "chute-local", "chute-4000", "chute-1000", "capsules"},
          clearly_worse),
      beside(m,
             {"Rule (112) for rho destroys the convergence on the chutes (9.2)",
              "chute-4000 0 instead of 100, chute-1000 4 instead of 98 % (Fig. 8)"},
             "nsgs-ac:rho=conditioned" + worse, {"nsgs-ac:rho=conditioned", "nsgs-ac"}, kLooseTolerance,
             kChutes, clearly_worse),
      beside(m,
             {"An order of the contacts drawn anew for every sweep is really bad on rigid sets (9.2)",
              "within 3 to 5 times the fastest: bridge 8 instead of 98, periodic box 6 instead of 100 % "
              "(Fig. 9)"},
             "nsgs-ac-gp:shuffle=every" + worse, {"nsgs-ac-gp:shuffle=every", "nsgs-ac-gp"}, kLooseTolerance,
             kRigid, clearly_worse),
      beside(m,
             {"Over-relaxation with omega = 1.8 destroys the convergence on the chutes (9.2)",
              "0 instead of 100 and 98 % (Fig. 10)"},
             "psor-ac:omega=1.8" + worse, {"psor-ac:omega=1.8", "nsgs-ac"}, kLooseTolerance, kChutes,
             clearly_worse),
      beside(
          m,
          {"Over-relaxed sweeps are faster on rigid sets, but less robust (9.2)",
           "omega 1.5 against 1 at 1e-8: capsules 66 and 92, chain 99 and 92 %; fastest 24 and 5, 13 and 0 % "
           "(Fig. 10)"},
          "psor-ac is faster (median) than nsgs-ac and solves no more", {"psor-ac", "nsgs-ac"},
          kTightTolerance, {"chain", "capsules"},
          [](const Beside& b) { return b.ratio < 1.0 && b.first <= b.second; }),
  };
}

Conclusions about_newton(const Measured& m) {
  return {
      about_shares(m,
                   {"Global Newton methods fail on rigid sets of high rank ratio (9.3)",
                    "NSN-AC and NSN-AC-GP: bridge 0, periodic box 0, spheres 10 % (Fig. 15)"},
                   "the best nsn-* solves at most 10 % at 1e-4", {{"nsn-"}}, kLooseTolerance,
                   {"bridge", "perio-box", "spheres-box"}, at_most(0.1)),
      about_shares(m,
                   {"NSN-FB-GP solves more than 80 % of KaplasTower and Capsules (9.3)",
                    "towers 92, capsules 86 % (Fig. 11)"},
                   "nsn-fb-gp solves at least 80 % at 1e-8", {{"nsn-fb-gp"}, true}, kTightTolerance,
                   {"kapla-tower", "capsules"}, at_least(0.8)),
      about_shares(m,
                   {"Newton methods solve some 60 % of the chains (10)",
                    "NSN-AC 64, NSN-JM 64, NSN-AC-GP 71, NSN-NM 90 % (Fig. 11)"},
                   "nsn-ac solves 50 to 80 % of the chains at 1e-8", {{"nsn-ac"}, true}, kTightTolerance,
                   {"chain"}, [](double share) { return share >= 0.5 && share <= 0.8; }),
      about_shares(m,
                   {"Flexible sets: Newton methods are best (9.3, 10)",
                    "NSN-AC fastest on 88 % of the wall, 64 % of the cubes at 1e-8 (Fig. 15)"},
                   "nsn-* solves at least 95 % of the flexible families at 1e-8", {{"nsn-"}}, kTightTolerance,
                   {"cubes-fem", "low-wall-fem"}, at_least(0.95)),
      beside(m,
             {"The proximal point method improves NSN-AC (9.4)",
              "NSN-AC-GP and PPA-NSN-AC-GP: towers 0 and 97, chain 66 and 99, capsules 2 and 90, boxes 0 and "
              "95 % "
              "(Fig. 12)"},
             "ppa-nsn-ac solves more than nsn-ac", {"ppa-nsn-ac", "nsn-ac"}, kTightTolerance,
             {"kapla-tower", "chain", "capsules", "boxes-stack"},
             [](const Beside& b) { return b.first > b.second; }),
      beside(m,
             {"... but not NSGS-AC, on most sets (9.4)",
              "PPA-NSGS-AC and NSGS-AC: towers 100 and 100 %, fastest on 5 and 95 % (Fig. 13)"},
             "ppa-nsgs-ac solves no more than nsgs-ac and takes longer (median)", {"ppa-nsgs-ac", "nsgs-ac"},
             kTightTolerance, {"kapla-tower", "chain", "boxes-stack", "bridge"},
             [](const Beside& b) { return b.first <= b.second && !(b.ratio < 1.0); }),
      only_one(m,
               {"Bridges at 1e-8: PPA-NSN-AC-GP with the adaptive rule alone solves all problems (10)",
                "100 %, the next 62 % (Fig. 15)"},
               "ppa-nsn-ac-gp-adaptive", kTightTolerance, "bridge"),
  };
}

Conclusions across_families(const Measured& m) {
  const Names optimisation = {"pana-", "tresca-", "aclm-"};
  return {
      fastest_group(
          m,
          {"Rigid sets at 1e-4: NSGS is the most efficient (10)",
           "fastest: periodic box 99, towers 98, chute-4000 94, chute-1000 61, spheres 49 % (Fig. 15)"},
          {"nsgs-"}, kLooseTolerance,
          {"kapla-tower", "perio-box", "spheres-box", "chute-1000", "chute-4000"}),
      fastest_group(m,
                    {"Rigid sets at 1e-8: the proximal point method is the most efficient (10)",
                     "fastest: boxes 99, bridge 96, capsules 91, chain 66 % (Fig. 15)"},
                    {"ppa-"}, kTightTolerance, kTightSets),
      fastest_group(m,
                    {"Single contacts of the chute: optimisation-based solvers are best (10)",
                     "fastest 15, NSGS-AC 38 %; solved 100 and 69 % (Fig. 15)"},
                    optimisation, kTightTolerance, {"chute-local"}),
      fastest_group(
          m,
          {"Of these, Tresca is best on towers, spheres, chutes and stacks of boxes (9.5)",
           "fastest: towers 82, chute-1000 81, chute-4000 80, spheres 58, boxes (1e-8) 39 % (Fig. 14)"},
          {"tresca-"}, kLooseTolerance,
          {"kapla-tower", "spheres-box", "chute-4000", "chute-1000", "boxes-stack"}, optimisation),
      fastest_group(m, {"... ACLM on bridges (9.5)", "fastest: ACLM 44, Tresca 34 % (Fig. 14)"}, {"aclm-"},
                    kLooseTolerance, {"bridge"}, optimisation),
      fastest_group(m,
                    {"... Panagiotopoulos in the periodic box (9.5)",
                     "fastest: PANA 2, ACLM 13 %; solved 99 and 100 % (Fig. 14)"},
                    {"pana-"}, kLooseTolerance, {"perio-box"}, optimisation),
  };
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::does_not_hold:
      return "does not hold";
    case Verdict::not_measurable:
      return "not measurable";
  }
  return "";
}

std::vector<Conclusion> conclusions_of(const std::vector<CampaignRow>& rows) {
  const Measured m(rows);
  Conclusions all = {
      no_solver_is_universal(m,
                             {"No solver is universal (10, 11)",
                              "the fastest are NSN-AC on the wall, NSGS-AC on towers, PPA-NSN-AC-GP on boxes "
                              "(Fig. 15)"}),
      every_set_is_solved(m, {"On every set at least one solver solves all problems in the time (10)",
                              "0 unsolved (Table 6)"}),
  };
  const auto add = [&all](Conclusions more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  add(about_projections(m));
  add(about_sweeps(m));
  add(about_sweep_options(m));
  add(about_newton(m));
  add(across_families(m));
  all.push_back(rank_deficiency_is_the_cause(
      m, {"Rank deficiency of W is the main cause of slow convergence and divergence (11)", ""}));
  return all;
}

}  // namespace tribo::cli
