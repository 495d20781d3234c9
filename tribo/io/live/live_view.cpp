#include "tribo/io/live/live_view.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tribo/base/errors.h"
#include "tribo/formats/problem_file.h"
#include "tribo/io/live/command.h"
#include "tribo/io/live/live_replay.h"
#include "tribo/io/live/live_server.h"
#include "tribo/io/replay/chunk.h"
#include "tribo/io/replay/page.h"
#include "tribo/io/replay/world_json.h"

namespace tribo {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using detail::LiveAction;
using detail::LiveCommand;
using nlohmann::ordered_json;

constexpr auto kNap = std::chrono::milliseconds(20);
constexpr auto kStatusEvery = std::chrono::milliseconds(200);
constexpr double kLate = 0.1;  // s of wall clock; what is later than this is not caught up with

std::string error_json(const std::string& message) {
  return ordered_json{{"ok", false}, {"error", message}}.dump(-1, ' ', false,
                                                              ordered_json::error_handler_t::replace);
}

}  // namespace

struct LiveView::Data {
  struct Waiting {
    LiveCommand command;
    std::promise<detail::LiveServer::Reply> reply;
  };
  struct Push {
    Vec3 point, force;  // in the body's frame; world
    double until;       // simulated s
  };

  Simulator& simulator;
  LiveViewSettings settings;
  State start;
  Vec3 start_gravity;
  Vector start_control;
  detail::FlexibleLook look;
  Index bodies;
  double quantum;
  std::string name;

  // Of the simulating thread.
  bool playing = true, failed = false, status_changed = true;
  double speed = 1.0;
  std::int64_t steps_due = 0;
  Clock::time_point origin = Clock::now();  // of wall clock, where the simulated time was ...
  double origin_time = 0.0;                 // ... this one
  Clock::time_point last_frame = {}, last_status = {};
  std::map<Index, Push> pushes;      // by body
  std::map<Index, double> controls;  // by actuator
  StepReport report;                 // of the last step
  bool stepped = false;
  std::string message;
  detail::ReplayFrame frame;
  std::unique_ptr<detail::LiveReplay> replay;
  const std::function<void()>* on_reset = nullptr;  // of the view

  // Between the threads.
  std::atomic<bool> stopped = false, wants_frame = false;
  std::mutex mutex;
  std::condition_variable arrived;
  std::deque<Waiting> queue;
  bool closed = false;

  std::unique_ptr<detail::LiveServer> server;  // last: it calls the others

  Data(Simulator& s, LiveViewSettings given);
  ~Data();
  detail::LiveServer::Reply take(const std::string& body);
  void apply_all();
  detail::LiveServer::Reply apply(const LiveCommand& command);
  void start_clock();
  void reset();
  std::string dump() const;
  void push_bodies(Vector& added);
  void show_frame();
  void show_status();
  void show(bool must);
};

LiveView::Data::Data(Simulator& s, LiveViewSettings given)
    : simulator(s),
      settings(std::move(given)),
      start(s.state()),
      start_gravity(s.world().gravity),
      start_control(s.control()),
      look(s.world()),
      bodies(s.model().body_count() - 1 + static_cast<Index>(look.pieces().size())),
      quantum(detail::position_quantum(s.world())),
      name(!settings.name.empty() ? settings.name : s.world().name),
      playing(!settings.paused),
      speed(settings.speed) {
  const auto refuse = [](std::string_view field, double value, std::string_view rule) {
    throw InvalidInput(fmt::format("{} of a live view is {}: it must be {}", field, value, rule));
  };
  if (settings.port < 0 || settings.port > 65535) refuse("port", settings.port, "between 0 and 65535");
  if (!(std::isfinite(speed) && speed >= 0.0)) refuse("speed", speed, "finite and >= 0");
  if (!(std::isfinite(settings.frames_per_second) && settings.frames_per_second > 0.0)) {
    refuse("frames_per_second", settings.frames_per_second, "finite and > 0");
  }
  detail::require_viewer("live view");
  server = std::make_unique<detail::LiveServer>(
      settings.address, settings.port, detail::world_json(s.world(), detail::facts_of(s, name, 0.0), &look),
      [this](const std::string& body) { return take(body); },
      [this] {
        wants_frame = true;
        arrived.notify_all();
      });
  replay = std::make_unique<detail::LiveReplay>(name);
  replay->begin(s);
  start_clock();
}

LiveView::Data::~Data() {
  {
    const std::lock_guard lock(mutex);
    closed = true;
    for (Waiting& waiting : queue) waiting.reply.set_value({503, error_json("the simulation has ended")});
    queue.clear();
  }
  server.reset();
}

// On a thread of the server: the command waits for its turn between two steps.
detail::LiveServer::Reply LiveView::Data::take(const std::string& body) {
  constexpr auto kPatience = std::chrono::seconds(10);
  Waiting waiting;
  try {
    waiting.command = detail::parse_command(body, simulator.model());
  } catch (const InvalidInput& error) {
    return {400, error_json(error.what())};
  }
  std::future<detail::LiveServer::Reply> reply = waiting.reply.get_future();
  {
    const std::lock_guard lock(mutex);
    if (closed) return {503, error_json("the simulation has ended")};
    queue.push_back(std::move(waiting));
  }
  arrived.notify_all();
  if (reply.wait_for(kPatience) != std::future_status::ready) {
    return {200, "{\"ok\": true, \"queued\": true}"};  // a long step
  }
  return reply.get();
}

void LiveView::Data::apply_all() {
  std::deque<Waiting> batch;
  {
    const std::lock_guard lock(mutex);
    batch.swap(queue);
  }
  for (Waiting& waiting : batch) {
    detail::LiveServer::Reply reply;
    try {
      reply = apply(waiting.command);
    } catch (const InvalidInput& error) {
      reply = {400, error_json(error.what())};
    }
    waiting.reply.set_value(std::move(reply));
    status_changed = true;
  }
}

detail::LiveServer::Reply LiveView::Data::apply(const LiveCommand& command) {
  const bool moves = command.action == LiveAction::play || command.action == LiveAction::step;
  if (failed && moves) throw InvalidInput("the simulation has failed: reset it first");
  ordered_json answer = {{"ok", true}};
  switch (command.action) {
    case LiveAction::play:
      playing = true;
      start_clock();
      break;
    case LiveAction::pause:
      playing = false;
      steps_due = 0;
      wants_frame = true;
      break;
    case LiveAction::step:
      playing = false;
      steps_due += command.steps;
      break;
    case LiveAction::reset:
      reset();
      break;
    case LiveAction::speed:
      speed = command.value;
      start_clock();
      break;
    case LiveAction::push:
      pushes[command.number] = {simulator.kinematics().pose(command.number).to_local(command.point),
                                command.force, simulator.state().time + command.seconds};
      break;
    case LiveAction::control:
      controls[command.number] = simulator.control()[command.number] = command.value;
      break;
    case LiveAction::gravity:
      simulator.set_gravity(command.gravity);
      break;
    case LiveAction::dump:
      answer["file"] = dump();
      break;
    case LiveAction::save:
      answer["file"] = replay->save(settings.folder, simulator.missed_steps()).string();
      break;
  }
  return {200, answer.dump(-1, ' ', false, ordered_json::error_handler_t::replace)};
}

void LiveView::Data::start_clock() {
  origin = Clock::now();
  origin_time = simulator.state().time;
}

void LiveView::Data::reset() {
  simulator.set_gravity(start_gravity);
  simulator.restart(start);
  simulator.control() = start_control;
  pushes.clear();
  controls.clear();
  report = StepReport();
  stepped = failed = false;
  message.clear();
  if (*on_reset) (*on_reset)();
  replay->begin(simulator);
  start_clock();
  server->send_world();
  wants_frame = true;
}

std::string LiveView::Data::dump() const {
  if (!stepped) throw InvalidInput("there is no step yet whose problem could be written");
  const fs::path file = detail::fresh_file(
      settings.folder, fmt::format("{}-step{}", detail::file_stem(name), report.step), ".hdf5");
  const Vector guess = simulator.problem_guess();
  WriteOptions options;
  options.title = name;
  options.description = fmt::format("live view of {}, step {}", name, report.step);
  options.guess = &guess;
  write_problem(file, simulator.problem(), options);
  return fs::absolute(file).string();
}

// Generalised forces of what viewers push, on top of the user's own.
void LiveView::Data::push_bodies(Vector& added) {
  added.setZero(simulator.model().dof_count());
  const Kinematics& kinematics = simulator.kinematics();
  const double now = simulator.state().time + 1e-9 * simulator.time_step();
  for (auto push = pushes.begin(); push != pushes.end();) {
    if (push->second.until <= now) {
      push = pushes.erase(push);
      continue;
    }
    const Vec3 point = kinematics.pose(push->first) * push->second.point;
    kinematics.add_force(push->first, point, push->second.force, Vec3::Zero(), added);
    ++push;
  }
}

void LiveView::Data::show_frame() {
  if (stepped) {
    detail::take_frame(simulator, report, look, frame);
  } else {
    detail::take_start(simulator, look, frame);
  }
  server->send_chunk(detail::base64(detail::encode_chunk({&frame, 1}, bodies, quantum, 1)));
}

void LiveView::Data::show_status() {
  const Vec3& g = simulator.world().gravity;
  ordered_json status = {{"state", playing ? "playing" : "paused"},
                         {"time", simulator.state().time},
                         {"speed", speed},
                         {"viewers", server->viewer_count()},
                         {"gravity", {g[0], g[1], g[2]}}};
  ordered_json actuators = ordered_json::array();
  for (std::size_t k = 0; k < simulator.model().actuators().size(); ++k) {
    const ActuatorDescription& a = simulator.model().actuators()[k];
    actuators.push_back({{"name", a.name.empty() ? fmt::format("actuator {}", k) : a.name},
                         {"value", simulator.control()[static_cast<Index>(k)]},
                         {"low", a.control_lower},
                         {"high", a.control_upper}});
  }
  status["actuators"] = std::move(actuators);
  if (!message.empty()) {
    status["message"] = message;
  } else if (!replay->problem().empty()) {
    status["message"] = "The replay is no longer recorded: " + replay->problem();
  }
  server->send_status(status.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void LiveView::Data::show(bool must) {
  const bool asked = wants_frame.exchange(false);
  if (server->viewer_count() == 0) return;
  const auto now = Clock::now();
  if (asked || status_changed || now - last_status >= kStatusEvery) {
    last_status = now;
    status_changed = false;
    show_status();
  }
  const std::chrono::duration<double> pause(1.0 / settings.frames_per_second);
  if (!asked && (!must || (playing && now - last_frame < pause))) return;
  last_frame = now;
  show_frame();
}

LiveView::LiveView(Simulator& simulator, LiveViewSettings settings)
    : data_(std::make_unique<Data>(simulator, std::move(settings))) {
  data_->on_reset = &on_reset;
}
LiveView::~LiveView() = default;

std::string LiveView::url() const {
  const std::string& address = data_->settings.address;
  const bool six = address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}/?token={}", six ? "[" : "", address, six ? "]" : "",
                     data_->server->port(), data_->server->token());
}

int LiveView::viewer_count() const { return data_->server->viewer_count(); }
void LiveView::stop() { data_->stopped = true; }

bool LiveView::wait() {
  Data& d = *data_;
  while (!d.stopped) {
    if (interrupted && interrupted()) return false;
    d.apply_all();
    d.show(false);
    auto until = Clock::now() + kNap;
    if (d.steps_due > 0) {
      --d.steps_due;
      return true;
    }
    if (d.playing) {
      if (d.speed == 0.0) return true;
      const double due = (d.simulator.state().time - d.origin_time) / d.speed;  // s after the origin
      const double late = std::chrono::duration<double>(Clock::now() - d.origin).count() - due;
      if (late >= 0.0) {
        if (late > kLate) d.start_clock();
        return true;
      }
      until = std::min(until, Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                 std::chrono::duration<double>(std::min(-late, 1.0))));
    }
    std::unique_lock lock(d.mutex);
    d.arrived.wait_until(lock, until, [&d] { return !d.queue.empty() || d.wants_frame || d.stopped; });
  }
  return false;
}

StepReport LiveView::step() {
  Data& d = *data_;
  for (const auto& [index, value] : d.controls) d.simulator.control()[index] = value;
  const Vector own = d.simulator.force();
  Vector added;
  d.push_bodies(added);
  d.simulator.force() += added;
  try {
    d.report = d.simulator.step();
  } catch (const InvalidInput& error) {
    d.simulator.force() = own;
    d.failed = true;
    d.playing = false;
    d.message = error.what();
    d.status_changed = true;
    d.show(false);
    throw;
  }
  d.simulator.force() = own;
  d.stepped = true;
  d.replay->record(d.simulator, d.report);
  d.show(true);
  return d.report;
}

}  // namespace tribo
