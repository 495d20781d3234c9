// MJCF, MuJoCo's model format, in four steps: the file with its includes, compiler settings, defaults and assets
// (file.h), the tree of bodies (tree.h), what refers to it by name (world.h and the sections), the
// model itself.
#include "tribo/io/mjcf/reader.h"

#include <fmt/format.h>

#include "tribo/base/errors.h"
#include "tribo/io/mjcf/actuators.h"
#include "tribo/io/mjcf/couplings.h"
#include "tribo/io/mjcf/deformable.h"
#include "tribo/io/mjcf/inertia.h"
#include "tribo/io/mjcf/options.h"
#include "tribo/io/mjcf/sensors.h"
#include "tribo/io/mjcf/tendons.h"
#include "tribo/io/mjcf/world.h"

namespace tribo {

World load_mjcf(const std::filesystem::path& file, const LoadOptions& options, LoadReport& report) {
  using namespace detail;
  LoadLog log(report, options);
  const auto main = std::make_shared<MjcfFile>(file, log);
  MjcfTree tree = read_tree(main, log);
  read_deformables(tree, log);
  finish_inertias(tree);
  World settings;
  const MjcfSwitches switches = read_options(*main, settings, log);
  apply_switches(switches, tree);

  WorldAssembly assembly(tree, log);
  for (const ModelPart& part : tree.parts) {
    if (switches.contact) read_contacts(assembly, part);
    read_tendons(assembly, part);
    if (switches.equality) read_equalities(assembly, part);
    read_actuators(assembly, part);
    read_sensors(assembly, part);
    if (part.file != main && !part.file->entries("keyframe").empty()) {
      log.warn(*part.file->entries("keyframe").front(), "keyframes of attached models are not supported");
    }
  }
  apply_joint_force_limits(assembly);
  const std::vector<Index> actuator_numbers = assembly.actuator_numbers(), activated = assembly.activated();
  try {
    World world = assembly.take();
    world.name = main->root().find("model") ? main->root().text("model") : file.stem().string();
    world.gravity = settings.gravity;
    world.medium = settings.medium;
    world.magnetic_field = settings.magnetic_field;
    world.time_step = settings.time_step;
    world.parent_child_contacts = settings.parent_child_contacts;
    world.friction_rule = FrictionRule::maximum;
    read_keyframes(*main, actuator_numbers, activated, world, log);
    validate(world);
    return world;
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    if (message.starts_with(file.string())) throw;
    throw InvalidInput(fmt::format("{}: {}", file.string(), message));
  }
}

}  // namespace tribo
