// tribo sim: simulates a file or a built-in scene and says how it went.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>

#include "apps/tribo/commands.h"
#include "apps/tribo/model_folder.h"
#include "apps/tribo/sim_outputs.h"
#include "apps/tribo/sim_run.h"
#include "apps/tribo/sim_start.h"
#include "apps/tribo/solve_options.h"
#include "apps/tribo/verified_solution.h"
#include "tribo/base/errors.h"
#include "tribo/formats/problem_file.h"
#include "tribo/io/load.h"
#include "tribo/io/mjcf/writer.h"
#include "tribo/io/state_file.h"
#include "tribo/sim/contact/initial_overlaps.h"

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

struct SimCommand {
  std::string file, scene, solver = "auto", law = "exact", scheme, keyframe, write_mjcf, state, save_state,
                           models;
  std::optional<Index> frame;
  std::vector<std::string> parameters, dumps, packages;
  std::optional<double> dt, time, stop_after, budget;
  double tolerance = SimulatorSettings{}.tolerance;
  double time_limit = SimulatorSettings{}.time_limit;
  Index threads = 1;
  SimOutputOptions outputs;
  bool json = false, quiet = false, strict = false, floating = false, no_warm_start = false, sleeping = false,
       warm_up = false, hold = false, zero_control = false, energy = false, allow_missing = false,
       exclude_initial_overlaps = false;

  ExitCode run();

 private:
  Scene load(std::vector<LoadWarning>& warnings) const;
  Scene make(std::vector<LoadWarning>& warnings) const;
  Scene load_file(std::vector<LoadWarning>& warnings) const;
  RobotLoader model_loader(std::vector<LoadWarning>& warnings) const;
  void report_overlaps(Scene& loaded, std::vector<LoadWarning>& warnings) const;
  ExitCode write(Scene loaded) const;
  void find_file();
  void check() const;
  void check_outputs(const std::vector<ProblemDump>& problems) const;
  void apply(SimulatorSettings& settings) const;
  std::vector<ProblemDump> problem_dumps() const;
};

constexpr double kMaxSteps = 1e12;
constexpr double kForever = std::numeric_limits<double>::infinity();

std::vector<ProblemDump> SimCommand::problem_dumps() const {
  std::vector<ProblemDump> list;
  for (const std::string& text : dumps) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
      throw InvalidInput(fmt::format("--dump-problem {}: write STEP:FILE, for example 100:step.hdf5", text));
    }
    const double step = parse_number("--dump-problem " + text, text.substr(0, colon));
    if (!(step >= 1.0 && step <= kMaxSteps) || step != std::floor(step)) {
      throw InvalidInput(fmt::format("--dump-problem {}: the step must be a whole number >= 1", text));
    }
    const std::string path = text.substr(colon + 1);
    require_fclib_name("--dump-problem", path);
    require_writable("--dump-problem", path);
    list.push_back({static_cast<std::int64_t>(step), path});
  }
  return list;
}

// What cannot be: before anything is loaded.
void SimCommand::check() const {
  const auto positive = [](std::string_view option, double value) {
    if (!(value > 0.0 && std::isfinite(value))) {
      throw InvalidInput(fmt::format("{} {}: it must be a number > 0", option, value));
    }
  };
  if (file.empty() == scene.empty()) {
    throw InvalidInput("give either a file (.xml, .urdf) or --scene NAME; 'tribo scenes' lists the scenes");
  }
  if (!file.empty() && !parameters.empty()) {
    throw InvalidInput("--set belongs to --scene; a file has its own numbers");
  }
  if (!scene.empty() && (!keyframe.empty() || !packages.empty() || strict || allow_missing ||
                         exclude_initial_overlaps || floating)) {
    throw InvalidInput(
        "--keyframe, --package, --strict, --allow-missing, --exclude-initial-overlaps and --floating belong "
        "to a file, "
        "not to --scene");
  }
  if (!file.empty() && !models.empty())
    throw InvalidInput("--models belongs to --scene; a file is a model itself");
  if (!scene.empty() && (hold || zero_control)) {
    throw InvalidInput("--hold and --zero-control belong to a file; a scene has its own controls");
  }
  if (!state.empty() && !keyframe.empty()) throw InvalidInput("--state and --keyframe exclude each other");
  if (frame && state.empty()) throw InvalidInput("--state-frame belongs to --state");
  if (!save_state.empty()) require_writable("--save-state", save_state);
  if (hold && zero_control) throw InvalidInput("--hold and --zero-control exclude each other");
  if (dt) positive("--dt", *dt);
  if (time) positive("--time", *time);
  if (stop_after) positive("--stop-after", *stop_after);
  if (budget) positive("--budget", *budget);
  positive("--tol", tolerance);
  if (!(time_limit > 0.0)) throw InvalidInput(fmt::format("--time-limit {}: it must be > 0 s", time_limit));
  if (threads < 1 || threads > 1024) {
    throw InvalidInput(fmt::format("--threads {}: it must be between 1 and 1024", threads));
  }
  outputs.check();
  if (outputs.view && warm_up) throw InvalidInput("--warm-up is for measuring speed: not with --view");
}

// Every result in a file of its own, and none in the place of the model.
void SimCommand::check_outputs(const std::vector<ProblemDump>& problems) const {
  std::vector<std::string> files;
  if (!file.empty()) files.push_back(file);
  for (const std::string& output : outputs.files()) files.push_back(output);
  if (!write_mjcf.empty()) files.push_back(write_mjcf);
  if (!state.empty()) files.push_back(state);
  if (!save_state.empty()) files.push_back(save_state);
  for (const ProblemDump& dump : problems) files.push_back(dump.file);
  for (std::size_t a = 0; a < files.size(); ++a) {
    for (std::size_t b = a + 1; b < files.size(); ++b) {
      if (same_file(files[a], files[b])) {
        throw InvalidInput(
            fmt::format("{} and {} are the same file; each needs its own", files[a], files[b]));
      }
    }
  }
}

// Warns of bodies that overlap where it begins; leaves out those that can never come apart if that is asked for.
void SimCommand::report_overlaps(Scene& loaded, std::vector<LoadWarning>& warnings) const {
  for (const InitialOverlap& overlap : initial_overlaps(loaded.world, loaded.start)) {
    const bool left_out = exclude_initial_overlaps && overlap.within_mechanism;
    const std::string message =
        describe(loaded.world, overlap) +
        (left_out                   ? "; their contacts are left out"
         : overlap.within_mechanism ? "; they are led apart (--exclude-initial-overlaps leaves them out)"
                                    : "; they are led apart");
    if (left_out) exclude(loaded.world, overlap);
    if (!quiet) print_error(fmt::format("warning: {}: {}", file, message));
    warnings.push_back({.file = file, .line = 0, .message = message});
  }
}

Scene SimCommand::load_file(std::vector<LoadWarning>& warnings) const {
  if (fs::is_directory(file)) throw InvalidInput(fmt::format("{} is a directory: name a model file", file));
  LoadOptions options;
  options.strict = strict;
  options.allow_missing = allow_missing;
  options.fixed_base = !floating;
  options.visuals = outputs.wants_visuals();
  for (const std::string& text : packages) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw InvalidInput(fmt::format("--package {}: write NAME=FOLDER", text));
    options.packages.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  LoadReport report;
  Scene loaded = detail::empty_scene(fs::path(file).stem().string(), 0.0, 0.002);
  loaded.world = load_world(file, options, report);
  for (const LoadWarning& w : report.warnings) {
    if (!quiet) print_error(fmt::format("warning: {}:{}: {}", w.file, w.line, w.message));
  }
  warnings = std::move(report.warnings);
  if (dt) loaded.world.time_step = *dt;
  loaded.start = initial_state(loaded.world.model);
  Vector control;
  if (!keyframe.empty()) {
    const Keyframe& key = find_keyframe(loaded.world, keyframe, file);
    loaded.start = key.state;
    control = key.control;
  }
  if (!state.empty()) loaded.start = read_state(loaded.world.model, state, frame);
  report_overlaps(loaded, warnings);
  if (hold) control = holding_control(loaded.world, loaded.start, control);
  if (zero_control) control.setZero();
  if (control.size() > 0) loaded.control = [control](Simulator& s) { s.control() = control; };
  return loaded;
}

RobotLoader SimCommand::model_loader(std::vector<LoadWarning>& warnings) const {
  if (models.empty()) return {};
  return models_of({models, scene, outputs.wants_visuals(), [this, &warnings](const LoadWarning& w) {
                      if (!quiet) print_error(fmt::format("warning: {}:{}: {}", w.file, w.line, w.message));
                      warnings.push_back(w);
                    }});
}

Scene SimCommand::make(std::vector<LoadWarning>& warnings) const {
  return make_scene(scene, parse_parameters(parameters), dt.value_or(0.0), model_loader(warnings));
}

Scene SimCommand::load(std::vector<LoadWarning>& warnings) const {
  if (!file.empty()) return load_file(warnings);
  std::vector<std::string> names;
  for (const SceneInfo& info : scene_catalogue()) names.emplace_back(info.name);
  index_of_name("scene", scene, names);
  Scene loaded = make(warnings);
  if (!state.empty()) loaded.start = read_state(loaded.world.model, state, frame);
  return loaded;
}

void SimCommand::apply(SimulatorSettings& settings) const {
  settings.solver = solver;
  make_named_solver(solver);
  const std::vector<std::string> laws{"exact", "convex"};
  settings.law = index_of_name("law", law, laws) == 0 ? Law::exact : Law::convex;
  if (!scheme.empty()) settings.scheme = scheme_from_name(scheme);
  settings.tolerance = tolerance;
  settings.time_limit =
      std::min({time_limit, stop_after.value_or(kForever), 1e-3 * budget.value_or(kForever)});
  settings.threads = threads;
  settings.warm_start = !no_warm_start;
  settings.sleeping = sleeping;
}

// The start becomes a keyframe where it is not what the model itself describes.
ExitCode SimCommand::write(Scene loaded) const {
  require_writable("--write-mjcf", write_mjcf);
  const State described = initial_state(loaded.world.model);
  if (loaded.start.q != described.q || loaded.start.v != described.v) {
    const auto actuators = static_cast<Eigen::Index>(loaded.world.model.actuators().size());
    loaded.world.keyframes.push_back({"start", loaded.start, Vector::Zero(actuators)});
  }
  loaded.world.name = loaded.name;
  tribo::write_mjcf(loaded.world, write_mjcf);
  return ExitCode::success;
}

// `--view robot.xml`: what follows is no port but the file.
void SimCommand::find_file() {
  const bool is_port = !outputs.view || outputs.view->find_first_not_of("0123456789") == std::string::npos;
  if (is_port || !file.empty() || !scene.empty()) return;
  file = *outputs.view;
  outputs.view = "";
}

ExitCode SimCommand::run() {
  find_file();
  check();
  const std::vector<ProblemDump> problems = problem_dumps();
  check_outputs(problems);
  std::vector<LoadWarning> warnings;
  Scene loaded = load(warnings);
  if (!write_mjcf.empty()) return write(std::move(loaded));
  apply(loaded.settings);
  if (time || !file.empty()) loaded.duration = time.value_or(10.0);
  for (const Snapshot& shot : outputs.snapshots()) {
    if (shot.time > loaded.duration) {
      throw InvalidInput(fmt::format("--snapshot t={:g}:{}: the simulation ends at {:g} s (--time)",
                                     shot.time, shot.file, loaded.duration));
    }
  }
  if (loaded.duration / loaded.world.time_step > kMaxSteps) {
    throw InvalidInput(fmt::format("{:g} s in steps of {:g} s are more than {:g} steps: give --time or --dt",
                                   loaded.duration, loaded.world.time_step, kMaxSteps));
  }
  SimRun run(std::move(loaded), {.progress = !quiet && !json,
                                 .warm_up = warm_up,
                                 .outputs = outputs,
                                 .endless = outputs.view && !time,
                                 .dumps = problems,
                                 .follow_energy = energy,
                                 .stop_after = stop_after.value_or(kForever),
                                 .budget = 1e-3 * budget.value_or(kForever),
                                 .warnings = std::move(warnings),
                                 .make_again = scene.empty() ? std::function<Scene()>()
                                                             : [this, &warnings] { return make(warnings); }});
  try {
    run.go();
  } catch (const InvalidInput& error) {
    // A state that is no longer finite: scripts still learn how far it came and what was missed before.
    if (json && run.has_begun()) fmt::print("{}", run.json(error.what()));
    throw;
  }
  if (!save_state.empty()) write_state(run.simulator().model(), run.simulator().state(), save_state);
  fmt::print("{}", json ? run.json() : run.text());
  if (SimRun::ended_by() != 0 && !outputs.view) {  // whoever waits for the program learns that it was ended
    std::fflush(stdout);
    std::signal(SimRun::ended_by(), SIG_DFL);
    std::raise(SimRun::ended_by());
  }
  return run.missed_steps() == run.budget_steps() ? ExitCode::success : ExitCode::not_converged;
}

}  // namespace

void add_sim_command(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand("sim", "Simulate a robot file or a built-in scene");
  const auto state = std::make_shared<SimCommand>();
  command->add_option("FILE", state->file, "MJCF (.xml, .mjcf) or URDF (.urdf)")->type_name("");
  command->add_option("--scene", state->scene, "Built-in scene; 'tribo scenes' lists them")
      ->type_name("NAME");
  command->add_option("--set", state->parameters, "Parameter of the scene; may be given several times")
      ->type_name("NAME=VALUE");
  command
      ->add_option(
          "--models", state->models,
          "Folder of models, as MuJoCo Menagerie: a scene with a robot of primitives takes the model "
          "instead; 'tribo scenes' says which")
      ->type_name("DIR");
  command->add_option("--solver", state->solver, "Solver of every step, with options as in nsgs:omega=1.2")
      ->type_name("S")
      ->capture_default_str();
  command->add_option("--law", state->law, "exact (Coulomb) or convex (its relaxation)")
      ->type_name("L")
      ->capture_default_str();
  command
      ->add_option(
          "--scheme", state->scheme,
          "symplectic-euler, implicit-euler or midpoint (default: the scene's own, else symplectic-euler)")
      ->type_name("S");
  command->add_option("--dt", state->dt, "Time step in s (default: the scene's or the file's own)")
      ->type_name("H");
  command->add_option("--time", state->time, "Simulated time in s (default: the scene's own; files: 10)")
      ->type_name("T");
  command->add_option("--tol", state->tolerance, "Tolerance of the certificate of every step")
      ->type_name("E")
      ->capture_default_str();
  command->add_option("--time-limit", state->time_limit, "Wall clock for each step's solve, in s")
      ->type_name("S");
  command
      ->add_option("--budget", state->budget,
                   "Real time: wall clock for each step's solve, in ms, after which the best impulses so far "
                   "are taken; the summary says how often and what error was left, and that is no failure")
      ->type_name("MS");
  command->add_option("--threads", state->threads, "Threads; the result has the same bits for any number")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--stop-after", state->stop_after,
                   "Wall clock for all steps together, in s: the simulation ends there, and the summary "
                   "says how many steps were done")
      ->type_name("S");
  state->outputs.add_to(*command);
  command
      ->add_option("--dump-problem", state->dumps,
                   "Write the contact problem of step K as FCLIB, with the impulses its solve began with; "
                   "may be given several times")
      ->type_name("K:FILE");
  command
      ->add_option("--write-mjcf", state->write_mjcf,
                   "Write the scene as MJCF, for other simulators, instead of simulating it")
      ->type_name("FILE");
  command
      ->add_option("--keyframe", state->keyframe,
                   "Start from this keyframe of the file, by name or by number from 0, with its controls")
      ->type_name("NAME|NUMBER");
  command
      ->add_option("--state", state->state,
                   "Start from this state: JSON with q, v, joints by name, time, or a recording (.h5)")
      ->type_name("FILE");
  command->add_option("--state-frame", state->frame, "Frame of the recording, from 0 (default: the last one)")
      ->type_name("K");
  command->add_option("--save-state", state->save_state, "Write the state at the end as JSON, for --state")
      ->type_name("FILE");
  command->add_flag("--hold", state->hold,
                    "Constant controls that hold the start: the keyframe's; where it has none but zeros, "
                    "drives with a position gain get the target at which they do not push");
  command->add_flag("--zero-control", state->zero_control,
                    "All controls zero, whatever the keyframe says (without a keyframe they are)");
  command
      ->add_option("--package", state->packages, "URDF: folder of package://NAME; may be given several times")
      ->type_name("NAME=FOLDER");
  command->add_flag("--floating", state->floating, "URDF: the root link floats instead of being fixed");
  command->add_flag("--strict", state->strict,
                    "What the file asks for and tribo does not support is an error");
  command->add_flag(
      "--allow-missing", state->allow_missing,
      "Load the file without ground, tendons or actuators that cannot be loaded, with a warning");
  command->add_flag(
      "--exclude-initial-overlaps", state->exclude_initial_overlaps,
      "No contacts between bodies of one mechanism (or its base and the world) that overlap at the start");
  command->add_flag("--no-warm-start", state->no_warm_start, "Start every solve from zero");
  command->add_flag("--warm-up", state->warm_up,
                    "Simulate everything once before, neither counted nor recorded: for measuring speed");
  command->add_flag("--energy", state->energy,
                    "Follow the energy after every step: its maximum, the work of actuators and applied "
                    "forces, and what was created beyond it");
  command->add_flag("--sleeping", state->sleeping, "Leave out islands at rest until something touches them");
  command->add_flag("--json", state->json, "Print the summary as JSON");
  command->add_flag("-q,--quiet", state->quiet, "No progress bar, no warnings");
  command->footer(
      "Exit code 3: a step's certificate missed the tolerance for another reason than --budget (the summary "
      "says\n"
      "how many and how far).\n"
      "Examples:\n"
      "  tribo sim --scene slope --set angle=20 --set mu=0.4\n"
      "  tribo sim --scene stack --set boxes=20 --time 5 --record stack.html\n"
      "  tribo sim --scene clutter --view 8080\n"
      "  tribo sim humanoid.xml --time 2 --dump-problem 500:step500.hdf5");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
