#include "tribo/solve/auto/auto.h"

#include <array>

#include "tribo/solve/auto/schedule.h"
#include "tribo/solve/auto/stages.h"

namespace tribo {
namespace {

class Auto final : public Solver {
 public:
  explicit Auto(const AutoOptions& options) : options_(options) {}
  std::string_view name() const override { return "auto"; }
  std::unique_ptr<Solver> clone() const override { return make_auto(options_); }
  SolverTraits traits() const override { return {.small_islands_apart = true}; }
  std::vector<Option> options() override { return describe(options_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override;

 private:
  AutoStage& stage(StageId id);

  AutoOptions options_;
  StageTools tools_;
  // Made when a problem first needs them.
  std::array<std::unique_ptr<AutoStage>, static_cast<std::size_t>(StageId::count)> stages_;
};

AutoStage& Auto::stage(StageId id) {
  std::unique_ptr<AutoStage>& stage = stages_[static_cast<std::size_t>(id)];
  if (!stage) stage = make_stage(id, tools_);
  return *stage;
}

Status Auto::iterate(const ContactProblem& problem, Monitor& monitor) {
  const ProblemTraits traits = classify(problem, monitor.settings().law, monitor.start().isZero(0.0));
  StageContext context{problem, traits, options_, monitor};
  Index number = 0;
  for (const ScheduleRow& row : auto_schedule()) {
    if (++number == options_.skip || !row.applies(context)) continue;
    if (stage(row.stage).run(context, row.budget(context), row.from)) return Status::converged;
    context.tried[static_cast<std::size_t>(row.stage)] = true;
  }
  return Status::stalled;
}

}  // namespace

std::vector<Option> describe(AutoOptions& o) {
  constexpr Index kMany = 1000000;
  return {
      integer_option("large", "constraints of an island above which nothing is factorised", o.large, 1,
                     100000000),
      integer_option("tiny_sweeps", "sweeps over an island of up to five constraints", o.tiny_sweeps, 0,
                     kMany),
      integer_option("warm_sweeps", "sweeps before Newton's method where a start is not near", o.warm_sweeps,
                     0, kMany),
      integer_option("probe_sweeps", "sweeps whose rate tells whether more are worth it", o.probe_sweeps, 1,
                     kMany),
      integer_option("promised_sweeps", "sweeps within which they must promise the tolerance",
                     o.promised_sweeps, 0, kMany),
      integer_option("admm_iterations", "iterations of ADMM before the second-order methods",
                     o.admm_iterations, 0, kMany),
      real_option("near", "error of a start below which contacts stick, slide and open as in it", "1", o.near,
                  0.0, 1.0),
      real_option("very_near", "error of a start with which hardly a contact changes", "1", o.very_near, 0.0,
                  1.0),
      real_option("deep", "error then aimed at, relative to the tolerance", "1", o.deep, 0.0, 1.0),
      integer_option("few_factors", "factorisations from a near start of a large island", o.few_factors, 0,
                     kMany),
      integer_option("factors", "factorisations of a Newton method before another method has its turn",
                     o.factors, 0, kMany),
      integer_option("point_iterations", "iterations of the interior point", o.point_iterations, 0, kMany),
      real_option("cheap_factor", "sweeps that one factorisation of a pile may cost", "1", o.cheap_factor,
                  0.0, 1e9),
      real_option("path_target", "error at which an interior path is left", "1", o.path_target, 0.0, 1.0),
      integer_option("path_iterations", "steps of an interior path", o.path_iterations, 0, kMany),
      integer_option("restarts", "other starts of an island of few constraints", o.restarts, 0, 1000),
      integer_option("few", "constraints up to which a factorisation costs little", o.few, 0, kMany),
      integer_option("skip", "row of the schedule that is left out, 0: none; for ablations", o.skip, 0, 1000),
  };
}

std::unique_ptr<Solver> make_auto(const AutoOptions& options) { return std::make_unique<Auto>(options); }

}  // namespace tribo
