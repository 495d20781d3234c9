// Mutation fuzzing of the robot and scene loaders. MJCF and URDF texts and mesh files, made here, are cut short,
// have bytes, words, attributes and elements changed, and are loaded. Loading may succeed or throw InvalidInput;
// anything else (another exception, a crash, a hang) is a failure.
//
//   tribo_loader_fuzz --seconds 60 --seed 1
//
// Prints how many cases ran; exit code 0 if none failed. Meshes that only assimp reads are not mutated: what assimp
// does with damage is not tribo's.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/loading.h"
#include "tests/support/fuzzing.h"
#include "tests/support/png_maker.h"
#include "tribo/base/errors.h"
#include "tribo/io/load.h"
#include "tribo/multibody/tendon_path.h"

namespace tribo::test {
namespace {

namespace fs = std::filesystem;

// A file that is mutated; the others of its case stay as they are.
struct Seed {
  std::string main;     // the file that is loaded
  std::string mutated;  // the file that is damaged
};

const std::string kMjcf =
    R"(<mujoco model="seed"><compiler angle="degree" eulerseq="xyz" autolimits="true" meshdir="."/>
<option timestep="0.002" gravity="0 0 -9.81" density="1.2" viscosity="0.1" wind="1 0 0"><flag contact="enable"/></option>
<default><geom friction="0.7" density="800"/><joint damping="0.1"/><position kp="10" kv="1"/>
  <default class="arm"><geom type="capsule" size="0.05"/><joint axis="0 1 0" range="-90 90"/></default></default>
<asset><mesh name="cube" file="cube.obj" scale="0.1 0.1 0.1"/><mesh name="tip" file="cube.msh"/><mesh file="cube.stl" name="stl"/>
  <mesh name="tetra" vertex="0 0 0 1 0 0 0 1 0 0 0 1" inertia="exact"/>
  <hfield name="hill" nrow="2" ncol="3" size="1 1 0.2 0.1" elevation="0 1 0 1 0 1"/><hfield name="image" file="hill.png" size="1 1 0.2 0.1"/>
  <hfield name="wave" file="hill.bin" size="1 1 0.2 0.1"/><model name="part" file="part.xml"/></asset>
<worldbody><site name="w" pos="1 0 2"/><geom name="roll" type="cylinder" size="0.1 0.2" contype="0" conaffinity="0"/>
  <body name="hand" mocap="true" pos="2 0 0"/><geom name="floor" type="plane" size="1 1 1"/><geom type="hfield" hfield="hill" pos="0 0 -1"/>
  <geom type="hfield" hfield="image" pos="3 0 -1"/><geom type="hfield" hfield="wave" pos="6 0 -1"/>
  <body name="base" pos="0 0 1" euler="10 20 30" childclass="arm"><freejoint/><geom name="hull" type="mesh" mesh="cube"/>
    <body name="upper" pos="0 0 0.3" gravcomp="0.5"><joint name="j1" actuatorgravcomp="true" springdamper="0.1 1"/><joint name="j2" type="slide" axis="1 0 0" range="0 1"/>
      <geom name="bone" fromto="0 0 0 0 0 0.4" fluidshape="ellipsoid" fluidcoef="0.5 0.25 1.5 1 1"/><site name="s" pos="0 0 0.4"/>
      <site name="side" pos="0 0.3 0"/><geom name="ball" type="sphere" size="0.1"/>
      <body name="lower" pos="0 0 0.4" quat="1 0 1 0"><joint name="j3" type="ball" range="0 60"/>
        <inertial pos="0 0 0.1" mass="0.5" diaginertia="0.1 0.1 0.05"/><geom type="box" mesh="tetra"/></body></body></body>
  <replicate count="3" offset="0.5 0 0" euler="0 0 30" sep="_"><frame pos="0 1 0"><body name="r"><joint name="jr"/>
    <geom type="ellipsoid" size="0.1 0.2 0.3" shellinertia="true"/></body></frame></replicate>
  <attach model="part" body="b" prefix="p_"/></worldbody>
<contact><pair geom1="floor" geom2="bone" friction="1 1"/><exclude body1="base" body2="lower"/></contact>
<tendon><fixed name="t" range="-1 1"><joint joint="j1" coef="1"/><joint joint="j2" coef="-2"/></fixed>
  <spatial name="string" range="0 5" stiffness="2" damping="1" frictionloss="0.1"><site site="s"/><geom geom="ball" sidesite="side"/><site site="w"/>
    <pulley divisor="2"/><site site="w"/><geom geom="roll"/><site site="side"/></spatial></tendon>
<equality><connect body1="base" body2="r_0" anchor="0 0 0"/><weld body1="base" body2="upper"/>
  <joint joint1="j1" joint2="j2" polycoef="0 1 0 0 0"/></equality>
<actuator><motor name="m" joint="j1" gear="2"/><position joint="j2" dampratio="1"/><general tendon="t" gainprm="3"/>
  <position tendon="string" kp="3" dampratio="1"/>
  <velocity joint="jr" kv="2"/><muscle joint="j1" lengthrange="-1 1"/><motor site="s" gear="0 0 1 0 0 0.1"/>
  <adhesion body="base" gain="2" ctrlrange="0 1"/><general joint="j1" dyntype="filter" dynprm="0.1" actrange="-1 1"/></actuator>
<keyframe><key qpos="0 0 1 1 0 0 0 0 0 1 0 0 0 0 0 0 0" ctrl="0 0 0 0 0 0 0 0 0 0 0 0" act="0 0" mpos="0 0 0" mquat="1 0 0 0"/></keyframe></mujoco>)";

const std::string kPart =
    R"(<mujoco model="part"><worldbody><body name="b"><joint name="jb"/><geom name="gb" size="0.1"/></body>
</worldbody><actuator><motor joint="jb"/></actuator></mujoco>)";

const std::string kUrdf =
    R"(<robot name="seed"><link name="base"><collision><geometry><box size="1 1 0.1"/></geometry></collision></link>
<link name="a"><inertial><origin xyz="0 0 0.1" rpy="0 0.1 0"/><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 0.1"/><geometry><mesh filename="cube.obj" scale="0.1 0.1 0.1"/></geometry></collision></link>
<link name="b"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><capsule radius="0.1" length="0.3"/></geometry></collision></link>
<link name="c"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="5" velocity="1"/></joint>
<joint name="k" type="prismatic"><parent link="a"/><child link="b"/><origin xyz="0 0 0.3"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="5" velocity="1"/><mimic joint="j" multiplier="2"/></joint>
<joint name="l" type="planar"><parent link="b"/><child link="c"/><axis xyz="0 1 0"/><dynamics damping="0.1" friction="0.1"/></joint></robot>)";

std::string cube_stl() {
  std::string bytes(80, ' ');
  const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  put(std::uint32_t{4});
  const float corners[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const int faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  for (const auto& face : faces) {
    bytes.append(12, '\0');
    for (const int corner : face) {
      for (const float x : corners[corner]) put(x);
    }
    bytes.append(2, '\0');
  }
  return bytes;
}

std::string cube_msh() {
  std::string bytes;
  const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (const std::int32_t n : {4, 0, 0, 4}) put(n);
  for (const float x : {0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f, 0.f, 0.f, 0.f, 1.f}) put(x);
  for (const std::int32_t n : {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3}) put(n);
  return bytes;
}

// Interlaced, with a palette and two bits per pixel: every path of the reader.
std::string hill_png() {
  return png_file({3, 3, 2, 3, true}, bytes_of({0, 0, 1, 64, 2, 128, 3, 64, 4, 16, 0, 27}),
                  bytes_of({0, 0, 0, 90, 0, 0, 200, 0, 0, 255, 0, 0}));
}

std::string hill_bin() {
  std::string bytes;
  const auto put = [&](auto value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof(value)); };
  for (const std::int32_t n : {2, 2}) put(n);
  for (const float z : {0.f, 1.f, 2.f, 3.f}) put(z);
  return bytes;
}

std::string original(const std::string& name) {
  if (name == "case.xml") return kMjcf;
  if (name == "part.xml") return kPart;
  if (name == "case.urdf") return kUrdf;
  if (name == "cube.obj") return cube_obj();
  if (name == "cube.stl") return cube_stl();
  if (name == "hill.png") return hill_png();
  if (name == "hill.bin") return hill_bin();
  return cube_msh();
}

constexpr std::array<const char*, 8> kFiles{"case.xml", "part.xml", "case.urdf", "cube.obj",
                                            "cube.stl", "cube.msh", "hill.png",  "hill.bin"};

const std::vector<Seed>& seeds() {
  static const std::vector<Seed> all{
      {"case.xml", "case.xml"},   {"case.xml", "case.xml"},   {"case.xml", "case.xml"},
      {"case.xml", "part.xml"},   {"case.xml", "cube.obj"},   {"case.xml", "cube.stl"},
      {"case.xml", "cube.msh"},   {"case.xml", "hill.png"},   {"case.xml", "hill.bin"},
      {"case.urdf", "case.urdf"}, {"case.urdf", "case.urdf"}, {"case.urdf", "cube.obj"}};
  return all;
}

void mutate_bytes(std::string& bytes, FuzzDice& dice) {
  constexpr std::array<std::uint32_t, 8> kWords{0u,          1u,          0xffffffffu, 0x7fffffffu,
                                                0x80000000u, 0x7f800000u, 0x7fc00000u, 65536u};
  for (std::size_t n = 1 + dice.below(4); n > 0 && !bytes.empty(); --n) {
    const std::size_t at = dice.below(bytes.size());
    switch (dice.below(5)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
        break;
      case 2:
        bytes[at] = static_cast<char>(dice.bits());
        break;
      case 3: {
        const std::uint32_t word = dice.one_of(kWords);
        const std::size_t start = at & ~std::size_t{3};
        std::memcpy(bytes.data() + start, &word, std::min<std::size_t>(4, bytes.size() - start));
        break;
      }
      default:
        bytes.insert(at, bytes.substr(dice.below(bytes.size()), 1 + dice.below(64)));
    }
  }
}

// The value of an attribute, a number in it, an attribute's name, or a whole element.
void mutate_text(std::string& text, FuzzDice& dice) {
  constexpr std::array<const char*, 26> kValues{
      "",      "0",          "-1",      "1e300", "-1e300", "1e-300",   "nan",      "inf",          "1 2",
      "0 0 0", "2147483648", "1000000", "j1",    "base",   "world",    "true",     "false",        "auto",
      "mesh",  "plane",      "hfield",  "free",  "ball",   "cube.stl", "part.xml", "0 0 0 0 0 0 0"};
  for (std::size_t n = 1 + dice.below(3); n > 0 && !text.empty(); --n) {
    const std::size_t quote = text.find('"', dice.below(text.size()));
    const std::size_t end = quote == std::string::npos ? quote : text.find('"', quote + 1);
    if (end == std::string::npos) continue;
    const std::size_t tag = text.find('<', dice.below(text.size()));
    const std::size_t close = tag == std::string::npos ? tag : text.find('>', tag);
    switch (dice.below(6)) {
      case 0:
      case 1:
        text.replace(quote + 1, end - quote - 1, dice.one_of(kValues));
        break;
      case 2: {  // one number of it
        const std::size_t begin = text.find_first_not_of(" ", quote + 1 + dice.below(end - quote));
        if (begin != std::string::npos && begin < end) {
          text.replace(begin, std::min(text.find_first_of(" \"", begin), end) - begin, dice.one_of(kValues));
        }
        break;
      }
      case 3:
        if (close != std::string::npos) text.erase(tag, close + 1 - tag);
        break;
      case 4:
        if (close != std::string::npos)
          text.insert(dice.below(text.size()), text.substr(tag, close + 1 - tag));
        break;
      default: {  // a value for another attribute's
        const std::string value = text.substr(quote, end + 1 - quote);
        const std::size_t other = text.find('"', dice.below(text.size()));
        const std::size_t other_end = other == std::string::npos ? other : text.find('"', other + 1);
        if (other_end != std::string::npos) text.replace(other, other_end + 1 - other, value);
      }
    }
  }
}

// Damage behind the checksums of the format, which would catch all other.
std::string damaged_png(FuzzDice& dice) {
  std::string raw = bytes_of({0, 0, 1, 64, 2, 128, 3, 64, 4, 16, 0, 27}), palette = "abcdefghijkl";
  mutate_bytes(raw, dice);
  mutate_bytes(palette, dice);
  constexpr std::array<unsigned char, 7> kNumbers{0, 1, 2, 3, 4, 8, 16};
  const PngKind kind{static_cast<std::uint32_t>(dice.below(5)), static_cast<std::uint32_t>(dice.below(5)),
                     dice.one_of(kNumbers), dice.one_of(kNumbers), dice.chance(2)};
  return png_file(kind, raw, palette);
}

fs::path make_case(const fs::path& folder, FuzzDice& dice) {
  const Seed& seed = dice.one_of(seeds());
  for (const char* name : kFiles) {
    std::string bytes = original(name);
    if (name == seed.mutated) {
      const bool text = seed.mutated.ends_with(".xml") || seed.mutated.ends_with(".urdf");
      if (text && !dice.chance(6)) {
        mutate_text(bytes, dice);
      } else if (seed.mutated == "hill.png" && dice.chance(2)) {
        bytes = damaged_png(dice);
      } else {
        mutate_bytes(bytes, dice);
      }
    }
    store(folder / name, bytes);
  }
  return folder / seed.main;
}

// Whatever was loaded has lengths and moment arms.
void measure_tendons(const Model& model) {
  Kinematics kinematics(model);
  kinematics.set_positions(model.reference_coordinates());
  std::vector<double> gradient(static_cast<std::size_t>(model.dof_count()), 0.0);
  double sum = 0.0;
  for (const TendonDescription& tendon : model.tendons())
    sum += add_tendon_gradient(kinematics, tendon, gradient);
  for (const double g : gradient) sum += g;
  if (std::isnan(sum)) throw std::runtime_error("a tendon without a length");
}

// 0: loaded or refused as it should be.
int run_case(const fs::path& path, const fs::path& folder, bool expected, bool allow_missing) {
  LoadReport report;
  try {
    const World world = load_world(path, {.allow_missing = allow_missing}, report);
    validate(world);
    measure_tendons(world.model);
  } catch (const InvalidInput& error) {
    if (expected) {
      fmt::print(stderr, "the seed itself is refused: {}\n", error.what());
      return 3;
    }
    // Every message names a file of the case.
    return std::string_view(error.what()).find(folder.string()) == 0 ? 0 : 4;
  } catch (const std::exception& error) {
    fmt::print(stderr, "unexpected exception: {}\n", error.what());
    return 5;
  }
  return 0;
}

// The seeds themselves must load.
int prepare(const fs::path& folder) {
  for (const char* name : kFiles) store(folder / name, original(name));
  int failures = 0;
  for (const char* name : {"case.xml", "case.urdf"})
    failures += run_case(folder / name, folder, true, false) != 0;
  return failures;
}

}  // namespace
}  // namespace tribo::test

int main(int argc, char** argv) {
  using namespace tribo::test;
  const auto run = [](const fs::path& folder, FuzzDice& dice) {
    const fs::path path = make_case(folder, dice);
    return run_case(path, folder, false, dice.chance(2));
  };
  return fuzz({.name = "loader", .prepare = prepare, .run = run}, argc, argv);
}
