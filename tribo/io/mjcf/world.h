// From the tree of an MJCF model to a World: numbering, names, and the sections that refer to bodies, joints,
// geoms, sites and tendons by name.
#pragma once

#include <optional>

#include "tribo/io/mjcf/tree.h"

namespace tribo::detail {

class WorldAssembly {
 public:
  WorldAssembly(const MjcfTree& tree, LoadLog& log);

  World take();  // builds the model; once

  // What one element of a section means: its copies (one, unless it names replicated things; none, if it belongs
  // to an attached model and names things that were not attached) and the numbers of what it names.
  struct NameAttribute {
    NameKind kind;
    std::string_view attribute;
  };
  std::vector<std::string> copies(const ModelPart& part, const SourceElement& element,
                                  std::initializer_list<NameAttribute> references);
  Index find(const ModelPart& part, const SourceElement& element, const NameAttribute& reference,
             const std::string& suffix) const;  // InvalidInput: no such name
  std::string own_name(const ModelPart& part, const SourceElement& element, const std::string& suffix) const {
    const std::string name = element.text("name");
    return name.empty() ? name : part.prefix + name + suffix;
  }

  const MjcfTree& tree() const { return tree_; }
  LoadLog& log() { return log_; }
  World& world() { return world_; }
  const JointSpec& joint(Index index) const { return *joints_[static_cast<std::size_t>(index)]; }
  // In the world, all joints at their references.
  const Pose& body_pose(Index body) const { return poses_[static_cast<std::size_t>(body)]; }
  const SiteDescription& site(Index site) const { return sites_[static_cast<std::size_t>(site)]; }
  // Its shape, for sensors; none: it has no volume.
  const std::optional<Shape>& site_volume(Index site) const {
    return site_volumes_[static_cast<std::size_t>(site)];
  }
  const SiteDescription& camera(Index camera) const { return cameras_[static_cast<std::size_t>(camera)]; }

  // The geom that a string goes round, whether it can touch or not; InvalidInput: no such geom.
  const Geom* find_wrap_geom(const ModelPart& part, const SourceElement& element,
                             const std::string& suffix) const;
  // Endings of the copies of a replicated geom; nullptr: it is not one.
  const std::vector<std::string>* geom_copies(const std::string& name) const {
    return all_geoms_.contains(name) ? nullptr : tree_.replicas.find(NameKind::geom, name);
  }

  // A scalar joint: hinge or slide; InvalidInput naming the element otherwise.
  void require_scalar(Index joint, const SourceElement& element) const;

  Index add_tendon(TendonDescription tendon);
  // A copy of something in a section: elements that name the original mean all its copies.
  void note_copy(NameKind kind, const std::string& name, const std::string& suffix) {
    if (!name.empty() && !suffix.empty()) copies_.add(kind, name, suffix);
  }
  // Something that is left out; elements that name it are left out as well, with a warning.
  void leave_out(NameKind kind, const std::string& name) {
    left_out_[static_cast<std::size_t>(kind)].insert(name);
  }
  bool is_left_out(NameKind kind, const std::string& name) const {
    return left_out_[static_cast<std::size_t>(kind)].contains(name);
  }
  Index tendon_count() const { return static_cast<Index>(tendons_.size()); }
  const TendonDescription& tendon(Index index) const { return tendons_[static_cast<std::size_t>(index)]; }
  std::vector<ActuatorDescription>& actuators() { return actuators_; }
  void add_actuator(ActuatorDescription actuator);
  // The number MuJoCo gives an actuator -> ours, -1: left out. For the controls of keyframes.
  std::vector<Index>& actuator_numbers() { return actuator_numbers_; }
  // The same of those with activations alone.
  std::vector<Index>& activated() { return activated_; }

 private:
  void add_bodies();
  void add_flexible(const BodySpec& body, Index index);
  bool can_move(Index body) const;
  void add_name(NameKind kind, const std::string& name, Index index, const SourceElement& element);
  std::optional<Index> lookup(NameKind kind, const std::string& name) const;
  void resolve_inertial_values();
  void resolve_spring_lengths();
  Model draft() const;
  void fill_builder(ModelBuilder& builder) const;

  const MjcfTree& tree_;
  LoadLog& log_;
  World world_;
  std::vector<const JointSpec*> joints_;
  std::vector<Pose> poses_;
  std::vector<SiteDescription> sites_, cameras_;
  std::vector<std::optional<Shape>> site_volumes_;
  std::map<std::string, Geom> all_geoms_;  // those with a shape, by name
  std::vector<TendonDescription> tendons_;
  std::vector<ActuatorDescription> actuators_;
  std::vector<Index> actuator_numbers_, activated_;
  std::map<Index, std::array<double, 2>> springs_;  // joint -> stiffness and damping that were computed
  ReplicaNames copies_;
  std::array<std::map<std::string, Index>, static_cast<std::size_t>(NameKind::count)> names_;
  std::array<std::set<std::string>, static_cast<std::size_t>(NameKind::count)> left_out_;
};

// Calls use() with the first copy of everything, then with the second copies, and so on.
template <class T, class Use>
void copy_by_copy(std::vector<std::vector<T>>& columns, Use use) {
  bool more = true;
  for (std::size_t copy = 0; more; ++copy) {
    more = false;
    for (std::vector<T>& column : columns) {
      if (copy >= column.size()) continue;
      use(column[copy]);
      more = true;
    }
  }
}

}  // namespace tribo::detail
