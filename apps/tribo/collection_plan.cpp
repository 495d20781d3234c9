#include "apps/tribo/collection_plan.h"

#include <initializer_list>

namespace tribo::cli {

namespace {

// One trajectory per size; `total` problems spread over them, the first ones taking what does not divide.
std::vector<Trajectory> by_size(const char* scene, const char* parameter, std::initializer_list<double> sizes,
                                Index total, SceneValues others = {}, double begin = 0.0) {
  std::vector<Trajectory> all;
  const auto count = static_cast<Index>(sizes.size());
  Index k = 0;
  for (const double size : sizes) {
    SceneValues values = others;
    values[parameter] = size;
    if (!values.contains("seed")) values["seed"] = k + 1;
    all.push_back({scene, values, total / count + (k < total % count ? 1 : 0), begin, 0});
    ++k;
  }
  return all;
}

// `runs` trajectories that differ by their seed.
std::vector<Trajectory> by_seed(const char* scene, Index runs, Index total, const SceneValues& values,
                                double begin = 0.0) {
  std::vector<Trajectory> all;
  for (Index k = 0; k < runs; ++k) {
    SceneValues own = values;
    own["seed"] = k + 1;
    all.push_back({scene, own, total / runs + (k < total % runs ? 1 : 0), begin, 0});
  }
  return all;
}

std::vector<Trajectory> local(const char* scene, Index runs, Index total, Index per_step,
                              const SceneValues& values) {
  std::vector<Trajectory> all = by_seed(scene, runs, total, values, 0.15);
  for (Trajectory& t : all) t.contacts_per_step = per_step;
  return all;
}

// Cubes that bend: the scene has no seed, its runs differ by their sizes.
Trajectory soft_cubes(double cubes, double cells, Index problems) {
  constexpr double kLanding = 0.07;  // share of the run before the first contact
  return {"cubes-fem", {{"cubes", cubes}, {"cells", cells}, {"mu", 0.3}}, problems, kLanding, 0};
}

constexpr std::string_view kBoxes = "BoxesStack: 255 problems, 6-300 dofs, 1-200 contacts, mu 0.7";
constexpr std::string_view kChain = "Chain: 242 problems, 60 dofs, 8-28 contacts, mu 0.3";
constexpr std::string_view kCapsules = "Capsules: 249 problems, 96-600 dofs, 17-304 contacts, mu 0.7";
constexpr std::string_view kTower = "KaplasTower: 201 problems, 72-792 dofs, 48-933 contacts, mu 0.7";
constexpr std::string_view kHouse = "a house of the same planks; not in Table 5";
constexpr std::string_view kChute = "Chute_1000: 156 problems, 276-5508 dofs, 74-5056 contacts, mu 1";
constexpr std::string_view kLargeChute =
    "Chute_4000: 40 problems, 17280-20034 dofs, 15965-19795 contacts, mu 1";
constexpr std::string_view kLocal = "Chute_local_problems: 834 problems of one contact, unsymmetric W, mu 1";
constexpr std::string_view kPerio =
    "100_PR_Periobox: 106 problems, 606 dofs, 14-578 contacts, mu 0.8; walls where it is periodic";
constexpr std::string_view kSpheres = "945_SP_Box_PL: 60 problems, 5700 dofs, 2322-5037 contacts, mu 0.8";
constexpr std::string_view kBridge = "Bridge_PR: 50 problems, 138 dofs, 70-108 contacts, mu 0.9";
constexpr std::string_view kWall = "LowWall_FEM, with rigid bricks: 50 problems, 624-688 contacts, mu 0.83";
constexpr std::string_view kCubes =
    "Cubes_H8_2, _5, _20: 115 problems, 162-55566 dofs, 3-388 contacts, mu 0.3";

std::vector<Family> full_plan() {
  return {
      {"boxes-stack", "boxes dropped into a stack", kBoxes,
       by_size("box-drop", "boxes", {1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 18, 20, 25, 30, 35, 40, 50}, 255, {},
               0.1)},
      {"chain", "a chain swinging on a peg", kChain,
       by_seed("hanging-chain", 11, 242, {{"links", 10}}, 0.25)},
      {"capsules", "capsules dropped into a bin", kCapsules,
       by_size("capsule-drop", "capsules", {16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 94, 100}, 249, {}, 0.15)},
      {"kapla-tower", "towers of planks that are hit", kTower,
       by_size("kapla-tower", "planks",
               {12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90, 96, 102, 108, 114, 120, 126, 132},
               201)},
      {"kapla-house", "houses of planks that are hit", kHouse,
       by_size("kapla-house", "storeys", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 100)},
      {"chute-1000", "rocks flowing down a slope", kChute,
       by_size("chute", "rocks", {46, 70, 100, 140, 190, 250, 320, 400, 500, 620, 760, 918}, 156, {}, 0.15)},
      {"chute-4000", "many rocks flowing down a slope", kLargeChute,
       by_size("chute", "rocks", {2880, 3339}, 40, {}, 0.3)},
      {"chute-local", "single contacts of the chute with implicit gyroscopic terms", kLocal,
       local("chute", 3, 834, 20, {{"rocks", 190}})},
      {"perio-box", "rocks sheared under a lid", kPerio, by_seed("shear-box", 4, 106, {{"rocks", 100}}, 0.1)},
      {"spheres-box", "spheres pressed in a box", kSpheres,
       by_seed("sphere-press", 2, 60, {{"spheres", 945}}, 0.2)},
      {"bridge", "an arch of stones that are hit", kBridge, by_seed("arch-bridge", 5, 50, {{"stones", 23}})},
      {"low-wall", "a wall of bricks that are hit", kWall,
       by_seed("low-wall", 5, 50, {{"rows", 8}, {"columns", 10}})},
      {"cubes-fem",
       "cubes of finite elements dropped on each other",
       kCubes,
       {soft_cubes(2, 2, 15), soft_cubes(5, 2, 15), soft_cubes(8, 3, 15), soft_cubes(5, 5, 40),
        soft_cubes(5, 8, 20), soft_cubes(1, 16, 10)}},
  };
}

std::vector<Family> small_plan() {
  return {
      {"boxes-stack", "boxes dropped into a stack", kBoxes,
       by_size("box-drop", "boxes", {1, 2, 5, 10, 20}, 30, {}, 0.1)},
      {"chain", "a chain swinging on a peg", kChain, by_seed("hanging-chain", 2, 20, {{"links", 10}}, 0.25)},
      {"capsules", "capsules dropped into a bin", kCapsules,
       by_size("capsule-drop", "capsules", {16, 24, 40}, 24, {}, 0.15)},
      {"kapla-tower", "towers of planks that are hit", kTower,
       by_size("kapla-tower", "planks", {12, 24, 48}, 24)},
      {"kapla-house", "houses of planks that are hit", kHouse,
       by_size("kapla-house", "storeys", {1, 2, 4}, 12)},
      {"chute-1000", "rocks flowing down a slope", kChute,
       by_size("chute", "rocks", {46, 100}, 16, {}, 0.15)},
      {"chute-local", "single contacts of the chute with implicit gyroscopic terms", kLocal,
       local("chute", 1, 60, 10, {{"rocks", 100}})},
      {"perio-box", "rocks sheared under a lid", kPerio, by_seed("shear-box", 1, 12, {{"rocks", 50}}, 0.1)},
      {"spheres-box", "spheres pressed in a box", kSpheres,
       by_seed("sphere-press", 1, 6, {{"spheres", 125}}, 0.2)},
      {"bridge", "an arch of stones that are hit", kBridge, by_seed("arch-bridge", 2, 12, {{"stones", 23}})},
      {"low-wall", "a wall of bricks that are hit", kWall,
       by_seed("low-wall", 2, 10, {{"rows", 4}, {"columns", 6}})},
      {"cubes-fem",
       "cubes of finite elements dropped on each other",
       kCubes,
       {soft_cubes(2, 2, 3), soft_cubes(5, 2, 4), soft_cubes(5, 3, 3)}},
  };
}

}  // namespace

Index Family::problems() const {
  Index total = 0;
  for (const Trajectory& t : trajectories) total += t.problems;
  return total;
}

std::vector<Family> collection_plan(bool small) { return small ? small_plan() : full_plan(); }

}  // namespace tribo::cli
