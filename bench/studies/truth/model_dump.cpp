// Prints what tribo makes of a model file, as JSON: sizes, joints, actuators, geoms, and at random coordinates
// and velocities the poses, the mass matrix, the bias forces and Jacobians of a point on every body, and with random
// controls and activations the forces of actuators (but those of adhesion), gravity compensation and drag.
//
//   tribo_model_dump FILE [--samples 3] [--seed 1] [--package name=folder]...
//
// bench/truth/compare.py asks MuJoCo for the same and compares.
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tribo/base/errors.h"
#include "tribo/io/load.h"
#include "tribo/multibody/dynamics.h"
#include "tribo/multibody/tendon_path.h"
#include "tribo/sim/assembly/joint_constraints.h"
#include "tribo/sim/forces/activation.h"

namespace tribo {
namespace {

// Uniform in [-1, 1], the same on every machine (splitmix64).
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  double draw() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1.0;
  }
  Vector vector(Eigen::Index size) {
    Vector x(size);
    for (double& entry : x) entry = draw();
    return x;
  }

 private:
  std::uint64_t state_;
};

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c < ' ' ? ' ' : c;
  }
  return result + "\"";
}

void print_number(double value) {
  if (std::isfinite(value)) {
    fmt::print("{:.17g}", value);
  } else {
    fmt::print("{}", value > 0.0 ? "1e999" : "-1e999");
  }
}

template <class Derived>
void print_array(const Eigen::DenseBase<Derived>& values) {  // column by column
  fmt::print("[");
  for (Eigen::Index c = 0; c < values.cols(); ++c) {
    for (Eigen::Index r = 0; r < values.rows(); ++r) {
      if (c + r > 0) fmt::print(",");
      print_number(values(r, c));
    }
  }
  fmt::print("]");
}

void print_joints(const Model& model) {
  fmt::print("\"joints\":[");
  for (Index j = 0; j < model.joint_count(); ++j) {
    const JointDescription& d = model.joint(j);
    fmt::print("{}{{\"name\":{},\"values\":", j > 0 ? "," : "", json_string(d.name));
    Vector values(9);
    values << d.limited, d.limited ? d.lower : 0.0, d.limited ? d.upper : 0.0, d.damping, d.armature,
        d.stiffness, d.spring_reference, d.dry_friction, d.reference;
    print_array(values);
    fmt::print("}}");
  }
  fmt::print("],\n\"actuators\":[");
  for (std::size_t a = 0; a < model.actuators().size(); ++a) {
    const ActuatorDescription& d = model.actuators()[a];
    fmt::print("{}{{\"name\":{},\"values\":", a > 0 ? "," : "", json_string(d.name));
    Vector values(16);
    values << d.joint, d.tendon, d.site, d.body, d.gain, d.bias, d.gear, d.force_upper, d.control_upper;
    print_array(values);
    fmt::print("}}");
  }
  fmt::print("],\n");
}

void print_tendons(const Kinematics& kinematics, const Vector& q) {
  const Model& model = kinematics.model();
  for (std::size_t t = 0; t < model.tendons().size(); ++t) {
    const TendonDescription& tendon = model.tendons()[t];
    Vector gradient = Vector::Zero(model.dof_count());
    double length =
        add_tendon_gradient(kinematics, tendon, {gradient.data(), static_cast<std::size_t>(gradient.size())});
    for (const auto& term : tendon.terms) {
      length += term.coefficient * q[model.joint_coordinate(term.joint)];
      gradient[model.joint_dof(term.joint)] += term.coefficient;
    }
    fmt::print("{}{{\"length\":{:.17g},\"gradient\":", t > 0 ? "," : "", length);
    print_array(gradient);
    fmt::print("}}");
  }
}

void print_forces(const World& world, const Kinematics& kinematics, const Vector& q, const Vector& v,
                  Dice& dice) {
  const Model& model = world.model;
  const auto actuators = static_cast<Index>(model.actuators().size());
  const Vector control = dice.vector(actuators), activation = dice.vector(model.activation_count());
  JointConstraints joints(world);
  joints.set_positions(kinematics);
  Vector input, force = Vector::Zero(model.dof_count());
  actuator_inputs(model, control, activation, world.time_step, input);
  std::vector<JointConstraints::Term> room;
  for (Index a = 0; a < actuators; ++a) {
    const JointConstraints::Acting now = joints.acting(a, kinematics, q, v, input, room);
    for (const auto& term : now.terms) force[term.dof] += term.coefficient * now.drive.force();
  }
  joints.body_forces().add(kinematics, force);
  fmt::print(",\n\"control\":");
  print_array(control);
  fmt::print(",\"activation\":");
  print_array(activation);
  fmt::print(",\"forces\":");
  print_array(force);
}

void print_sample(const World& world, Kinematics& kinematics, Dynamics& dynamics, Dice& dice) {
  const Model& model = world.model;
  Vector q = model.reference_coordinates();
  integrate(model, dice.vector(model.dof_count()), 0.7, q);
  const Vector v = dice.vector(model.dof_count());
  kinematics.set_positions(q);
  kinematics.set_velocities(v);
  dynamics.set_positions(kinematics);
  Vector bias(model.dof_count());
  dynamics.bias(kinematics, world.gravity, bias);
  fmt::print("{{\"q\":");
  print_array(q);
  fmt::print(",\"v\":");
  print_array(v);
  fmt::print(",\"bias\":");
  print_array(bias);
  fmt::print(",\n\"mass\":[");
  for (Index t = 0; t < model.tree_count(); ++t) {
    fmt::print("{}{{\"dof\":{},\"size\":{},\"values\":", t > 0 ? "," : "", model.tree_dof(t),
               model.tree_dof_count(t));
    print_array(dynamics.mass(t));
    fmt::print("}}");
  }
  fmt::print("],\n\"bodies\":[");
  for (Index b = 0; b < model.body_count(); ++b) {
    const Pose& pose = kinematics.pose(b);
    fmt::print("{}{{\"position\":", b > 0 ? "," : "");
    print_array(pose.position);
    fmt::print(",\"rotation\":");
    print_array(pose.rotation);
    const Index tree = model.body_tree(b);
    if (tree >= 0) {
      const Vec3 point = pose * Vec3(dice.draw(), dice.draw(), dice.draw());
      Eigen::Matrix<double, 3, Eigen::Dynamic> jacobian(3, model.tree_dof_count(tree));
      kinematics.point_jacobian(b, point, jacobian);
      fmt::print(",\"dof\":{},\"point\":", model.tree_dof(tree));
      print_array(point);
      fmt::print(",\"jacobian\":");
      print_array(jacobian);
    }
    fmt::print("}}");
  }
  fmt::print("],\n\"tendons\":[");
  print_tendons(kinematics, q);
  fmt::print("],\n\"geoms\":[");
  for (std::size_t g = 0; g < world.geoms.size(); ++g) {
    const Geom& geom = world.geoms[g];
    fmt::print("{}{{\"kind\":{},\"position\":", g > 0 ? "," : "", json_string(to_string(geom.shape.kind())));
    print_array((kinematics.pose(geom.body) * geom.pose).position);
    fmt::print(",\"friction\":{:.17g},\"body\":{}}}", geom.material.friction, geom.body);
  }
  fmt::print("]");
  print_forces(world, kinematics, q, v, dice);
  fmt::print("}}");
}

void dump(const World& world, const LoadReport& report, int samples, std::uint64_t seed) {
  const Model& model = world.model;
  fmt::print("{{\"nq\":{},\"nv\":{},\"time_step\":{:.17g},\"warnings\":[", model.coordinate_count(),
             model.dof_count(), world.time_step);
  for (std::size_t w = 0; w < report.warnings.size(); ++w) {
    const LoadWarning& warning = report.warnings[w];
    fmt::print("{}{}", w > 0 ? "," : "",
               json_string(fmt::format("{}:{}: {}", warning.file, warning.line, warning.message)));
  }
  fmt::print("],\n\"names\":[");
  for (Index b = 0; b < model.body_count(); ++b)
    fmt::print("{}{}", b > 0 ? "," : "", json_string(model.body_name(b)));
  fmt::print("],\n\"inertias\":[");  // mass, centre of mass
  for (Index b = 0; b < model.body_count(); ++b) {
    fmt::print("{}", b > 0 ? "," : "");
    print_array((Eigen::Vector4d() << model.inertia(b).mass, model.inertia(b).center).finished());
  }
  fmt::print(
      "],\n\"counts\":{{\"geoms\":{},\"pairs\":{},\"excludes\":{},\"connects\":{},\"welds\":{},"
      "\"joint_couplings\":{},\"tendons\":{},\"keyframes\":{}}},\n",
      world.geoms.size(), world.pairs.size(), world.excluded_bodies.size(), world.connects.size(),
      world.welds.size(), world.joint_couplings.size(), model.tendons().size(), world.keyframes.size());
  print_joints(model);
  Kinematics kinematics(model);
  Dynamics dynamics(model);
  Dice dice(seed);
  fmt::print("\"samples\":[");
  for (int s = 0; s < samples; ++s) {
    if (s > 0) fmt::print(",");
    print_sample(world, kinematics, dynamics, dice);
  }
  fmt::print("]}}\n");
}

int run(int argc, char** argv) {
  std::string file;
  int samples = 3;
  std::uint64_t seed = 1;
  LoadOptions options;
  options.allow_missing = true;  // what can be loaded is compared
  for (int k = 1; k < argc; ++k) {
    const std::string_view word = argv[k];
    const bool has_value = k + 1 < argc;
    if (word == "--samples" && has_value) {
      samples = std::atoi(argv[++k]);
    } else if (word == "--seed" && has_value) {
      seed = std::strtoull(argv[++k], nullptr, 10);
    } else if (word == "--package" && has_value) {
      const std::string pair = argv[++k];
      const std::size_t equals = pair.find('=');
      if (equals == std::string::npos) {
        fmt::print(stderr, "--package wants name=folder\n");
        return 2;
      }
      options.packages.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    } else {
      file = word;
    }
  }
  if (file.empty()) {
    fmt::print(stderr, "usage: tribo_model_dump FILE [--samples N] [--seed N] [--package name=folder]\n");
    return 2;
  }
  try {
    LoadReport report;
    dump(load_world(file, options, report), report, samples, seed);
  } catch (const InvalidInput& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace tribo

int main(int argc, char** argv) { return tribo::run(argc, argv); }
