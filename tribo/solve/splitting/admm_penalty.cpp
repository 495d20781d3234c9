#include "tribo/solve/splitting/admm_penalty.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tribo {
namespace {

constexpr double kLowest = 1e-8, kHighest = 1e8;  // rho relative to 1 / w_i
// Tried one after the other when the rule's own makes no headway; the order is by how often they helped.
constexpr std::array<double, 6> kFixed = {0.03, 0.01, 0.1, 0.3, 1.0, 0.003};
constexpr double kWindowGain = 0.9;    // reduction of the estimate within a window that counts as headway
constexpr Index kResumePatience = 20;  // the window of the last stage is so many times as long
constexpr double kNothing = std::numeric_limits<double>::infinity();

}  // namespace

void AdmmPenalty::start(const AdmmOptions& options) {
  options_ = options;
  rho_ = best_ = options.rho;
  exponent_ = options.spectral_exponent;
  since_update_ = 0;
  stage_ = -1;
  window_ = 0;
  budget_ = options.patience;
  window_best_ = stage_best_ = kNothing;
}

double AdmmPenalty::spectral() const {
  return std::sqrt(smallest_ * largest_) * std::pow(largest_ / smallest_, exponent_);
}

void AdmmPenalty::set_spectrum(double smallest, double largest) {
  smallest_ = smallest;
  largest_ = largest;
  rho_ = spectral();
}

bool AdmmPenalty::resuming() const { return stage_ == static_cast<Index>(kFixed.size()); }

bool AdmmPenalty::update(const Residuals& r) {
  if (stage_ >= 0 || ++since_update_ < options_.interval) return false;
  since_update_ = 0;
  double rho = rho_;
  if (options_.penalty == AdmmOptions::Penalty::balance) {
    const double relative_primal = r.primal / std::max(r.primal_scale, 1e-300);
    const double relative_dual = r.dual / std::max(r.dual_scale, 1e-300);
    const double factor = std::sqrt(relative_primal / std::max(relative_dual, 1e-300));
    if (factor > options_.balance_threshold || factor < 1.0 / options_.balance_threshold)
      rho *= std::clamp(factor, 1e-3, 1e3);
  } else {
    const double ratio = options_.linear_ratio;
    const double direction = r.primal >= ratio * r.dual ? 1.0 : r.dual >= ratio * r.primal ? -1.0 : 0.0;
    if (direction == 0.0) return false;
    if (options_.penalty == AdmmOptions::Penalty::linear) {
      rho *= direction > 0.0 ? options_.linear_factor : 1.0 / options_.linear_factor;
    } else {
      exponent_ += direction * options_.spectral_step;
      rho = spectral();
    }
  }
  rho = std::clamp(rho, kLowest, kHighest);
  if (rho == rho_) return false;
  rho_ = rho;
  return true;
}

// The next stage starts afresh with the next fixed penalty; after the last of them the best iterate is taken up
// again with its penalty for a long while, and the next round is more patient.
bool AdmmPenalty::next_stage(const Residuals& r) {
  window_best_ = std::min(window_best_, r.estimate);
  if (++window_ < (resuming() ? kResumePatience : 1) * budget_) return false;
  const bool headway = window_best_ <= kWindowGain * stage_best_;
  stage_best_ = std::min(stage_best_, window_best_);
  window_best_ = kNothing;
  window_ = 0;
  if (headway) return false;
  stage_best_ = kNothing;
  if (resuming()) budget_ *= 2;
  stage_ = resuming() ? 0 : stage_ + 1;
  rho_ = resuming() ? best_ : kFixed[stage_];
  return true;
}

}  // namespace tribo
