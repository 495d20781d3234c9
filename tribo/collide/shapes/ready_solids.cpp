#include "tribo/collide/shapes/ready_solids.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

using Value = ReadySolid::Value;
using Values = std::map<std::string, double, std::less<>>;

constexpr double kHexagon = 2.0 * std::numbers::pi / 6.0;

void require(bool good, const std::string& message) {
  if (!good) throw InvalidInput(message);
}

void require_sizes(std::string_view body, std::initializer_list<std::pair<const char*, double>> sizes) {
  for (const auto& [name, value] : sizes)
    require(std::isfinite(value) && value > 0.0,
            fmt::format("{} of a {} is {}: it must be finite and > 0", name, body, value));
}

Profile hexagon(double across_flats) {
  std::vector<Vec2> corners;
  const double radius = across_flats / std::sqrt(3.0);
  for (int k = 0; k < 6; ++k)
    corners.emplace_back(radius * std::cos(k * kHexagon), radius * std::sin(k * kHexagon));
  return Profile::polygon(std::move(corners));
}

struct Thread {
  double major, minor, pitch;  // radii

  explicit Thread(const ThreadShape& s)
      : major(0.5 * s.diameter),
        minor(0.5 * s.diameter - 0.625 * 0.5 * std::sqrt(3.0) * s.pitch),
        pitch(s.pitch) {
    require_sizes("thread", {{"diameter", s.diameter}, {"pitch", s.pitch}, {"across_flats", s.across_flats}});
    require(s.pitch <= 0.25 * s.diameter,
            fmt::format("pitch of a thread is {}: it must be at most a quarter of the diameter {}", s.pitch,
                        s.diameter));
    require(s.across_flats > s.diameter + 2.0 * s.pitch,
            fmt::format("across_flats of a thread is {}: it must exceed the diameter {} by two pitches",
                        s.across_flats, s.diameter));
  }

  // The crest is at z = 0 in the direction x; a turn before and after makes the distance exact between -P/2 and P/2.
  Profile figure() const {
    constexpr int turns = 1;
    std::vector<Vec2> outline;
    const double deep = -major;
    outline.emplace_back(deep, -(turns + 0.5) * pitch);
    outline.emplace_back(minor, -(turns + 0.5) * pitch);
    for (int k = -turns; k <= turns; ++k)
      for (const auto& [radius, share] :
           {std::pair(minor, -6.0), std::pair(major, -1.0), std::pair(major, 1.0), std::pair(minor, 6.0)})
        outline.emplace_back(radius, (k + share / 16.0) * pitch);
    outline.emplace_back(minor, (turns + 0.5) * pitch);
    outline.emplace_back(deep, (turns + 0.5) * pitch);
    return Profile::polygon(std::move(outline));
  }
  double inner() const { return minor - 0.75 * pitch; }
};

}  // namespace

Solid dish(const DishShape& shape) {
  require_sizes("dish", {{"thickness", shape.thickness}, {"radius of A", shape.a.x()}});
  return Solid::revolve(Profile::polyline({Vec2::Zero(), shape.a, shape.b}).rounded(0.5 * shape.thickness));
}

Solid bottle(const BottleShape& s) {
  require_sizes("bottle", {{"radius", s.radius},
                           {"height", s.height},
                           {"neck_radius", s.neck_radius},
                           {"neck_height", s.neck_height},
                           {"shoulder_height", s.shoulder_height},
                           {"thickness", s.thickness}});
  const double shoulder = s.height - s.neck_height, wall = shoulder - s.shoulder_height;
  require(wall > 0.0, fmt::format("height of a bottle is {}: it must exceed those of shoulder and neck, {}",
                                  s.height, s.neck_height + s.shoulder_height));
  return Solid::revolve(Profile::polyline({Vec2::Zero(),
                                           {s.radius, 0.0},
                                           {s.radius, wall},
                                           {s.neck_radius, shoulder},
                                           {s.neck_radius, s.height}})
                            .rounded(0.5 * s.thickness));
}

Solid threaded_bolt(const ThreadShape& s) {
  const Thread thread(s);
  require_sizes("bolt", {{"length", s.length}});
  require(s.length > 2.0 * s.pitch,
          fmt::format("length of a bolt is {}: it must exceed two pitches", s.length));
  const double half = 0.5 * s.length, outer = thread.major + 0.25 * s.pitch;
  const double chamfer = outer - thread.minor + 0.25 * s.pitch;  // its end is below the root of the thread
  const double low = s.head_height > 0.0 ? half + 0.5 * s.pitch : half;  // into the head
  const double low_chamfer = s.head_height > 0.0 ? 0.0 : chamfer;
  std::vector<Vec2> envelope{{-outer, half - chamfer},
                             {-(outer - chamfer), half},
                             {outer - chamfer, half},
                             {outer, half - chamfer},
                             {outer, -low + low_chamfer}};
  if (low_chamfer > 0.0)
    envelope.emplace_back(outer - chamfer, -low), envelope.emplace_back(chamfer - outer, -low);
  envelope.emplace_back(-outer, -low + low_chamfer);
  const Solid rod = intersect(Solid::helix(thread.figure(), s.pitch, thread.inner(), low),
                              Solid::revolve(Profile::polygon(envelope)));
  if (!(s.head_height > 0.0)) return rod;
  const Solid head = Solid::prism(hexagon(s.across_flats), 0.5 * s.head_height);
  return unite(rod, head.moved({Vec3(0.0, 0.0, -half - 0.5 * s.head_height), Mat3::Identity()}));
}

Solid threaded_nut(const ThreadShape& s) {
  const Thread thread(s);
  require_sizes("nut", {{"nut_height", s.nut_height}});
  require(std::isfinite(s.clearance) && s.clearance >= 0.0 && s.clearance < 0.2 * s.pitch,
          fmt::format("clearance of a nut is {}: it must be from 0 to a fifth of the pitch", s.clearance));
  const double half = 0.5 * s.nut_height, mouth = thread.major + s.clearance + 0.05 * s.pitch;
  const Profile figure = s.clearance > 0.0 ? thread.figure().rounded(s.clearance) : thread.figure();
  const Solid hole = Solid::helix(figure, s.pitch, thread.inner(), half + s.pitch);
  // Countersunk at 45 degrees to the major diameter.
  const double wide = mouth + s.pitch, end = half + s.pitch;
  const Profile cone = Profile::polygon({{0.0, half - mouth}, {wide, end}, {-wide, end}});
  const Profile other = Profile::polygon({{0.0, mouth - half}, {-wide, -end}, {wide, -end}});
  return subtract(subtract(subtract(Solid::prism(hexagon(s.across_flats), half), hole), Solid::revolve(cone)),
                  Solid::revolve(other));
}

namespace {

constexpr std::array<Value, 5> kDish{{{"a_radius", 0.035, "distance of A from the axis"},
                                      {"a_height", 0.0, "height of A"},
                                      {"b_radius", 0.07, "distance of B (rim) from the axis"},
                                      {"b_height", 0.055, "height of B"},
                                      {"thickness", 0.005, "of the wall"}}};
constexpr std::array<Value, 5> kPlate{{{"a_radius", 0.06, "distance of A from the axis"},
                                       {"a_height", 0.0, "height of A"},
                                       {"b_radius", 0.11, "distance of B (rim) from the axis"},
                                       {"b_height", 0.02, "height of B"},
                                       {"thickness", 0.005, "of the wall"}}};
constexpr std::array<Value, 5> kPot{{{"a_radius", 0.085, "distance of A from the axis"},
                                     {"a_height", 0.0, "height of A"},
                                     {"b_radius", 0.085, "distance of B (rim) from the axis"},
                                     {"b_height", 0.1, "height of B"},
                                     {"thickness", 0.006, "of the wall"}}};
constexpr std::array<Value, 6> kBottle{{{"radius", 0.035, "of the middle of the wall"},
                                        {"height", 0.16, "to the rim"},
                                        {"neck_radius", 0.02, "of the neck"},
                                        {"neck_height", 0.03, "of the neck"},
                                        {"shoulder_height", 0.03, "between wall and neck"},
                                        {"thickness", 0.004, "of the wall"}}};
constexpr std::array<Value, 5> kBolt{{{"diameter", 0.048, "major diameter of the thread"},
                                      {"pitch", 0.005, "of the thread"},
                                      {"across_flats", 0.075, "of the head"},
                                      {"length", 0.08, "of the thread"},
                                      {"head_height", 0.03, "0: a threaded rod"}}};
constexpr std::array<Value, 5> kNut{{{"diameter", 0.048, "major diameter of the thread"},
                                     {"pitch", 0.005, "of the thread"},
                                     {"across_flats", 0.075, "of the hexagon"},
                                     {"clearance", 1e-4, "normal to the flanks"},
                                     {"nut_height", 0.038, "of the nut"}}};
constexpr std::array<Value, 2> kTorus{
    {{"radius", 0.05, "of the ring's middle line"}, {"thickness", 0.02, "diameter of its wire"}}};

constexpr std::array<ReadySolid, 8> kReady{
    {{"dish", "revolved O A B, thickened (Lee et al. 2024, App. B)", kDish},
     {"bowl", "a dish with a steep wall", kDish},
     {"plate", "a flat dish", kPlate},
     {"pot", "a dish with an upright wall", kPot},
     {"bottle", "a wall, a shoulder and an open neck", kBottle},
     {"bolt", "metric thread below a hexagonal head", kBolt},
     {"nut", "hexagon with a metric thread", kNut},
     {"torus", "a ring", kTorus}}};

Values completed(const ReadySolid& solid, const Values& given) {
  Values all;
  std::string names;
  for (const Value& v : solid.values) {
    all[std::string(v.name)] = v.value;
    names += (names.empty() ? "" : ", ") + std::string(v.name);
  }
  for (const auto& [name, value] : given) {
    const auto at = all.find(name);
    require(at != all.end(), fmt::format("a {} has no '{}'; there are: {}", solid.name, name, names));
    require(std::isfinite(value), fmt::format("{} of a {} is not finite", name, solid.name));
    at->second = value;
  }
  return all;
}

}  // namespace

std::span<const ReadySolid> ready_solids() { return kReady; }

Solid ready_solid(std::string_view name, const Values& values) {
  std::string names;
  for (const ReadySolid& solid : kReady) {
    names += (names.empty() ? "" : ", ") + std::string(solid.name);
    if (solid.name != name) continue;
    const Values v = completed(solid, values);
    const auto at = [&](std::string_view key) { return v.find(key)->second; };
    if (name == "bottle")
      return bottle({at("radius"), at("height"), at("neck_radius"), at("neck_height"), at("shoulder_height"),
                     at("thickness")});
    if (name == "bolt")
      return threaded_bolt({.diameter = at("diameter"),
                            .pitch = at("pitch"),
                            .across_flats = at("across_flats"),
                            .length = at("length"),
                            .head_height = at("head_height")});
    if (name == "nut")
      return threaded_nut({.diameter = at("diameter"),
                           .pitch = at("pitch"),
                           .across_flats = at("across_flats"),
                           .clearance = at("clearance"),
                           .nut_height = at("nut_height")});
    if (name == "torus") {
      require_sizes(name, {{"radius", at("radius")}, {"thickness", at("thickness")}});
      return Solid::revolve(Profile::circle({at("radius"), 0.0}, 0.5 * at("thickness")));
    }
    return dish({.a = {at("a_radius"), at("a_height")},
                 .b = {at("b_radius"), at("b_height")},
                 .thickness = at("thickness")});
  }
  throw InvalidInput(fmt::format("there is no ready solid '{}'; there are: {}", name, names));
}

}  // namespace tribo
