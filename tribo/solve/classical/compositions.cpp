#include "tribo/solve/classical/compositions.h"

#include <array>

#include "tribo/solve/classical/fixed_point.h"
#include "tribo/solve/classical/nsn_engine.h"
#include "tribo/solve/classical/pivoting.h"
#include "tribo/solve/classical/proximal_point.h"
#include "tribo/solve/classical/splitting_engine.h"
#include "tribo/solve/classical/vi_engine.h"

namespace tribo {
namespace {

using Family = SolverFamily;
using Made = std::unique_ptr<Solver>;
constexpr ViMethod extragradient = ViMethod::extragradient;
using enum Formulation;
using Local = SplittingOptions::Local;
using Outer = FixedPointOptions::Outer;
using Inner = ProximalPointOptions::Inner;
using Alpha = ProximalPointOptions::Alpha;

constexpr SearchOptions kNone{}, kGoldsteinPrice{.kind = Search::goldstein_price},
    kArmijo{.kind = Search::armijo}, kLocal{.m1 = 0.1, .m2 = 0.9},
    kLocalGoldsteinPrice{.kind = Search::goldstein_price, .m1 = 0.1, .m2 = 0.9};

Made vi(std::string_view name, ViMethod method, StepRule rule, bool scaled = true) {
  return make_vi(name, {.rule = {.method = method, .step = rule}, .scaled = scaled});
}

// Steps (111) for Alart and Curnier's function, as in the paper, but for plain Newton, which then circles on more problems
// than with one step for all rows, (110), as the others have. Where a search fails the last step tried is taken, under
// Fischer-Burmeister the full one. Measured: docs/solvers/nonsmooth-newton.md.
Made nsn(std::string_view name, Formulation formulation, SearchOptions search, Index eg_iterations = 0) {
  const bool split = formulation == alart_curnier && (search.kind != Search::none || eg_iterations > 0);
  search.full_on_failure = formulation == fischer_burmeister;
  return make_nsn(name, {.formulation = formulation,
                         .rho = split ? RhoRule::split : RhoRule::largest,
                         .search = search,
                         .eg_iterations = eg_iterations});
}

Made nsgs(std::string_view name, Formulation formulation, const SearchOptions& search) {
  return make_splitting(name, {.formulation = formulation, .search = search});
}

Made nsgs(std::string_view name, Local local) { return make_splitting(name, {.local = local}); }

Made proximal(std::string_view name, Inner inner, const SearchOptions& search, Alpha alpha) {
  ProximalPointOptions options{.inner = inner, .alpha = alpha};
  options.inner_iterations = inner == Inner::newton ? 40 : 10000;
  options.newton.search = search;
  return make_proximal_point(name, options);
}

Made fixed_point(std::string_view name, Outer outer, ConvexInner inner,
                 ViMethod method = ViMethod::fixed_point, ConvexInner normal = ConvexInner::sweeps) {
  FixedPointOptions options{.outer = outer, .inner = inner, .normal = normal};
  options.vi.rule.method = method;
  options.sweeps.local = Local::vi;
  return make_fixed_point(name, options);
}

constexpr auto kSolvers = std::to_array<SolverInfo>({
    // Projections, Acary et al. Table 1.
    {"fp-ds", "fixed point of De Saxce and Feng with rho = 1: the textbook's Uzawa, seldom converges",
     [] { return vi("fp-ds", ViMethod::fixed_point, StepRule::fixed, false); }, Family::projection},
    {"fp-vi-upk", "fixed point with self-adaptive steps (Khobotov): robust and slow",
     [] { return vi("fp-vi-upk", ViMethod::fixed_point, StepRule::upk); }, Family::projection},
    {"fp-vi-upts", "fixed point with self-adaptive steps (Solodov and Tseng)",
     [] { return vi("fp-vi-upts", ViMethod::fixed_point, StepRule::upts); }, Family::projection},
    {"eg-vi-upk", "extragradient with self-adaptive steps (Khobotov): the most robust of the slow ones",
     [] { return vi("eg-vi-upk", extragradient, StepRule::upk); }, Family::projection},
    {"eg-vi-upts", "extragradient with self-adaptive steps (Solodov and Tseng)",
     [] { return vi("eg-vi-upts", extragradient, StepRule::upts); }, Family::projection},

    // Nonsmooth Newton, Table 2.
    {"nsn-nm", "Newton on the natural map", [] { return nsn("nsn-nm", natural_map, kNone); }, Family::newton},
    {"nsn-nm-gp", "Newton on the natural map, Goldstein-Price search",
     [] { return nsn("nsn-nm-gp", natural_map, kGoldsteinPrice); }, Family::newton},
    {"nsn-nm-a", "Newton on the natural map, Armijo search",
     [] { return nsn("nsn-nm-a", natural_map, kArmijo); }, Family::newton},
    {"nsn-ac", "Newton on Alart and Curnier's function: fast where W has full rank",
     [] { return nsn("nsn-ac", alart_curnier, kNone); }, Family::newton},
    {"nsn-ac-gp", "Newton on Alart and Curnier's function, Goldstein-Price search",
     [] { return nsn("nsn-ac-gp", alart_curnier, kGoldsteinPrice); }, Family::newton},
    {"nsn-ac-a", "Newton on Alart and Curnier's function, Armijo search",
     [] { return nsn("nsn-ac-a", alart_curnier, kArmijo); }, Family::newton},
    {"nsn-jm", "Newton on Jean and Moreau's function", [] { return nsn("nsn-jm", jean_moreau, kNone); },
     Family::newton},
    {"nsn-jm-gp", "Newton on Jean and Moreau's function, Goldstein-Price search",
     [] { return nsn("nsn-jm-gp", jean_moreau, kGoldsteinPrice); }, Family::newton},
    {"nsn-jm-a", "Newton on Jean and Moreau's function, Armijo search",
     [] { return nsn("nsn-jm-a", jean_moreau, kArmijo); }, Family::newton},
    {"nsn-fb", "Newton on the Fischer-Burmeister function of the cones",
     [] { return nsn("nsn-fb", fischer_burmeister, kNone); }, Family::newton},
    {"nsn-fb-gp", "Newton on the Fischer-Burmeister function, Goldstein-Price search",
     [] { return nsn("nsn-fb-gp", fischer_burmeister, kGoldsteinPrice); }, Family::newton},
    {"nsn-fb-a", "Newton on the Fischer-Burmeister function, Armijo search",
     [] { return nsn("nsn-fb-a", fischer_burmeister, kArmijo); }, Family::newton},
    {"nsn-ac-hybrid", "100 iterations of eg-vi-upk, then nsn-ac: flexible bodies",
     [] { return nsn("nsn-ac-hybrid", alart_curnier, kNone, 100); }, Family::newton},

    // Splitting, Table 3.
    {"nsgs-ac", "sweeps with local Newton (Alart-Curnier): rigid bodies at 1e-4",
     [] { return nsgs("nsgs-ac", alart_curnier, kLocal); }, Family::splitting},
    {"nsgs-jm", "sweeps with local Newton (Jean-Moreau)", [] { return nsgs("nsgs-jm", jean_moreau, kLocal); },
     Family::splitting},
    {"nsgs-ac-gp", "nsgs-ac, Goldstein-Price search in the local Newton",
     [] { return nsgs("nsgs-ac-gp", alart_curnier, kLocalGoldsteinPrice); }, Family::splitting},
    {"nsgs-jm-gp", "nsgs-jm, Goldstein-Price search in the local Newton",
     [] { return nsgs("nsgs-jm-gp", jean_moreau, kLocalGoldsteinPrice); }, Family::splitting},
    {"nsgs-fp-ds-one", "sweeps with one projected step per contact: classical projected Gauss-Seidel",
     [] { return nsgs("nsgs-fp-ds-one", Local::one_step); }, Family::splitting},
    {"nsgs-fp-vi-upk", "sweeps with projected steps, self-adaptive: flexible bodies and chutes at 1e-4",
     [] { return nsgs("nsgs-fp-vi-upk", Local::vi); }, Family::splitting},
    {"nsgs-exact", "sweeps with the roots of a quartic at every contact",
     [] { return nsgs("nsgs-exact", Local::exact); }, Family::splitting},
    {"psor-ac", "nsgs-ac, over-relaxed (omega 1.5)", [] { return make_splitting("psor-ac", {.omega = 1.5}); },
     Family::splitting},

    // Proximal point, Table 3; rule (125), and the one of success and failure.
    {"ppa-nsn-ac", "proximal point with nsn-ac inside: rigid bodies at 1e-8",
     [] { return proximal("ppa-nsn-ac", Inner::newton, kNone, Alpha::error); }, Family::proximal},
    {"ppa-nsn-ac-adaptive", "ppa-nsn-ac, alpha by success and failure",
     [] { return proximal("ppa-nsn-ac-adaptive", Inner::newton, kNone, Alpha::adaptive); }, Family::proximal},
    {"ppa-nsn-ac-gp", "proximal point with nsn-ac-gp inside",
     [] { return proximal("ppa-nsn-ac-gp", Inner::newton, kGoldsteinPrice, Alpha::error); },
     Family::proximal},
    {"ppa-nsn-ac-gp-adaptive", "ppa-nsn-ac-gp, alpha by success and failure: the most robust of these",
     [] { return proximal("ppa-nsn-ac-gp-adaptive", Inner::newton, kGoldsteinPrice, Alpha::adaptive); },
     Family::proximal},
    {"ppa-nsgs-ac", "proximal point with nsgs-ac inside",
     [] { return proximal("ppa-nsgs-ac", Inner::sweeps, kNone, Alpha::error); }, Family::proximal},
    {"ppa-nsgs-ac-adaptive", "ppa-nsgs-ac, alpha by success and failure",
     [] { return proximal("ppa-nsgs-ac-adaptive", Inner::sweeps, kNone, Alpha::adaptive); },
     Family::proximal},

    // Fixed points of convex problems, Table 4.
    {"pana-pgs-fp-vi-upk", "Panagiotopoulos: normals by sweeps, tangents by fp-vi-upk",
     [] { return fixed_point("pana-pgs-fp-vi-upk", Outer::pana, ConvexInner::vi); }, Family::fixed_point},
    {"pana-pgs-eg-vi-upk", "Panagiotopoulos: normals by sweeps, tangents by eg-vi-upk",
     [] { return fixed_point("pana-pgs-eg-vi-upk", Outer::pana, ConvexInner::vi, extragradient); },
     Family::fixed_point},
    {"pana-pgs-convexqp-pg", "Panagiotopoulos: normals by sweeps, tangents by projected gradients",
     [] { return fixed_point("pana-pgs-convexqp-pg", Outer::pana, ConvexInner::projected_gradient); },
     Family::fixed_point},
    {"pana-convexqp-pg", "Panagiotopoulos: normals and tangents by projected gradients",
     [] {
       return fixed_point("pana-convexqp-pg", Outer::pana, ConvexInner::projected_gradient,
                          ViMethod::fixed_point, ConvexInner::projected_gradient);
     },
     Family::fixed_point},
    {"tresca-nsgs-fp-vi-upk", "Tresca friction, cylinders by sweeps",
     [] { return fixed_point("tresca-nsgs-fp-vi-upk", Outer::tresca, ConvexInner::sweeps); },
     Family::fixed_point},
    {"tresca-fp-vi-upk", "Tresca friction, cylinders by fp-vi-upk",
     [] { return fixed_point("tresca-fp-vi-upk", Outer::tresca, ConvexInner::vi); }, Family::fixed_point},
    {"tresca-eg-vi-upk", "Tresca friction, cylinders by eg-vi-upk",
     [] { return fixed_point("tresca-eg-vi-upk", Outer::tresca, ConvexInner::vi, extragradient); },
     Family::fixed_point},
    {"tresca-convexqp-pg", "Tresca friction, cylinders by projected gradients",
     [] { return fixed_point("tresca-convexqp-pg", Outer::tresca, ConvexInner::projected_gradient); },
     Family::fixed_point},
    {"aclm-nsgs-fp-vi-upk", "cones with a lagged De Saxce term, by sweeps",
     [] { return fixed_point("aclm-nsgs-fp-vi-upk", Outer::aclm, ConvexInner::sweeps); },
     Family::fixed_point},
    {"aclm-fp-vi-upk", "cones with a lagged De Saxce term, by fp-vi-upk",
     [] { return fixed_point("aclm-fp-vi-upk", Outer::aclm, ConvexInner::vi); }, Family::fixed_point},
    {"aclm-eg-vi-upk", "cones with a lagged De Saxce term, by eg-vi-upk",
     [] { return fixed_point("aclm-eg-vi-upk", Outer::aclm, ConvexInner::vi, extragradient); },
     Family::fixed_point},
    {"aclm-convexqp-pg", "cones with a lagged De Saxce term, by projected gradients",
     [] { return fixed_point("aclm-convexqp-pg", Outer::aclm, ConvexInner::projected_gradient); },
     Family::fixed_point},
    {"soclcp-nsgs-pli", "sweeps for the convex law alone: a relaxation of the exact one",
     [] { return make_splitting("soclcp-nsgs-pli", {.local = Local::vi}, true); }, Family::fixed_point},

    // The complementarity side.
    {"lemke", "Lemke's pivoting on a friction cone with 4, 8 or 16 facets; dense, small problems",
     [] { return make_pivoting("lemke", {}); }, Family::pivoting},
    {"dantzig", "Dantzig's principal pivoting on such a cone, friction bounds lagged; dense, small problems",
     [] { return make_pivoting("dantzig", {.method = PivotingOptions::Method::dantzig}); }, Family::pivoting},
});

}  // namespace

std::span<const SolverInfo> classical_solvers() { return kSolvers; }

}  // namespace tribo
