// A solver from a function: its loop. For parts of a problem that another solver wants solved by one of its stages, and
// for stages under test.
//
// Example
//   AlNewton newton;
//   LoopSolver solver("alnewton", [&](const ContactProblem& problem, Monitor& monitor) {
//     return newton.iterate(problem, monitor, {.beta = 100.0});
//   });
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "tribo/solve/solver.h"

namespace tribo {

class LoopSolver final : public Solver {
 public:
  using Loop = std::function<Status(const ContactProblem&, Monitor&)>;

  LoopSolver(std::string_view name, Loop loop) : name_(name), loop_(std::move(loop)) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Solver> clone() const override { return std::make_unique<LoopSolver>(name_, loop_); }
  Status iterate(const ContactProblem& problem, Monitor& monitor) override { return loop_(problem, monitor); }

 private:
  std::string_view name_;
  Loop loop_;
};

}  // namespace tribo
