#include "tribo/io/mjcf/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/collide/shapes/convex_hull.h"
#include "tribo/io/mjcf/actuator_writer.h"
#include "tribo/io/mjcf/geom_writer.h"
#include "tribo/io/mjcf/names.h"
#include "tribo/io/mjcf/pressure_geoms.h"
#include "tribo/io/mjcf/sensor_writer.h"
#include "tribo/io/xml/xml_element.h"

namespace tribo {
namespace {

using detail::Element;
using detail::Names;
using detail::write_range;

class Writer {
 public:
  Writer(const World& world, tinyxml2::XMLPrinter& printer)
      : world_(world), model_(world.model), xml_(printer) {
    collect_names();
    check_fluid();
    check_friction_rule();
  }

  void write() {
    Element root(xml_, "mujoco");
    root.text("model", world_.name.empty() ? "world" : world_.name);
    Element(xml_, "compiler").text("angle", "radian").text("inertiafromgeom", "false");
    write_option();
    write_assets();
    write_bodies();
    write_contacts();
    write_tendons();
    write_equalities();
    write_actuators();
    write_sensors();
    write_keyframes();
  }

 private:
  void collect_names() {
    for (Index b = 0; b < model_.body_count(); ++b) bodies_.add(model_.body_name(b));
    for (Index j = 0; j < model_.joint_count(); ++j) joints_.add(model_.joint(j).name);
    for (const Geom& geom : world_.geoms) geoms_.add(geom.name);
    for (const TendonDescription& tendon : model_.tendons()) tendons_.add(tendon.name);
    for (const ActuatorDescription& actuator : model_.actuators()) actuators_.add(actuator.name);
    sites_ = model_.sites();
    for (std::size_t k = 0; k < world_.connects.size(); ++k) {
      const Connect& c = world_.connects[k];
      sites_.push_back({fmt::format("connect{}.first", k), c.first, {c.first_anchor, Mat3::Identity()}});
      sites_.push_back({fmt::format("connect{}.second", k), c.second, {c.second_anchor, Mat3::Identity()}});
    }
    for (std::size_t k = 0; k < world_.welds.size(); ++k) {
      const Weld& w = world_.welds[k];
      sites_.push_back({fmt::format("weld{}.first", k), w.first, w.first_frame});
      sites_.push_back({fmt::format("weld{}.second", k), w.second, w.second_frame});
    }
    first_sensor_site_ = sites_.size();
    sensor_sites_ = detail::sensor_sites(world_);
    for (const detail::SensorSite& sensor : sensor_sites_) sites_.push_back(sensor.site);
    for (const SiteDescription& site : sites_) site_names_.add(site.name);
  }

  void check_fluid() const {
    if (world_.fluid_ellipsoids.empty()) return;
    throw InvalidInput("this world has fluid ellipsoids: they cannot be written as MJCF");
  }

  // Two equal coefficients give the same by any rule.
  void check_friction_rule() const {
    if (world_.friction_rule == FrictionRule::maximum || world_.geoms.empty()) return;
    for (const Geom& geom : world_.geoms) {
      if (geom.material.friction != world_.geoms.front().material.friction) {
        throw InvalidInput("the friction of this world is not combined by the maximum, as MJCF does");
      }
    }
  }

  void write_option() {
    Element option(xml_, "option");
    option.numbers("timestep", {world_.time_step}).numbers("gravity", world_.gravity);
    option.unless(0.0, "density", world_.medium.density).unless(0.0, "viscosity", world_.medium.viscosity);
    if (!world_.medium.wind.isZero(0.0)) option.numbers("wind", world_.medium.wind);
    if (world_.magnetic_field != World().magnetic_field) option.numbers("magnetic", world_.magnetic_field);
    if (world_.parent_child_contacts) Element(xml_, "flag").text("filterparent", "disable");
  }

  void write_assets() {
    Element asset(xml_, "asset");
    for (std::size_t g = 0; g < world_.geoms.size(); ++g) {
      if (world_.geoms[g].shape.kind() != ShapeKind::hull) continue;
      std::vector<double> numbers;
      for (const Vec3& v : world_.geoms[g].shape.hull().vertices())
        numbers.insert(numbers.end(), v.begin(), v.end());
      Element(xml_, "mesh").text("name", geoms_[static_cast<Index>(g)]).numbers("vertex", numbers);
    }
  }

  // Bodies come parent first and depth first, so the open elements are the path to the last one.
  void write_bodies() {
    std::vector<std::vector<Index>> geoms(static_cast<std::size_t>(model_.body_count())), sites = geoms;
    for (std::size_t g = 0; g < world_.geoms.size(); ++g) {
      geoms[static_cast<std::size_t>(world_.geoms[g].body)].push_back(static_cast<Index>(g));
    }
    for (std::size_t s = 0; s < sites_.size(); ++s) {
      sites[static_cast<std::size_t>(sites_[s].body)].push_back(static_cast<Index>(s));
    }
    std::vector<std::pair<Index, std::unique_ptr<Element>>> open;
    for (Index b = 0; b < model_.body_count(); ++b) {
      while (!open.empty() && open.back().first != model_.body_parent(b)) open.pop_back();
      open.emplace_back(b, std::make_unique<Element>(xml_, b == 0 ? "worldbody" : "body"));
      if (b > 0) {
        Element& element = *open.back().second;
        element.text("name", bodies_[b]).pose(model_.body_position(b), model_.body_rotation(b));
        const std::vector<Index>& mocap = model_.mocap_bodies();
        if (std::find(mocap.begin(), mocap.end(), b) != mocap.end()) element.text("mocap", "true");
        element.unless(0.0, "gravcomp", model_.gravity_compensation(b));
        write_inertia(b);
        for (Index j = model_.joint_begin(b); j < model_.joint_end(b); ++j) write_joint(j);
      }
      for (const Index g : geoms[static_cast<std::size_t>(b)]) write_geom(g);
      for (const Index s : sites[static_cast<std::size_t>(b)]) {
        write_site(s);
      }
    }
    while (!open.empty()) open.pop_back();
  }

  void write_site(Index s) {
    const auto place = static_cast<std::size_t>(s);
    Element element(xml_, "site");
    element.text("name", site_names_[s]).pose(sites_[place].pose);
    if (place < first_sensor_site_) return;
    const std::optional<Shape>& volume = sensor_sites_[place - first_sensor_site_].volume;
    if (volume) detail::write_volume(element, *volume);
  }

  void write_inertia(Index b) {
    const RigidInertia& inertia = model_.inertia(b);
    if (inertia.mass == 0.0 && inertia.rotational.isZero(0.0)) return;
    const Mat3& i = inertia.rotational;
    Element element(xml_, "inertial");
    element.numbers("pos", inertia.center).numbers("mass", {inertia.mass});
    if (i(0, 1) == 0.0 && i(0, 2) == 0.0 && i(1, 2) == 0.0) {
      element.numbers("diaginertia", {i(0, 0), i(1, 1), i(2, 2)});
    } else {
      element.numbers("fullinertia", {i(0, 0), i(1, 1), i(2, 2), i(0, 1), i(0, 2), i(1, 2)});
    }
  }

  void write_joint(Index j) {
    const JointDescription& joint = model_.joint(j);
    Element element(xml_, "joint");
    element.text("name", joints_[j]).text("type", std::string(to_string(joint.kind)));
    const JointTraits& traits = traits_of(joint.kind);
    const bool scalar = traits.is_scalar();
    if (!traits.floating) {
      if (!joint.anchor.isZero(0.0)) element.numbers("pos", joint.anchor);
      if (traits.has_axis) element.numbers("axis", joint.axis);
      write_range(element, "range", "limited", joint.limited, joint.lower, joint.upper,
                  fmt::format("joint '{}'", joints_[j]));
      element.unless(0.0, "margin", joint.limit_margin);
    }
    if (scalar) element.unless(0.0, "ref", joint.reference).unless(0.0, "springref", joint.spring_reference);
    element.unless(0.0, "stiffness", joint.stiffness).unless(0.0, "damping", joint.damping);
    element.unless(0.0, "armature", joint.armature).unless(0.0, "frictionloss", joint.dry_friction);
    if (!joint.actuator_compensation) return;
    element.text("actuatorgravcomp", "true");
    write_range(element, "actuatorfrcrange", "actuatorfrclimited",
                !std::isinf(joint.actuator_force_lower) || !std::isinf(joint.actuator_force_upper),
                joint.actuator_force_lower, joint.actuator_force_upper,
                fmt::format("joint '{}'", joints_[j]));
  }

  // The smallest margin of any pair is divided between the two geoms, which works if none has its own.
  double margin_of(const Geom& geom, const std::string& owner) const {
    if (world_.margin == 0.0) return geom.margin;
    if (geom.margin != 0.0) {
      throw InvalidInput(
          fmt::format("{} has a margin and so has the world: MJCF has only one of them", owner));
    }
    return 0.5 * world_.margin;
  }

  void write_geom(Index g) {
    const Geom& geom = world_.geoms[static_cast<std::size_t>(g)];
    const std::string owner = fmt::format("geom '{}'", geoms_[g]);
    Element element(xml_, "geom");
    detail::write_geom(element, geom, geoms_[g], owner);
    // What MJCF calls gap makes contacts known earlier, its margin moves the surface (MuJoCo since 3.9).
    element.unless(0.0, "margin", geom.thickness).unless(0.0, "gap", margin_of(geom, owner));
    detail::write_pressure(xml_, geom);
  }

  void write_contacts() {
    Element contact(xml_, "contact");
    for (std::size_t k = 0; k < world_.pairs.size(); ++k) {
      const GeomPair& pair = world_.pairs[k];
      detail::check_material(fmt::format("contact pair {}", k), pair.material);
      const double mu = pair.material.friction, margin = std::max(pair.margin, world_.margin);
      Element(xml_, "pair")
          .text("geom1", geoms_[pair.first])
          .text("geom2", geoms_[pair.second])
          .text("condim", pair.frictionless ? "1" : std::to_string(pair.friction_rows))
          .numbers("friction", {mu, pair.second_friction < 0.0 ? mu : pair.second_friction,
                                pair.material.torsional, pair.material.rolling,
                                pair.second_rolling < 0.0 ? pair.material.rolling : pair.second_rolling})
          .numbers("margin", {pair.thickness})
          .numbers("gap", {margin});
    }
    for (const auto& [a, b] : world_.excluded_bodies) {
      Element(xml_, "exclude").text("body1", bodies_[a]).text("body2", bodies_[b]);
    }
  }

  void write_tendons() {
    Element section(xml_, "tendon");
    for (std::size_t t = 0; t < model_.tendons().size(); ++t) {
      const TendonDescription& tendon = model_.tendons()[t];
      if (tendon.is_spatial()) {
        throw InvalidInput(fmt::format("tendon '{}' is spatial: only fixed tendons can be written as MJCF",
                                       tendons_[static_cast<Index>(t)]));
      }
      Element element(xml_, "fixed");
      element.text("name", tendons_[static_cast<Index>(t)]);
      write_range(element, "range", "limited", tendon.limited, tendon.lower, tendon.upper,
                  fmt::format("tendon '{}'", tendons_[static_cast<Index>(t)]));
      element.unless(0.0, "margin", tendon.limit_margin).unless(0.0, "frictionloss", tendon.dry_friction);
      element.unless(0.0, "stiffness", tendon.stiffness).unless(0.0, "damping", tendon.damping);
      if (tendon.stiffness != 0.0)
        element.numbers("springlength", {tendon.spring_lower, tendon.spring_upper});
      for (const TendonDescription::Term& term : tendon.terms) {
        Element(xml_, "joint").text("joint", joints_[term.joint]).numbers("coef", {term.coefficient});
      }
    }
  }

  Element& named(Element& element, const std::string& name) {
    return name.empty() ? element : element.text("name", name);
  }

  void write_equalities() {
    Element section(xml_, "equality");
    const auto between_sites = [&](const char* kind, const std::string& name, std::size_t k) {
      Element element(xml_, kind);
      named(element, name);
      element.text("site1", fmt::format("{}{}.first", kind, k))
          .text("site2", fmt::format("{}{}.second", kind, k));
    };
    for (std::size_t k = 0; k < world_.connects.size(); ++k)
      between_sites("connect", world_.connects[k].name, k);
    for (std::size_t k = 0; k < world_.welds.size(); ++k) between_sites("weld", world_.welds[k].name, k);
    const auto polynomial = [&](const char* kind, const auto& coupling, const Names& names) {
      Element element(xml_, kind);
      named(element, coupling.name).text(fmt::format("{}1", kind).c_str(), names[coupling.first]);
      if (coupling.second >= 0) element.text(fmt::format("{}2", kind).c_str(), names[coupling.second]);
      element.numbers("polycoef", coupling.polynomial);
    };
    for (const JointCoupling& coupling : world_.joint_couplings) polynomial("joint", coupling, joints_);
    for (const TendonCoupling& coupling : world_.tendon_couplings) polynomial("tendon", coupling, tendons_);
  }

  void write_actuators() {
    Element section(xml_, "actuator");
    for (std::size_t k = 0; k < model_.actuators().size(); ++k) {
      const ActuatorDescription& a = model_.actuators()[k];
      const std::string& name = actuators_[static_cast<Index>(k)];
      const std::string owner = fmt::format("actuator '{}'", name);
      if (a.bias[2] > 0.0 && a.gain > 0.0 && a.gain == -a.bias[1]) {
        throw InvalidInput(
            fmt::format("{} is a servo that drives velocities up: MJCF reads bias {} as a damping ratio",
                        owner, a.bias[2]));
      }
      Element element(xml_, a.body >= 0 ? "adhesion" : "general");
      element.text("name", name);
      write_target(element, a);
      if (a.body >= 0) {
        element.numbers("gain", {a.gear[0] * a.gain});
      } else {
        element.numbers("gear", std::span(a.gear.data(), 6));
        detail::write_actuator_law(element, a);
        detail::write_activation(element, a, owner);
      }
      const auto limited = [](double lower, double upper) {
        return !std::isinf(lower) || !std::isinf(upper);
      };
      write_range(element, "ctrlrange", "ctrllimited", limited(a.control_lower, a.control_upper),
                  a.control_lower, a.control_upper, owner);
      write_range(element, "forcerange", "forcelimited", limited(a.force_lower, a.force_upper), a.force_lower,
                  a.force_upper, owner);
    }
  }

  void write_target(Element& element, const ActuatorDescription& a) {
    if (a.joint >= 0) element.text("joint", joints_[a.joint]);
    if (a.tendon >= 0) element.text("tendon", tendons_[a.tendon]);
    if (a.body >= 0) element.text("body", bodies_[a.body]);
    if (a.site >= 0) element.text("site", site_names_[a.site]);
    if (a.reference_site >= 0) element.text("refsite", site_names_[a.reference_site]);
  }

  void write_sensors() {
    if (world_.sensors.empty()) return;
    const auto named = [](const Names& names) { return [&names](Index k) { return names[k]; }; };
    detail::write_sensors(world_,
                          {.body = named(bodies_),
                           .joint = named(joints_),
                           .geom = named(geoms_),
                           .tendon = named(tendons_),
                           .actuator = named(actuators_)},
                          xml_);
  }

  void write_keyframes() {
    Element section(xml_, "keyframe");
    for (const Keyframe& key : world_.keyframes) {
      Element element(xml_, "key");
      named(element, key.name).unless(0.0, "time", key.state.time).numbers("qpos", key.state.q);
      if (key.state.v.size() > 0) element.numbers("qvel", key.state.v);
      if (key.control.size() > 0) element.numbers("ctrl", key.control);
      if (key.state.activation.size() > 0) element.numbers("act", key.state.activation);
      write_mocap(element, key.state.mocap);
    }
  }

  static void write_mocap(Element& element, const Vector& mocap) {
    if (mocap.size() == 0) return;
    std::vector<double> places, turns;
    for (Eigen::Index k = 0; k < mocap.size(); ++k) (k % 7 < 3 ? places : turns).push_back(mocap[k]);
    element.numbers("mpos", places).numbers("mquat", turns);
  }

  const World& world_;
  const Model& model_;
  tinyxml2::XMLPrinter& xml_;
  Names bodies_{"body"}, joints_{"joint"}, geoms_{"geom"}, tendons_{"tendon"}, actuators_{"actuator"},
      site_names_{"site"};
  std::vector<SiteDescription> sites_;
  std::vector<detail::SensorSite> sensor_sites_;  // the last of sites_
  std::size_t first_sensor_site_ = 0;
};

}  // namespace

void write_mjcf(const World& world, const std::filesystem::path& file) {
  validate(world);
  if (!world.flexible_bodies.empty()) {
    throw InvalidInput(fmt::format("{}: flexible bodies are not written as MJCF", file.string()));
  }
  tinyxml2::XMLPrinter printer;
  Writer(world, printer).write();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(file.c_str(), "w"), std::fclose);
  const std::string_view text(printer.CStr(), static_cast<std::size_t>(printer.CStrSize() - 1));
  if (!out || std::fwrite(text.data(), 1, text.size(), out.get()) != text.size() ||
      std::fflush(out.get()) != 0) {
    throw InvalidInput(fmt::format("{}: the file cannot be written", file.string()));
  }
}

}  // namespace tribo
