#include "apps/tribo/sim_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/tribo/progress.h"
#include "apps/tribo/support.h"
#include "apps/tribo/text_table.h"
#include "tribo/base/errors.h"
#include "tribo/formats/problem_file.h"

namespace tribo::cli {

namespace {

// Adds the CPU time of the process between go_on() and stop() to a sum. Reading that clock is a call of the kernel, half a
// microsecond: it is read around what is not counted, not around every step.
class CpuStopwatch {
 public:
  explicit CpuStopwatch(double& sum) : sum_(sum) {}
  void go_on() { begin_ = std::clock(); }
  void stop() { sum_ += static_cast<double>(std::clock() - begin_) / CLOCKS_PER_SEC; }

 private:
  double& sum_;
  std::clock_t begin_ = std::clock();
};

// CPU time of this thread, s.
double thread_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// For the handler of signals.
std::atomic<LiveView*> watched = nullptr;
std::atomic<int> ending = 0;  // the signal that ends the run after the step at work, 0: none
static_assert(std::atomic<LiveView*>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// The first Ctrl-C ends the run in order, the second one at once.
void end_in_order(int signal) {
  ending = signal;
  std::signal(signal, SIG_DFL);
  if (LiveView* running = watched) running->stop();
}

// `always`: also where whoever started the program has Ctrl-C ignored, as scripts do with what runs in the background.
void catch_signals(bool always) {
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, end_in_order) == SIG_IGN && !always) std::signal(signal, SIG_IGN);
  }
}

// No signal finds a view that is gone.
struct Unwatch {
  ~Unwatch() { watched = nullptr; }
};

// kg of the bodies that move.
double moving_mass(const Model& model) {
  double mass = 0.0;
  for (Index t = 0; t < model.tree_count(); ++t) {
    for (Index b = model.tree_body(t); b < model.tree_body_end(t); ++b) mass += model.inertia(b).mass;
  }
  return mass;
}

}  // namespace

SimRun::SimRun(Scene scene, SimRunOptions options)
    : scene_(std::move(scene)), options_(std::move(options)), simulator_(scene_.world, scene_.settings) {
  simulator_.set_state(scene_.start);
  begin_ = simulator_.energy();
  if (options_.follow_energy) balance_ = std::make_unique<EnergyBalance>(simulator_);
}

double SimRun::per_step(double sum) const { return steps_ > 0 ? sum / static_cast<double>(steps_) : 0.0; }

void SimRun::add(const StepReport& r) {
  ++steps_;
  times_.kinematics += r.times.kinematics;
  times_.collision += r.times.collision;
  times_.assembly += r.times.assembly;
  times_.solve += r.times.solve;
  times_.integrate += r.times.integrate;
  contacts_ += r.contacts;
  iterations_ += r.iterations;
  errors_ += r.error;
  penetration_ = std::max(penetration_, r.penetration);
  last_penetration_ = r.penetration;
  if (to_string(r.status) == std::string_view("infeasible")) ++infeasible_;
  if (std::isfinite(options_.budget) && r.missed() && r.status == Status::time_limit) {
    ++budget_steps_;
    budget_worst_ = std::max(budget_worst_, r.error);
    budget_errors_ += r.error;
  }
  if (r.error > worst_ || std::isnan(r.error)) {
    worst_ = r.error;
    worst_step_ = r.step;
  }
}

void SimRun::dump_problem(std::int64_t step) const {
  for (const ProblemDump& dump : options_.dumps) {
    if (dump.step != step) continue;
    WriteOptions options;
    options.title = scene_.name;
    options.description = fmt::format("tribo sim {}, step {}", scene_.name, step);
    const Vector guess = simulator_.problem_guess();
    options.guess = &guess;
    write_problem(dump.file, simulator_.problem(), options);
  }
}

std::int64_t SimRun::planned_steps() const {
  if (options_.endless) return std::numeric_limits<std::int64_t>::max();
  return std::llround(std::ceil(scene_.duration / simulator_.time_step() - 1e-9));
}

// Steps that are not measured: buffers grow to their size, caches and branch predictors fill.
void SimRun::warm_up(std::int64_t steps) {
  double seconds = 0.0;
  for (std::int64_t k = 0; k < steps && seconds < options_.stop_after && ending == 0; ++k) {
    scene_.control(simulator_);
    seconds += simulator_.step().times.total();
  }
  simulator_.restart(scene_.start);
  begin_scene();
}

// What a scene keeps between its steps is as at the beginning.
void SimRun::begin_scene() {
  if (!options_.make_again) return;
  Scene fresh = options_.make_again();
  scene_.control = std::move(fresh.control);
  scene_.observe = std::move(fresh.observe);
  scene_.observables = std::move(fresh.observables);
}

void SimRun::go() {
  const std::int64_t steps = planned_steps();
  for (const ProblemDump& dump : options_.dumps) {
    if (dump.step > steps) {
      throw InvalidInput(
          fmt::format("--dump-problem {}:{}: there are only {} steps", dump.step, dump.file, steps));
    }
  }
  catch_signals(options_.outputs.view.has_value());
  if (options_.warm_up) warm_up(steps);
  SimOutputs outputs(options_.outputs, simulator_, scene_.name);
  const std::unique_ptr<LiveView> view = open_view();
  const Unwatch unwatch{};
  std::unique_ptr<ProgressBar> bar;
  if (options_.progress && !view)
    bar = std::make_unique<ProgressBar>(static_cast<int>(std::min<std::int64_t>(steps, 1000)));
  const auto asks_for_problem = [this](std::int64_t step) {
    return std::ranges::any_of(options_.dumps, [step](const ProblemDump& dump) { return dump.step == step; });
  };
  std::int64_t shown = 0;
  CpuStopwatch watch(seconds_);
  for (std::int64_t k = 0; k < steps && times_.total() < options_.stop_after && ending == 0; ++k) {
    StepReport report;
    if (!step(view.get(), report)) break;
    add(report);
    scene_.observe(simulator_, report);
    const bool shows = bar && (k + 1) * std::min<std::int64_t>(steps, 1000) / steps > shown;
    if (!outputs.any() && !shows && !balance_ && !asks_for_problem(report.step)) continue;
    watch.stop();
    if (balance_) balance_->add(simulator_, report);
    if (outputs.any()) {
      const double before = thread_seconds();
      outputs.record(simulator_, report);
      record_seconds_ += thread_seconds() - before;
    }
    dump_problem(report.step);
    if (shows) {
      ++shown;
      bar->show(fmt::format("{:.2f} s, {} contacts", simulator_.state().time, report.contacts));
      bar->advance();
    }
    watch.go_on();
  }
  watch.stop();
  outputs.finish();
}

int SimRun::ended_by() { return ending; }

// Nothing where nobody wants to watch. Ctrl-C ends the run, with its summary.
std::unique_ptr<LiveView> SimRun::open_view() {
  if (!options_.outputs.view) return nullptr;
  LiveViewSettings settings;
  settings.port = options_.outputs.port();
  settings.name = scene_.name;
  if (!options_.outputs.view_address.empty()) settings.address = options_.outputs.view_address;
  auto view = std::make_unique<LiveView>(simulator_, settings);
  view->on_reset = [this] { begin_scene(); };
  watched = view.get();
  fmt::print(stderr, "live view: {}\nOpen this address in a browser; Ctrl-C ends the simulation.\n",
             view->url());
  return view;
}

// One step; false: whoever watches ended the run.
bool SimRun::step(LiveView* view, StepReport& report) {
  while (view != nullptr) {
    if (!view->wait()) return false;
    scene_.control(simulator_);
    try {
      report = view->step();
      return true;
    } catch (const InvalidInput& error) {  // a push too strong; a reset leads back
      print_error(fmt::format("{}; reset it in the page, or end it with Ctrl-C", error.what()));
    }
  }
  scene_.control(simulator_);
  report = simulator_.step();
  return true;
}

std::string SimRun::text() const {
  const double wall = times_.total(), simulated = simulator_.state().time - scene_.start.time;
  std::string text = fmt::format(
      "{}: {} of {:g} s, solver {}, law {}, scheme {}\n", scene_.name,
      counted(simulator_.step_count(), "step"), simulator_.time_step(), simulator_.settings().solver,
      simulator_.settings().law == Law::exact ? "exact" : "convex", to_string(simulator_.settings().scheme));
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<22}{}\n", name, value);
  };
  const auto share = [&](double part) {
    return fmt::format("{:.0f} %", wall > 0.0 ? 100.0 * part / wall : 0.0);
  };
  line("speed",
       fmt::format("{:.0f} steps/s, {:.2f} x real time", simulator_.step_count() / std::max(wall, 1e-12),
                   simulated / std::max(wall, 1e-12)));
  line("time split", fmt::format("kinematics {}, collision {}, assembly {}, solve {}, integrate {}",
                                 share(times_.kinematics), share(times_.collision), share(times_.assembly),
                                 share(times_.solve), share(times_.integrate)));
  line("per step",
       fmt::format("{:.1f} contacts, {:.1f} iterations", per_step(contacts_), per_step(iterations_)));
  line("certificate", fmt::format("worst {} (step {}), mean {}", format_error(worst_), worst_step_,
                                  format_error(per_step(errors_))));
  line("missed steps",
       fmt::format("{} (tolerance {})", missed_steps(), format_error(simulator_.settings().tolerance)));
  if (std::isfinite(options_.budget)) {
    const double mean = budget_steps_ > 0 ? budget_errors_ / static_cast<double>(budget_steps_) : 0.0;
    line("budget", fmt::format("{:g} ms, reached in {} of {}; error left: worst {}, mean {}",
                               1e3 * options_.budget, budget_steps_, counted(steps_, "step"),
                               format_error(budget_worst_), format_error(mean)));
  }
  line("deepest penetration", fmt::format("{:.3g} m", penetration_));
  const Energy end = simulator_.energy();
  line("energy",
       fmt::format(
           "{:.6g} J at the beginning, {:.6g} J at the end (kinetic {:.3g}, weight {:.3g}, springs {:.3g})",
           begin_.total(), end.total(), end.kinetic, end.weight, end.springs + end.elastic));
  if (balance_) {
    line("energy balance",
         fmt::format("maximum {:.6g} J, work of actuators and applied forces {:.6g} J, created {:.3g} J, "
                     "largest rise {:.3g} J",
                     balance_->maximum(), balance_->work(), balance_->created(), balance_->largest_rise()));
  }
  if (!options_.endless && simulator_.step_count() < planned_steps()) {
    line("stopped early",
         fmt::format("{} of {} steps", simulator_.step_count(), planned_steps()) +
             (ending != 0 ? std::string(", by a signal") : fmt::format(" in {:g} s", options_.stop_after)));
  }
  line("state hash", fmt::format("{:016x}", simulator_.state_hash()));
  const std::vector<Observable> observables = scene_.observables(simulator_);
  if (observables.empty()) return text;
  using Align = TextTable::Align;
  TextTable table({{"observable", Align::left}, {"value", Align::right}, {"", Align::left}});
  for (const Observable& o : observables) table.add_row({o.name, fmt::format("{:.10g}", o.value), o.unit});
  return text + table.str("  ");
}

std::string SimRun::json(const std::string& failure) const {
  using nlohmann::ordered_json;
  const double wall = times_.total(), simulated = simulator_.state().time - scene_.start.time;
  const auto energy = [](const Energy& e) {
    return ordered_json{
        {"kinetic", e.kinetic}, {"weight", e.weight}, {"springs", e.springs}, {"total", e.total()}};
  };
  ordered_json out;
  out["scene"] = scene_.name;
  out["solver"] = simulator_.settings().solver;
  out["law"] = simulator_.settings().law == Law::exact ? "exact" : "convex";
  out["scheme"] = to_string(simulator_.settings().scheme);
  out["dt"] = simulator_.time_step();
  out["steps"] = simulator_.step_count();
  out["planned_steps"] = options_.endless ? steps_ : planned_steps();
  out["steps_per_second"] = simulator_.step_count() / std::max(wall, 1e-12);
  out["cpu_seconds"] = seconds_;
  out["record_cpu_seconds"] = record_seconds_;
  out["real_time_factor"] = simulated / std::max(wall, 1e-12);
  out["contacts_mean"] = per_step(contacts_);
  out["iterations_mean"] = per_step(iterations_);
  out["certificate"] = {{"worst", worst_},
                        {"worst_step", worst_step_},
                        {"mean", per_step(errors_)},
                        {"tolerance", simulator_.settings().tolerance}};
  out["missed_steps"] = missed_steps();
  out["infeasible_steps"] = infeasible_;
  if (std::isfinite(options_.budget)) {
    out["budget"] = {
        {"milliseconds", 1e3 * options_.budget},
        {"reached", budget_steps_},
        {"worst_error", budget_worst_},
        {"mean_error", budget_steps_ > 0 ? budget_errors_ / static_cast<double>(budget_steps_) : 0.0}};
  }
  out["penetration"] = penetration_;
  out["penetration_end"] = last_penetration_;
  out["time_split"] = {{"kinematics", times_.kinematics},
                       {"collision", times_.collision},
                       {"assembly", times_.assembly},
                       {"solve", times_.solve},
                       {"integrate", times_.integrate}};
  out["energy"] = {{"begin", energy(begin_)}, {"end", energy(simulator_.energy())}};
  if (balance_) {
    out["energy"]["maximum"] = balance_->maximum();
    out["energy"]["drive_work"] = balance_->work();
    out["energy"]["correction_work"] = balance_->correction_work();
    out["energy"]["created"] = balance_->created();
    out["energy"]["largest_rise"] = balance_->largest_rise();
  }
  ordered_json observables = ordered_json::object();
  for (const Observable& o : scene_.observables(simulator_)) observables[o.name] = o.value;
  out["observables"] = observables;
  out["state_hash"] = fmt::format("{:016x}", simulator_.state_hash());
  std::vector<std::string> keyframes;
  for (const Keyframe& key : simulator_.world().keyframes) keyframes.push_back(key.name);
  out["model"] = {{"dofs", simulator_.model().dof_count()},
                  {"keyframes", keyframes},
                  {"actuators", simulator_.model().actuators().size()},
                  {"mass", moving_mass(simulator_.model())}};
  out["max_speed_end"] = simulator_.state().v.size() > 0 ? simulator_.state().v.cwiseAbs().maxCoeff() : 0.0;
  ordered_json warnings = ordered_json::array();
  for (const LoadWarning& w : options_.warnings) {
    warnings.push_back({{"file", w.file}, {"line", w.line}, {"message", w.message}});
  }
  out["warnings"] = warnings;
  if (!failure.empty()) out["failure"] = failure;
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tribo::cli
