#include "peers/siconos_peer.h"

#include <siconos/SiconosConfig.h>
#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/NumericsSparseMatrix.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/SparseBlockMatrix.h>

#include <array>
#include <cstdlib>

#include "tribo/linalg/delassus.h"

namespace {

NSM_linear_solver sparse_solver = NSM_MUMPS;  // for matrices that Siconos creates itself

}  // namespace

// Replaces Siconos' function of this name (the dynamic linker prefers the program's). Debian builds Siconos
// with MUMPS and offers no option for ADMM's linear solver, yet on problems of this size a call of MUMPS
// costs far more than the factorisation in it; a Siconos built without MUMPS uses CSparse. This gives both
// builds in one.
extern "C" NSM_linear_solver_params* NSM_linearSolverParams_new(void) {
  auto* parameters = static_cast<NSM_linear_solver_params*>(std::calloc(1, sizeof(NSM_linear_solver_params)));
  parameters->solver = sparse_solver;
  parameters->LDLT_solver = sparse_solver;
  return parameters;
}

namespace tribo::bench {

namespace {

constexpr std::array<int, 3> kTriboRow = {2, 0, 1};  // row (n, t1, t2) of Siconos in (t1, t2, n)

// Siconos frees what it is given with free().
template <class T>
T* allocate(std::size_t count) {
  return static_cast<T*>(std::calloc(count, sizeof(T)));
}

SparseBlockStructuredMatrix* block_matrix(const BlockMatrix& w) {
  const Index n = w.group_count();
  SparseBlockStructuredMatrix* sbm = SBM_new();
  sbm->nbblocks = w.block_count();
  sbm->blocknumber0 = sbm->blocknumber1 = n;
  sbm->blocksize0 = allocate<unsigned int>(n);
  sbm->blocksize1 = allocate<unsigned int>(n);
  sbm->filled1 = n + 1;
  sbm->filled2 = w.block_count();
  sbm->index1_data = allocate<size_t>(n + 1);
  sbm->index2_data = allocate<size_t>(w.block_count());
  sbm->block = allocate<double*>(w.block_count());
  for (Index g = 0; g < n; ++g) {
    sbm->blocksize0[g] = sbm->blocksize1[g] = 3 * (g + 1);
    sbm->index1_data[g + 1] = w.row_end(g);
    for (Index k = w.row_begin(g); k < w.row_end(g); ++k) {
      sbm->index2_data[k] = w.column(k);
      sbm->block[k] = allocate<double>(9);
      const BlockMatrix::Block block = w.block(g, k);
      for (int column = 0; column < 3; ++column) {
        for (int row = 0; row < 3; ++row) {
          sbm->block[k][3 * column + row] = block(kTriboRow[row], kTriboRow[column]);
        }
      }
    }
  }
  return sbm;
}

// W + R: the file's own W where there is one.
BlockMatrix delassus_matrix(const ContactProblem& problem) {
  BlockMatrix w =
      problem.has_delassus() ? problem.delassus() : build_delassus(problem.mass_factor(), problem.jacobian());
  for (Index g = 0; g < w.group_count(); ++g) {
    w.mutable_block(g, w.diagonal(g)).diagonal() += problem.compliance().segment(w.start(g), w.rows(g));
  }
  return w;
}

// Settings from a study over the real problems (bench/README.md has the numbers). The first variant of a
// method is its best single setting: most problems solved, then time. The others marked kMain each won on
// some problems, so that the comparison can also take the best setting per problem; kStudy ones never or
// hardly ever did.
void nsgs_common(SolverOptions* o) {
  o->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_FULL;
}
void nsgs_local(SolverOptions* o, int local) {
  nsgs_common(o);
  solver_options_update_internal(o, 0, local);
}
void nsgs_hybrid(SolverOptions* o) { nsgs_local(o, SICONOS_FRICTION_3D_ONECONTACT_NSN_GP_HYBRID); }
void nsgs_newton(SolverOptions* o) { nsgs_local(o, SICONOS_FRICTION_3D_ONECONTACT_NSN); }
void nsgs_newton_gp(SolverOptions* o) { nsgs_local(o, SICONOS_FRICTION_3D_ONECONTACT_NSN_GP); }
void nsgs_quartic(SolverOptions* o) { nsgs_local(o, SICONOS_FRICTION_3D_ONECONTACT_QUARTIC); }
void nsgs_projection(SolverOptions* o) { nsgs_local(o, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnCone); }
void nsgs_projection_iterated(SolverOptions* o) {
  nsgs_local(o, SICONOS_FRICTION_3D_ONECONTACT_ProjectionOnConeWithLocalIteration);
}
void nsgs_hybrid_adaptive(SolverOptions* o) {
  nsgs_hybrid(o);
  o->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_ADAPTIVE;
}
void nsgs_projection_adaptive(SolverOptions* o) {
  nsgs_projection_iterated(o);
  o->iparam[SICONOS_FRICTION_3D_IPARAM_ERROR_EVALUATION] = SICONOS_FRICTION_3D_NSGS_ERROR_EVALUATION_ADAPTIVE;
}
void nsgs_shuffle(SolverOptions* o) {
  nsgs_hybrid(o);
  o->iparam[SICONOS_FRICTION_3D_NSGS_SHUFFLE] = SICONOS_FRICTION_3D_NSGS_SHUFFLE_TRUE_EACH_LOOP;
}

void admm(SolverOptions* o, int rho, int initial, int acceleration) {
  o->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_RHO_STRATEGY] = rho;
  o->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_INITIAL_RHO] = initial;
  o->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_ACCELERATION] = acceleration;
  o->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_SPARSE_STORAGE] = SICONOS_FRICTION_3D_ADMM_FORCED_SPARSE_STORAGE;
}
constexpr int kBalance = SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_RESIDUAL_BALANCING;
constexpr int kScaled = SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_SCALED_RESIDUAL_BALANCING;
constexpr int kConstant = SICONOS_FRICTION_3D_ADMM_RHO_STRATEGY_CONSTANT;
constexpr int kNorm = SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_NORM_INF;
constexpr int kGiven = SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_GIVEN;
constexpr int kEigen = SICONOS_FRICTION_3D_ADMM_INITIAL_RHO_EIGENVALUES;
constexpr int kRestart = SICONOS_FRICTION_3D_ADMM_ACCELERATION_AND_RESTART;
constexpr int kPlain = SICONOS_FRICTION_3D_ADMM_NO_ACCELERATION;
void admm_balance_restart(SolverOptions* o) { admm(o, kBalance, kNorm, kRestart); }
void admm_balance_plain(SolverOptions* o) { admm(o, kBalance, kNorm, kPlain); }
void admm_scaled_restart(SolverOptions* o) { admm(o, kScaled, kNorm, kRestart); }
void admm_scaled_plain(SolverOptions* o) { admm(o, kScaled, kNorm, kPlain); }
void admm_balance_given(SolverOptions* o) { admm(o, kBalance, kGiven, kRestart); }
void admm_balance_eigen(SolverOptions* o) { admm(o, kBalance, kEigen, kRestart); }
void admm_constant(SolverOptions* o) { admm(o, kConstant, kNorm, kRestart); }
void admm_block_storage(SolverOptions* o) {
  admm(o, kBalance, kNorm, kRestart);
  o->iparam[SICONOS_FRICTION_3D_ADMM_IPARAM_SPARSE_STORAGE] = SICONOS_FRICTION_3D_ADMM_KEEP_STORAGE;
}

void nsn_cslusol(SolverOptions* o) {
  o->iparam[SICONOS_FRICTION_3D_NSN_LINEAR_SOLVER] = SICONOS_FRICTION_3D_NSN_USE_CSLUSOL;
}
void nsn_mumps(SolverOptions* o) {
  o->iparam[SICONOS_FRICTION_3D_NSN_LINEAR_SOLVER] = SICONOS_FRICTION_3D_NSN_USE_MUMPS;
}
void nsn(SolverOptions* o, int search) {
  nsn_cslusol(o);
  o->iparam[SICONOS_FRICTION_3D_NSN_LINESEARCH] = search;
}
void nsn_goldstein(SolverOptions* o) { nsn(o, SICONOS_FRICTION_3D_NSN_LINESEARCH_GOLDSTEINPRICE); }
void nsn_armijo(SolverOptions* o) { nsn(o, SICONOS_FRICTION_3D_NSN_LINESEARCH_ARMIJO); }
void nsn_no_search(SolverOptions* o) { nsn(o, SICONOS_FRICTION_3D_NSN_LINESEARCH_NO); }
void nsn_hybrid(SolverOptions* o) {
  nsn_cslusol(o);
  o->iparam[SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY] = SICONOS_FRICTION_3D_NSN_HYBRID_STRATEGY_VI_EG_NSN;
}
// As in the study: the Newton steps without a line search, which Siconos has by default.
void nsn_hybrid_no_search(SolverOptions* o) {
  nsn_hybrid(o);
  nsn_no_search(o);
}
void nsn_generated(SolverOptions* o) {
  nsn_cslusol(o);
  o->iparam[SICONOS_FRICTION_3D_NSN_FORMULATION] = SICONOS_FRICTION_3D_NSN_FORMULATION_ALARTCURNIER_GENERATED;
}

void prox_default(SolverOptions*) {}
void prox_internal(SolverOptions* o, int internal) { solver_options_update_internal(o, 0, internal); }
void prox_nsgs(SolverOptions* o) { prox_internal(o, SICONOS_FRICTION_3D_NSGS); }
void prox_fb(SolverOptions* o) { prox_internal(o, SICONOS_FRICTION_3D_NSN_FB); }
void prox_regularization(SolverOptions* o) {
  o->iparam[SICONOS_FRICTION_3D_PROXIMAL_IPARAM_STRATEGY] = SICONOS_FRICTION_3D_PROXIMAL_REGULARIZATION;
}

constexpr int kNsgs = SICONOS_FRICTION_3D_NSGS;
constexpr int kAdmm = SICONOS_FRICTION_3D_ADMM;
constexpr int kAc = SICONOS_FRICTION_3D_NSN_AC;
constexpr int kFb = SICONOS_FRICTION_3D_NSN_FB;
constexpr int kProx = SICONOS_FRICTION_3D_PROX;

constexpr bool kStudy = true, kMain = false;
constexpr bool kCsparse = true, kMumps = false;

constexpr SiconosVariant kVariants[] = {
    {"nsgs", "local=newton-gp", kMain, kCsparse, nsgs_newton_gp, kNsgs},
    {"nsgs", "local=newton-gp-hybrid", kMain, kCsparse, nsgs_hybrid, kNsgs},
    {"nsgs", "local=newton", kMain, kCsparse, nsgs_newton, kNsgs},
    {"nsgs", "local=quartic", kMain, kCsparse, nsgs_quartic, kNsgs},
    {"nsgs", "local=projection", kMain, kCsparse, nsgs_projection, kNsgs},
    {"nsgs", "local=projection-iterated", kStudy, kCsparse, nsgs_projection_iterated, kNsgs},
    {"nsgs", "local=newton-gp-hybrid adaptive check", kStudy, kCsparse, nsgs_hybrid_adaptive, kNsgs},
    {"nsgs", "local=projection-iterated adaptive check", kStudy, kCsparse, nsgs_projection_adaptive, kNsgs},
    {"nsgs", "local=newton-gp-hybrid shuffled", kStudy, kCsparse, nsgs_shuffle, kNsgs},
    {"admm", "residual-balancing restart csparse", kMain, kCsparse, admm_balance_restart, kAdmm},
    {"admm", "residual-balancing restart rho given csparse", kMain, kCsparse, admm_balance_given, kAdmm},
    {"admm", "scaled-balancing restart csparse", kMain, kCsparse, admm_scaled_restart, kAdmm},
    {"admm", "scaled-balancing plain csparse", kMain, kCsparse, admm_scaled_plain, kAdmm},
    {"admm", "constant rho restart csparse", kMain, kCsparse, admm_constant, kAdmm},
    {"admm", "residual-balancing restart mumps", kStudy, kMumps, admm_balance_restart, kAdmm},
    {"admm", "residual-balancing plain csparse", kStudy, kCsparse, admm_balance_plain, kAdmm},
    {"admm", "residual-balancing restart rho eigen csparse", kStudy, kCsparse, admm_balance_eigen, kAdmm},
    {"admm", "residual-balancing restart block storage", kStudy, kCsparse, admm_block_storage, kAdmm},
    {"nsn-ac", "csparse", kMain, kCsparse, nsn_cslusol, kAc},
    {"nsn-ac", "no line search csparse", kMain, kCsparse, nsn_no_search, kAc},
    {"nsn-ac", "hybrid csparse", kMain, kCsparse, nsn_hybrid, kAc},
    {"nsn-ac", "mumps", kMain, kMumps, nsn_mumps, kAc},
    {"nsn-ac", "goldstein-price csparse", kStudy, kCsparse, nsn_goldstein, kAc},
    {"nsn-ac", "armijo csparse", kStudy, kCsparse, nsn_armijo, kAc},
    {"nsn-ac", "generated csparse", kStudy, kCsparse, nsn_generated, kAc},
    {"nsn-fb", "csparse", kMain, kCsparse, nsn_cslusol, kFb},
    {"nsn-fb", "no line search csparse", kMain, kCsparse, nsn_no_search, kFb},
    {"nsn-fb", "mumps", kMain, kMumps, nsn_mumps, kFb},
    {"nsn-fb", "goldstein-price csparse", kStudy, kCsparse, nsn_goldstein, kFb},
    {"prox", "csparse", kMain, kCsparse, prox_default, kProx},
    {"prox", "regularization csparse", kMain, kCsparse, prox_regularization, kProx},
    {"prox", "internal=nsgs", kMain, kCsparse, prox_nsgs, kProx},
    {"prox", "internal=nsn-fb csparse", kStudy, kCsparse, prox_fb, kProx},
    {"prox", "mumps", kStudy, kMumps, prox_default, kProx},
};

// What Siconos has of the solvers that tribo's catalogue takes over from Acary et al. (2018), by tribo's names.
void plain(SolverOptions*) {}
void nsn_formulation(SolverOptions* o, int search) {
  nsn(o, search);
  o->iparam[SICONOS_FRICTION_3D_NSN_FORMULATION] = SICONOS_FRICTION_3D_NSN_FORMULATION_JEANMOREAU_STD;
}
void jean_moreau(SolverOptions* o) { nsn_formulation(o, SICONOS_FRICTION_3D_NSN_LINESEARCH_NO); }
void jean_moreau_goldstein(SolverOptions* o) {
  nsn_formulation(o, SICONOS_FRICTION_3D_NSN_LINESEARCH_GOLDSTEINPRICE);
}
void jean_moreau_armijo(SolverOptions* o) { nsn_formulation(o, SICONOS_FRICTION_3D_NSN_LINESEARCH_ARMIJO); }
void local_jean_moreau(SolverOptions* o) {
  o->internalSolvers[0]->iparam[SICONOS_FRICTION_3D_NSN_FORMULATION] =
      SICONOS_FRICTION_3D_NSN_FORMULATION_JEANMOREAU_STD;
}
void nsgs_jm(SolverOptions* o) {
  nsgs_newton(o);
  local_jean_moreau(o);
}
void nsgs_jm_gp(SolverOptions* o) {
  nsgs_newton_gp(o);
  local_jean_moreau(o);
}
void psor(SolverOptions* o) {
  nsgs_newton(o);
  o->iparam[SICONOS_FRICTION_3D_NSGS_RELAXATION] = 1;
  o->dparam[SICONOS_FRICTION_3D_NSGS_RELAXATION_VALUE] = 1.5;
}
void prox_no_search(SolverOptions* o) {
  o->internalSolvers[0]->iparam[SICONOS_FRICTION_3D_NSN_LINESEARCH] = SICONOS_FRICTION_3D_NSN_LINESEARCH_NO;
}
void tresca_vi(SolverOptions* o) {
  solver_options_update_internal(o, 0, SICONOS_FRICTION_3D_VI_FPP_Cylinder);
}
void tresca_gradient(SolverOptions* o) {
  solver_options_update_internal(o, 0, SICONOS_FRICTION_3D_CONVEXQP_PG_CYLINDER);
}

constexpr int kNm = SICONOS_FRICTION_3D_NSN_NM;

constexpr SiconosVariant kNamesakes[] = {
    {"fp-ds", "", kMain, kCsparse, plain, SICONOS_FRICTION_3D_DSFP},
    {"fp-vi-upk", "", kMain, kCsparse, plain, SICONOS_FRICTION_3D_VI_FPP},
    {"eg-vi-upk", "", kMain, kCsparse, plain, SICONOS_FRICTION_3D_VI_EG},
    {"nsn-nm", "", kMain, kCsparse, nsn_no_search, kNm},
    {"nsn-nm-gp", "", kMain, kCsparse, nsn_goldstein, kNm},
    {"nsn-nm-a", "", kMain, kCsparse, nsn_armijo, kNm},
    {"nsn-ac", "", kMain, kCsparse, nsn_no_search, kAc},
    {"nsn-ac-gp", "", kMain, kCsparse, nsn_goldstein, kAc},
    {"nsn-ac-a", "", kMain, kCsparse, nsn_armijo, kAc},
    {"nsn-jm", "", kMain, kCsparse, jean_moreau, kAc},
    {"nsn-jm-gp", "", kMain, kCsparse, jean_moreau_goldstein, kAc},
    {"nsn-jm-a", "", kMain, kCsparse, jean_moreau_armijo, kAc},
    {"nsn-fb", "", kMain, kCsparse, nsn_no_search, kFb},
    {"nsn-fb-gp", "", kMain, kCsparse, nsn_goldstein, kFb},
    {"nsn-fb-a", "", kMain, kCsparse, nsn_armijo, kFb},
    {"nsn-ac-hybrid", "", kMain, kCsparse, nsn_hybrid_no_search, kAc},
    {"nsgs-ac", "", kMain, kCsparse, nsgs_newton, kNsgs},
    {"nsgs-jm", "", kMain, kCsparse, nsgs_jm, kNsgs},
    {"nsgs-ac-gp", "", kMain, kCsparse, nsgs_newton_gp, kNsgs},
    {"nsgs-jm-gp", "", kMain, kCsparse, nsgs_jm_gp, kNsgs},
    {"nsgs-fp-ds-one", "", kMain, kCsparse, nsgs_projection, kNsgs},
    {"nsgs-fp-vi-upk", "", kMain, kCsparse, nsgs_projection_iterated, kNsgs},
    {"nsgs-exact", "", kMain, kCsparse, nsgs_quartic, kNsgs},
    {"psor-ac", "", kMain, kCsparse, psor, kNsgs},
    {"ppa-nsn-ac", "", kMain, kCsparse, prox_no_search, kProx},
    {"ppa-nsn-ac-gp", "", kMain, kCsparse, prox_default, kProx},
    {"ppa-nsgs-ac", "", kMain, kCsparse, prox_nsgs, kProx},
    {"pana-pgs-convexqp-pg", "", kMain, kCsparse, plain, SICONOS_FRICTION_3D_PFP},
    {"tresca-nsgs-fp-vi-upk", "", kMain, kCsparse, plain, SICONOS_FRICTION_3D_TFP},
    {"tresca-fp-vi-upk", "", kMain, kCsparse, tresca_vi, SICONOS_FRICTION_3D_TFP},
    {"tresca-convexqp-pg", "", kMain, kCsparse, tresca_gradient, SICONOS_FRICTION_3D_TFP},
    {"aclm-nsgs-fp-vi-upk", "", kMain, kCsparse, plain, SICONOS_FRICTION_3D_ACLMFP},
};

}  // namespace

std::span<const SiconosVariant> siconos_namesakes() { return kNamesakes; }

SiconosProblem::SiconosProblem(const ContactProblem& problem) {
  const BlockMatrix w = delassus_matrix(problem);
  const Index contacts = problem.contact_count();
  NumericsMatrix* matrix = NM_create_from_data(NM_SPARSE_BLOCK, 3 * contacts, 3 * contacts, block_matrix(w));
  double* q = allocate<double>(3 * contacts);
  double* friction = allocate<double>(contacts);
  for (Index i = 0; i < contacts; ++i) {
    friction[i] = problem.friction(i);
    for (int row = 0; row < 3; ++row) q[3 * i + row] = problem.free_velocity()[3 * i + kTriboRow[row]];
  }
  problem_ = frictionContactProblem_new_with_data(3, contacts, matrix, q, friction);
}

SiconosProblem::~SiconosProblem() { frictionContactProblem_free(problem_); }

Vector SiconosProblem::to_tribo(const double* reaction, Index rows) {
  Vector impulse(rows);
  for (Index i = 0; i < rows / 3; ++i) {
    for (int row = 0; row < 3; ++row) impulse[3 * i + kTriboRow[row]] = reaction[3 * i + row];
  }
  return impulse;
}

void OptionsDeleter::operator()(SolverOptions* options) const { solver_options_delete(options); }

std::span<const SiconosVariant> siconos_variants() { return kVariants; }

Options make_options(const SiconosVariant& variant, double tolerance, int max_iterations) {
  sparse_solver = variant.csparse ? NSM_CSPARSE : NSM_MUMPS;
  Options options(solver_options_create(variant.solver));
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = max_iterations;
  variant.configure(options.get());
  return options;
}

}  // namespace tribo::bench
