#include "tribo/solve/catalogue.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/solve/ablations/al_ablations.h"
#include "tribo/solve/auto/auto.h"
#include "tribo/solve/classical/compositions.h"
#include "tribo/solve/interior/ipm.h"
#include "tribo/solve/newton/alnewton.h"
#include "tribo/solve/newton/canal.h"
#include "tribo/solve/newton/sap.h"
#include "tribo/solve/splitting/admm.h"
#include "tribo/solve/splitting/subadmm.h"
#include "tribo/solve/sweeps/nsgs.h"
#include "tribo/solve/sweeps/pgs.h"

namespace tribo {
namespace {

constexpr auto kMain = std::to_array<SolverInfo>({
    {"auto", "the default: islands, then sweeps, ADMM, Newton, interior point until the certificate is met",
     [] { return make_auto(); }},
    {"admm", "proximal ADMM on the exact law: stacks, mass ratios, redundant contacts",
     [] { return make_admm(); }},
    {"alnewton",
     "augmented Lagrangian and semismooth Newton: high accuracy in few factorisations, hard problems",
     [] { return make_alnewton(); }},
    {"ipm",
     "interior point with a Newton polish: mass ratios, sliding stacks, high accuracy in 10-30 iterations",
     [] { return make_ipm(); }},
    {"nsgs", "nonsmooth Gauss-Seidel with an exact one-contact solver: loose piles, quick moderate accuracy",
     [] { return make_nsgs(); }},
    {"pgs", "projected Gauss-Seidel, normal then tangent: the game-engine baseline with a certificate",
     [] { return make_pgs(); }},
    {"canal", "cascaded Newton augmented Lagrangian: dense contact sets, high accuracy, both laws",
     [] { return make_canal(); }},
    {"sap", "convex Newton on the compliant convex law: R > 0 (rigid rows get near-rigid compliance)",
     [] { return make_sap(); }},
    {"subadmm", "ADMM split per body: very large scenes, cost linear in bodies and contacts, threads",
     [] { return make_subadmm(); }},
    {"subadmm-nobody", "subadmm split per tree only: an ablation", [] { return make_subadmm_nobody(); },
     SolverFamily::ablation},
    {"admm-full", "primal ADMM without a split, one factor for all trees: an ablation",
     [] { return make_admm_full(); }, SolverFamily::ablation},
    {"al-dogleg", "canal's outer loop on a dogleg trust-region Newton: an ablation",
     [] { return make_al_dogleg(); }, SolverFamily::ablation},
    {"al-damped", "canal's outer loop on a damped semismooth Newton: an ablation",
     [] { return make_al_damped(); }, SolverFamily::ablation},
});

std::vector<SolverInfo> join() {
  std::vector<SolverInfo> all(kMain.begin(), kMain.end());
  const std::span<const SolverInfo> classical = classical_solvers();
  all.insert(all.end(), classical.begin(), classical.end());
  return all;
}

// "a=1,b=2" onto the solver.
void apply_options(Solver& solver, std::string_view list) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    const std::string_view item = list.substr(0, comma);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      throw InvalidInput(fmt::format("option '{}' of solver {}: write name=value", item, solver.name()));
    }
    solver.set_option(item.substr(0, equals), item.substr(equals + 1));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
}

}  // namespace

std::string_view to_string(SolverFamily family) {
  switch (family) {
    case SolverFamily::tribo:
      return "tribo";
    case SolverFamily::ablation:
      return "ablation";
    case SolverFamily::projection:
      return "projection";
    case SolverFamily::newton:
      return "newton";
    case SolverFamily::splitting:
      return "splitting";
    case SolverFamily::proximal:
      return "proximal";
    case SolverFamily::fixed_point:
      return "fixed-point";
    case SolverFamily::pivoting:
      return "pivoting";
  }
  return "";
}

std::span<const SolverInfo> solver_catalogue() {
  static const std::vector<SolverInfo> all = join();
  return all;
}

std::span<const SolverInfo> main_solvers() { return kMain; }

std::unique_ptr<Solver> make_solver(std::string_view name) {
  const std::size_t colon = name.find(':');
  const std::string_view base = name.substr(0, colon);
  std::string names;
  for (const SolverInfo& info : solver_catalogue()) {
    if (info.name == base) {
      std::unique_ptr<Solver> solver = info.make();
      if (colon != std::string_view::npos) apply_options(*solver, name.substr(colon + 1));
      return solver;
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", info.name);
  }
  throw InvalidInput(fmt::format("there is no solver '{}' (solvers: {})", base, names));
}

}  // namespace tribo
