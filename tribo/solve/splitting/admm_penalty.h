// The penalty rho of ADMM (admm.cpp): how it follows the residuals, and what is tried when nothing moves.
//
// Rules: `balance` rho *= sqrt(relative primal / relative dual residual) as OSQP does; `linear` and `spectral` are
// (44) and (45)-(46) of Carpentier et al. (2024), with m, L of W + R + eta I. When a stage makes no headway
// (estimate not down to 0.9 of its best within `patience` iterations) the solver starts afresh with the next of a
// few fixed penalties, since a stuck iterate sits in the wrong stick/slip set; after all of them it goes on from
// the best iterate.
#pragma once

#include "tribo/solve/splitting/admm.h"

namespace tribo {

class AdmmPenalty {
 public:
  struct Residuals {
    double primal = 0.0, dual = 0.0;              // |f - y|, |rho (y - y_old)|, scaled 2-norms
    double primal_scale = 0.0, dual_scale = 0.0;  // their natural sizes, for relative residuals
    double estimate = 0.0;                        // of the scaled natural map
  };

  void start(const AdmmOptions& options);
  // Extreme eigenvalues m, L of the scaled W + R + eta I; the spectral rule starts from them.
  void set_spectrum(double smallest, double largest);

  double value() const { return rho_; }
  // After every iteration: true when there is no headway, and value() is that of the next stage.
  bool next_stage(const Residuals& residuals);
  // After every iteration that stays in its stage: true when the rule changed value().
  bool update(const Residuals& residuals);
  // The stage is the one that goes on from the best iterate, with the penalty that was last remembered.
  bool resuming() const;
  void remember() { best_ = rho_; }

 private:
  double spectral() const;

  AdmmOptions options_;
  double rho_ = 1.0, best_ = 0.0;
  double exponent_ = 0.0;
  double smallest_ = 0.0, largest_ = 0.0;
  Index since_update_ = 0;
  Index stage_ = -1;               // index of the fixed penalty, past the last: resuming, -1: the rule's own
  Index window_ = 0, budget_ = 0;  // iterations in the present window, and its length
  double window_best_ = 0.0, stage_best_ = 0.0;
};

}  // namespace tribo
