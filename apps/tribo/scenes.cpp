// tribo scenes: lists the built-in scenes and their parameters.
#include <fmt/format.h>

#include "apps/tribo/commands.h"
#include "apps/tribo/text_table.h"
#include "tribo/scenes/scene.h"

namespace tribo::cli {

namespace {

void list_scenes() {
  std::string text;
  for (const SceneInfo& info : scene_catalogue()) {
    if (!text.empty()) text += '\n';
    text += fmt::format("{}  {}\n", info.name, info.summary);
    TextTable table({{"parameter"}, {"default"}, {"from"}, {"to"}, {"meaning"}});
    for (const SceneParameter& p : info.parameters) {
      table.add_row({std::string(p.name), fmt::format("{:g}", p.value), fmt::format("{:g}", p.lower),
                     fmt::format("{:g}", p.upper), std::string(p.help)});
    }
    text += table.str("    ");
    for (const RobotRole& robot : info.robots)
      text += fmt::format("    --models DIR: the {} from DIR/{}/{}\n", robot.role, robot.folder, robot.file);
  }
  fmt::print("{}", text);
}

}  // namespace

void add_scenes_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("scenes", "List the built-in scenes and their parameters");
  command->footer("Example:\n  tribo scenes\n  tribo sim --scene clutter --set bodies=80 --set walls=0");
  command->callback(list_scenes);
}

}  // namespace tribo::cli
