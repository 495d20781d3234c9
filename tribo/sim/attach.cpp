#include "tribo/sim/attach.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

class Attachment {
 public:
  Attachment(ModelBuilder& builder, World& world, const World& other, const AttachOptions& options)
      : builder_(builder), world_(world), other_(other), model_(other.model), options_(options) {}

  Attached run() {
    for (Index b = 1; b < model_.body_count(); ++b) add_body(b);
    added_.body_count = model_.body_count() - 1;
    add_sites_and_tendons();
    if (options_.actuators) add_actuators();
    add_geoms();
    add_couplings();
    return added_;
  }

 private:
  Index body(Index b) const { return b == 0 ? options_.body : added_.body + b - 1; }
  // -1: does not move.
  Index joint(Index j) const { return j < 0 ? j : joints_[static_cast<std::size_t>(j)]; }
  Index moving_joint(Index j) const {
    if (j >= 0 && joint(j) < 0)
      throw InvalidInput(fmt::format("joint \"{}\" is not to move, but a tendon or a coupling acts on it",
                                     model_.joint(j).name));
    return joint(j);
  }
  bool moves(Index j) const { return !options_.moves || options_.moves(model_.joint(j)); }
  std::string named(const std::string& name) const { return name.empty() ? name : options_.prefix + name; }
  // Of something fixed to body b.
  Pose placed(Index b, const Pose& pose) const { return b == 0 ? options_.pose * pose : pose; }
  Vec3 placed(Index b, const Vec3& point) const { return b == 0 ? options_.pose * point : point; }

  void add_body(Index b) {
    const Index parent = model_.body_parent(b);
    const bool mocap = std::ranges::find(model_.mocap_bodies(), b) != model_.mocap_bodies().end();
    const Pose own =
        placed(parent, Pose{model_.body_position(b), model_.body_rotation(b).toRotationMatrix()});
    const Index first = model_.joint_begin(b);
    const bool floats =
        first < model_.joint_end(b) && moves(first) && traits_of(model_.joint(first).kind).floating;
    if (options_.body != 0 && (floats || mocap))
      throw InvalidInput(
          fmt::format("body \"{}\" is free and cannot hang on another body", model_.body_name(b)));
    const Index number = builder_.add_body({.name = named(model_.body_name(b)),
                                            .parent = body(parent),
                                            .position = own.position,
                                            .rotation = Quat(own.rotation),
                                            .inertia = model_.inertia(b),
                                            .gravity_compensation = model_.gravity_compensation(b),
                                            .mocap = mocap,
                                            .inertia_axes = model_.inertia_axes(b)});
    if (b == 1) added_.body = number;
    for (Index j = model_.joint_begin(b); j < model_.joint_end(b); ++j) {
      joints_.push_back(-1);
      if (!moves(j)) continue;
      JointDescription description = model_.joint(j);
      description.name = named(description.name);
      description.body = number;
      joints_.back() = builder_.add_joint(std::move(description));
      if (added_.joint_count++ == 0) added_.joint = joints_.back();
    }
  }

  void add_sites_and_tendons() {
    for (SiteDescription site : model_.sites()) {
      site.pose = placed(site.body, site.pose);
      site.body = body(site.body);
      site.name = named(site.name);
      const Index number = builder_.add_site(std::move(site));
      if (first_site_ < 0) first_site_ = number;
    }
    for (TendonDescription tendon : model_.tendons()) {
      tendon.name = named(tendon.name);
      for (auto& term : tendon.terms) term.joint = moving_joint(term.joint);
      for (TendonPoint& point : tendon.path) {
        point.pose = placed(point.body, point.pose);
        point.side = placed(point.side_body, point.side);
        point.body = body(point.body);
        point.side_body = body(point.side_body);
      }
      const Index number = builder_.add_tendon(std::move(tendon));
      if (first_tendon_ < 0) first_tendon_ = number;
    }
  }

  void add_actuators() {
    for (ActuatorDescription actuator : model_.actuators()) {
      if (actuator.joint >= 0 && joint(actuator.joint) < 0) continue;
      actuator.name = named(actuator.name);
      actuator.joint = joint(actuator.joint);
      if (actuator.tendon >= 0) actuator.tendon += first_tendon_;
      if (actuator.site >= 0) actuator.site += first_site_;
      if (actuator.reference_site >= 0) actuator.reference_site += first_site_;
      if (actuator.body >= 0) actuator.body = body(actuator.body);
      const Index number = builder_.add_actuator(std::move(actuator));
      if (added_.actuator_count++ == 0) added_.actuator = number;
    }
  }

  void add_geoms() {
    added_.geom = static_cast<Index>(world_.geoms.size());
    added_.geom_count = static_cast<Index>(other_.geoms.size());
    for (Geom geom : other_.geoms) {
      geom.pose = placed(geom.body, geom.pose);
      geom.body = body(geom.body);
      geom.name = named(geom.name);
      geom.margin = std::max(geom.margin, 0.5 * other_.margin);
      world_.add_geom(std::move(geom));
    }
    for (GeomPair pair : other_.pairs) {
      pair.first += added_.geom;
      pair.second += added_.geom;
      world_.pairs.push_back(pair);
    }
    for (Visual visual : other_.visuals) {
      visual.pose = placed(visual.body, visual.pose);
      visual.body = body(visual.body);
      world_.visuals.push_back(std::move(visual));
    }
    for (FluidEllipsoid ellipsoid : other_.fluid_ellipsoids) {
      ellipsoid.pose = placed(ellipsoid.body, ellipsoid.pose);
      ellipsoid.body = body(ellipsoid.body);
      world_.fluid_ellipsoids.push_back(ellipsoid);
    }
    for (const auto& [a, b] : other_.excluded_bodies) world_.excluded_bodies.emplace_back(body(a), body(b));
  }

  void add_couplings() {
    for (Connect connect : other_.connects) {
      connect.first_anchor = placed(connect.first, connect.first_anchor);
      connect.second_anchor = placed(connect.second, connect.second_anchor);
      connect.first = body(connect.first);
      connect.second = body(connect.second);
      world_.connects.push_back(connect);
    }
    for (Weld weld : other_.welds) {
      weld.first_frame = placed(weld.first, weld.first_frame);
      weld.second_frame = placed(weld.second, weld.second_frame);
      weld.first = body(weld.first);
      weld.second = body(weld.second);
      world_.welds.push_back(weld);
    }
    for (JointCoupling coupling : other_.joint_couplings) {
      coupling.first = moving_joint(coupling.first);
      coupling.second = moving_joint(coupling.second);
      world_.joint_couplings.push_back(coupling);
    }
    for (TendonCoupling coupling : other_.tendon_couplings) {
      coupling.first += first_tendon_;
      if (coupling.second >= 0) coupling.second += first_tendon_;
      world_.tendon_couplings.push_back(coupling);
    }
  }

  ModelBuilder& builder_;
  World& world_;
  const World& other_;
  const Model& model_;
  const AttachOptions& options_;
  Attached added_;
  std::vector<Index> joints_ = {};  // [joints of the other] as they are numbered here
  Index first_site_ = -1, first_tendon_ = -1;
};

}  // namespace

Attached attach(ModelBuilder& builder, World& world, const World& other, const AttachOptions& options) {
  return Attachment(builder, world, other, options).run();
}

}  // namespace tribo
