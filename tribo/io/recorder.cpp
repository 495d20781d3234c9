#include "tribo/io/recorder.h"

#include <fmt/format.h>

#include <fstream>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_writer.h"
#include "tribo/io/flexible_recording.h"
#include "tribo/io/replay/world_json.h"
#include "tribo/version.h"

namespace tribo {

namespace {

namespace fs = std::filesystem;

void append(std::vector<double>& to, const Vec3& x) { to.insert(to.end(), x.data(), x.data() + 3); }
void append(std::vector<double>& to, const Vector& x) { to.insert(to.end(), x.data(), x.data() + x.size()); }

// A cell of CSV (RFC 4180): joints may have any name.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string number_names(const Model& model, bool velocities) {
  std::string names;
  for (Index j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(j);
    const std::string owner = joint.name.empty() ? model.body_name(joint.body) : joint.name;
    const JointTraits& traits = traits_of(joint.kind);
    for (Index k = 0; k < (velocities ? traits.dofs : traits.coordinates); ++k) {
      const std::string_view part = velocities ? traits.dof_names[k] : traits.coordinate_names[k];
      const std::string name = traits.is_scalar() ? fmt::format("{}{}", owner, velocities ? ".rate" : "")
                                                  : fmt::format("{}.{}", owner, part);
      names += ',';
      names += cell(name);
    }
  }
  return names;
}

}  // namespace

struct Recorder::Data {
  explicit Data(const World& simulated) : flexible(simulated) {}

  fs::path file, temporary;
  bool csv = false, finished = false;
  Index every = 1, bodies = 0, coordinates = 0, dofs = 0, activations = 0;
  std::string world, solver, law, scheme, body_names, geom_names, csv_header;
  double time_step = 0.0, tolerance = 0.0;
  std::vector<double> time, step, q, v, activation, position, rotation;
  std::vector<double> contact_position, contact_normal, contact_impulse, contact_torque, contact_gap,
      contact_geoms, contact_area, contact_pressure;
  bool any_torque = false, any_face = false;
  std::vector<Index> contact_start{0};
  std::vector<double> contact_velocity, contact_friction, contact_error, contact_island, contact_state;
  std::vector<double> solve_time, step_time;
  std::string view_world;
  double quantum = 0.0;
  detail::FlexibleRecording flexible;
  std::vector<double> contacts, error, iterations, islands, missed, penetration, kinetic, weight, springs;

  void frame(const Simulator& simulator, const StepReport& report);
  void add_contacts(const Simulator& simulator);
  void write_csv() const;
  void write_hdf5() const;
};

void Recorder::Data::add_contacts(const Simulator& simulator) {
  const std::vector<ContactDetail>& details = simulator.contact_details();
  for (std::size_t c = 0; c < simulator.contacts().size(); ++c) {
    const Contact& contact = simulator.contacts()[c];
    append(contact_position, contact.position);
    append(contact_normal, contact.normal);
    append(contact_impulse, simulator.contact_impulses()[c]);
    append(contact_torque, simulator.contact_torques()[c]);
    any_torque = any_torque || !simulator.contact_torques()[c].isZero(0.0);
    append(contact_velocity, details[c].velocity);
    contact_friction.push_back(details[c].friction);
    contact_error.push_back(details[c].error);
    contact_island.push_back(details[c].island);
    contact_state.push_back(static_cast<double>(details[c].state));
    contact_gap.push_back(contact.gap);
    contact_area.push_back(contact.area);
    contact_pressure.push_back(contact.pressure());
    any_face = any_face || contact.is_face();
    contact_geoms.push_back(contact.geom_a);
    contact_geoms.push_back(contact.geom_b);
  }
  contact_start.push_back(static_cast<Index>(contact_gap.size()));
}

void Recorder::Data::frame(const Simulator& simulator, const StepReport& report) {
  const Energy energy = simulator.energy();
  time.push_back(simulator.state().time);
  step.push_back(static_cast<double>(report.step));
  append(q, simulator.state().q);
  append(v, simulator.state().v);
  append(activation, simulator.state().activation);
  contacts.push_back(report.contacts);
  error.push_back(report.error);
  iterations.push_back(report.iterations);
  islands.push_back(report.islands);
  missed.push_back(report.missed_islands);
  penetration.push_back(report.penetration);
  kinetic.push_back(energy.kinetic);
  weight.push_back(energy.weight);
  springs.push_back(energy.springs);
  solve_time.push_back(report.times.solve);
  step_time.push_back(report.times.total());
  if (csv) return;
  for (Index b = 0; b < bodies; ++b) {
    append(position, simulator.kinematics().pose(b).position);
    const Quat& turn = simulator.kinematics().orientation(b);
    for (const double x : {turn.w(), turn.x(), turn.y(), turn.z()}) rotation.push_back(x);
  }
  add_contacts(simulator);
  flexible.add(simulator);
}

void Recorder::Data::write_csv() const {
  std::ofstream out(temporary);
  out << csv_header << '\n';
  for (std::size_t f = 0; f < time.size(); ++f) {
    out << fmt::format("{},{},{},{},{},{},{},{},{}", time[f], step[f], contacts[f], error[f], iterations[f],
                       penetration[f], kinetic[f], weight[f], springs[f]);
    for (Index k = 0; k < coordinates; ++k) out << fmt::format(",{}", q[f * coordinates + k]);
    for (Index k = 0; k < dofs; ++k) out << fmt::format(",{}", v[f * dofs + k]);
    out << '\n';
  }
  out.close();
  if (!out) throw InvalidInput(fmt::format("{}: cannot be written; is the disk full?", file.string()));
}

void Recorder::Data::write_hdf5() const {
  detail::Hdf5Writer out(temporary);
  const std::uint64_t frames = time.size(), count = contact_gap.size();
  const auto table = [&](const char* name, const std::vector<double>& values,
                         std::vector<std::uint64_t> extents) { out.array(name, values, extents); };
  table("time", time, {frames});
  table("step", step, {frames});
  table("q", q, {frames, static_cast<std::uint64_t>(coordinates)});
  table("v", v, {frames, static_cast<std::uint64_t>(dofs)});
  if (activations > 0) table("activation", activation, {frames, static_cast<std::uint64_t>(activations)});
  table("body_position", position, {frames, static_cast<std::uint64_t>(bodies), 3});
  table("body_rotation", rotation, {frames, static_cast<std::uint64_t>(bodies), 4});
  out.integers("contact_start", contact_start);
  table("contact_position", contact_position, {count, 3});
  table("contact_normal", contact_normal, {count, 3});
  table("contact_impulse", contact_impulse, {count, 3});
  if (any_torque) table("contact_torque", contact_torque, {count, 3});
  table("contact_gap", contact_gap, {count});
  if (any_face) {
    table("contact_area", contact_area, {count});
    table("contact_pressure", contact_pressure, {count});
  }
  table("contact_geoms", contact_geoms, {count, 2});
  table("contact_velocity", contact_velocity, {count, 3});
  table("contact_friction", contact_friction, {count});
  table("contact_error", contact_error, {count});
  table("contact_island", contact_island, {count});
  table("contact_state", contact_state, {count});
  table("error", error, {frames});
  table("iterations", iterations, {frames});
  table("islands", islands, {frames});
  table("missed", missed, {frames});
  table("penetration", penetration, {frames});
  table("kinetic_energy", kinetic, {frames});
  table("weight_energy", weight, {frames});
  table("spring_energy", springs, {frames});
  table("solve_time", solve_time, {frames});
  table("step_time", step_time, {frames});
  out.group("view");
  out.bytes("view/world", view_world);
  out.real("view/position_quantum", quantum);
  out.group("info");
  out.text("info/world", world);
  out.text("info/solver", solver);
  out.text("info/law", law);
  out.text("info/scheme", scheme);
  out.text("info/version", std::string(version()));
  out.real("info/time_step", time_step);
  out.real("info/tolerance", tolerance);
  out.group("names");
  out.text("names/bodies", body_names);
  out.text("names/geoms", geom_names);
  flexible.write(out);
  out.close();
}

Recorder::Recorder(fs::path file, const Simulator& simulator, Index every)
    : data_(std::make_unique<Data>(simulator.world())) {
  Data& d = *data_;
  const std::string extension = file.extension().string();
  if (extension != ".csv" && extension != ".h5" && extension != ".hdf5") {
    throw InvalidInput(fmt::format("{}: a recording ends in .h5, .hdf5 or .csv", file.string()));
  }
  if (every < 1) throw InvalidInput(fmt::format("every is {}: it must be >= 1", every));
  d.file = std::move(file);
  d.temporary = d.file;
  d.temporary += ".part";
  if (!std::ofstream(d.temporary)) {
    throw InvalidInput(
        fmt::format("{}: cannot be created; choose a folder that exists and is writable", d.file.string()));
  }
  d.csv = extension == ".csv";
  d.every = every;
  const Model& model = simulator.model();
  d.bodies = model.body_count();
  d.coordinates = model.coordinate_count();
  d.dofs = model.dof_count();
  d.activations = model.activation_count();
  d.world = simulator.world().name;
  d.solver = simulator.settings().solver;
  d.law = simulator.settings().law == Law::exact ? "exact" : "convex";
  d.scheme = to_string(simulator.settings().scheme);
  d.time_step = simulator.time_step();
  d.tolerance = simulator.settings().tolerance;
  for (Index b = 0; b < d.bodies; ++b) d.body_names += model.body_name(b) + "\n";
  for (const Geom& geom : simulator.world().geoms) d.geom_names += geom.name + "\n";
  if (!d.csv) {
    detail::RunFacts facts = detail::facts_of(simulator, "", 0.0);
    facts.frame_time *= every;
    const detail::FlexibleLook look(simulator.world());
    d.view_world = detail::world_json(simulator.world(), facts, &look);
    d.quantum = detail::position_quantum(simulator.world());
  }
  d.csv_header =
      "time,step,contacts,error,iterations,penetration,kinetic_energy,weight_energy,spring_energy" +
      number_names(model, false) + number_names(model, true);
  StepReport begin;
  begin.step = simulator.step_count();
  d.frame(simulator, begin);
}

Recorder::~Recorder() {
  if (data_->finished) return;
  std::error_code ignored;
  fs::remove(data_->temporary, ignored);
}

Index Recorder::frame_count() const { return static_cast<Index>(data_->time.size()); }

void Recorder::record(const Simulator& simulator, const StepReport& report) {
  if (report.step % data_->every == 0) data_->frame(simulator, report);
}

void Recorder::finish() {
  Data& d = *data_;
  if (d.csv) {
    d.write_csv();
  } else {
    d.write_hdf5();
  }
  std::error_code error;
  fs::rename(d.temporary, d.file, error);
  if (error) throw InvalidInput(fmt::format("{}: cannot be written: {}", d.file.string(), error.message()));
  d.finished = true;
}

}  // namespace tribo
