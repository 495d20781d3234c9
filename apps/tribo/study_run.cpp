#include "apps/tribo/study_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/tribo/comparison.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

double SceneRun::operator[](const std::string& name) const {
  const auto found = observables.find(name);
  return found == observables.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

SceneRun run_scene(const std::string& name, const SceneValues& values, const SceneHow& how) {
  Scene scene = make_scene(name, values, how.dt);
  SimulatorSettings& settings = scene.settings;
  settings.law = how.law;
  settings.solver = how.solver;
  settings.tolerance = how.tolerance;
  settings.max_iterations = how.max_iterations;
  settings.warm_start = how.warm_start;
  settings.time_limit = how.budget;
  if (how.scheme) settings.scheme = *how.scheme;
  if (how.slip >= 0.0) settings.contact.slip_regularization = how.slip;
  if (how.time > 0.0) scene.duration = how.time;
  Simulator simulator(scene.world, settings);
  simulator.set_state(scene.start);
  SceneRun run;
  std::vector<double> solves;
  while (simulator.state().time < scene.start.time + scene.duration - 1e-9) {
    scene.control(simulator);
    const StepReport report = simulator.step();
    scene.observe(simulator, report);
    if (how.after) how.after(simulator, report);
    ++run.steps;
    run.iterations += report.iterations;
    run.contacts += static_cast<double>(report.contacts);
    solves.push_back(1e3 * report.times.solve);
    run.step_ms += 1e3 * report.times.total();
    run.worst = std::max(run.worst, report.error);
    run.penetration = std::max(run.penetration, report.penetration);
    run.contacts_end = report.contacts;
  }
  const double steps = std::max<double>(1.0, run.steps);
  run.iterations /= steps;
  run.contacts /= steps;
  std::ranges::sort(solves);
  solves.resize(solves.size() - solves.size() / 50);
  for (const double ms : solves)
    run.solve_ms += ms / static_cast<double>(std::max<std::size_t>(1, solves.size()));
  run.step_ms /= steps;
  run.missed = static_cast<Index>(simulator.missed_steps());
  for (const Observable& o : scene.observables(simulator)) run.observables[o.name] = o.value;
  return run;
}

ContactProblem problem_of_scene(const std::string& name, const SceneValues& values, double time) {
  Scene scene = make_scene(name, values);
  Simulator simulator(scene.world, scene.settings);
  simulator.set_state(scene.start);
  while (simulator.state().time < time - 1e-9) {
    scene.control(simulator);
    scene.observe(simulator, simulator.step());
  }
  return simulator.problem();
}

Convergence converge(const ContactProblem& problem, const std::string& solver, Law law) {
  const std::unique_ptr<Solver> object = make_solver(solver);
  Settings settings;
  settings.law = law;
  settings.tolerance = 1e-12;
  settings.islands = false;
  settings.prove_infeasible = false;
  Convergence result;
  Solution solution;
  bool ended = false;
  for (const Index limit : kCheckpoints) {
    if (!ended) {
      settings.max_iterations = limit;
      const double begin = cpu_ms();
      const Report report = object->solve(problem, settings, solution);
      result.seconds = 1e-3 * (cpu_ms() - begin);
      result.iterations = report.iterations;
      ended = report.status != Status::iteration_limit;
      result.error.push_back(report.certificate.error.value);
      result.lee.push_back(report.certificate.lee_residual);
    } else {
      result.error.push_back(result.error.back());
      result.lee.push_back(result.lee.back());
    }
  }
  return result;
}

}  // namespace tribo::cli
