// The class behind ipm.h, for solvers of which it is a stage.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tribo/solve/interior/convex_polish.h"
#include "tribo/solve/interior/ipm.h"
#include "tribo/solve/interior/ipm_path.h"
#include "tribo/solve/interior/polish.h"

namespace tribo {

class Ipm final : public Solver {
 public:
  explicit Ipm(const IpmOptions& options = {});
  std::string_view name() const override { return "ipm"; }
  std::unique_ptr<Solver> clone() const override { return make_ipm(options_); }
  std::vector<Option> options() override { return describe(options_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

  // The path only, from the start given, until the error is below `target` or steps get short. Which contacts stick,
  // slide and open shows long before a path ends, and others end from there in fewer steps.
  Status follow_path(const ContactProblem& problem, Monitor& monitor, double target);
  // Multiply-adds of a factorisation of the last problem whose path was followed.
  double factor_flops() const { return flops_; }

 private:
  Status run(const ContactProblem& problem, Monitor& monitor);
  std::span<const IpmOptions::Start> starts(const ContactProblem& problem, Law law) const;
  bool follow_from_starts(const ContactProblem& problem, Monitor& monitor);
  bool follow(const ContactProblem& problem, const IpmPathOptions& options, Monitor& monitor);
  bool follow_proximal(const ContactProblem& problem, Monitor& monitor);
  bool exhausted(const Monitor& monitor) const {
    return iteration_ >= monitor.iterations_left() || !monitor.may_factorize();
  }
  bool polish(const ContactProblem& problem, Monitor& monitor, const Vector& start, Index factorizations,
              bool probe);

  IpmOptions options_;
  IpmPath path_;
  Polish polish_;
  ConvexPolish convex_polish_;
  Vector anchor_;
  Index iteration_ = 0;
  double flops_ = 0.0;
};

}  // namespace tribo
