// What the robot of the scene `assembly` does: takes the nut, lays it on the thread's helix above the stud, screws it down in
// strokes with new grasps between them, until the torque says that it sits.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "tribo/collide/shapes/ready_solids.h"
#include "tribo/control/cartesian_impedance.h"
#include "tribo/control/phases.h"
#include "tribo/scenes/manipulators.h"

namespace tribo::detail::assembly {

inline constexpr double kTurn = 2.0 * std::numbers::pi;

// Where things stand, m; the arm's base is the origin.
inline const Vec3 kStudPlace(0.5, 0.0, 0.0), kBlockPlace(0.42, 0.26, 0.0);
inline constexpr double kWorkpiece = 0.08, kBlock = 0.06;  // heights
inline constexpr double kLift = 0.07;                      // of the tool above what it leaves
inline constexpr double kAbove = 0.012;                    // m: the pads' middle above the nut's
// rad: the tool's angle about the vertical with the last joint in the middle of its range, straight ahead.
inline constexpr double kMiddle = std::numbers::pi;
// rad, of one grasp: five of the hexagon's sixths, within the last joint's range.
inline constexpr double kStroke = 5.0 / 6.0 * kTurn;

struct Layout {
  double protrusion;  // of the stud above the workpiece
  ThreadShape stud, nut;
  double stud_height() const { return kWorkpiece + protrusion - 0.5 * stud.length; }  // of its frame
  double seat() const { return kWorkpiece + 0.5 * nut.nut_height; }                   // of the nut's
  // Heights at which the flanks of a nut that is turned so are in the middle of their play: the lowest above the first touch,
  // half a pitch and the chamfers below the end of the stud.
  double above_thread(double turn) const {
    const double first = seat() + protrusion - 0.8 * nut.pitch, on = stud_height() + nut.pitch * turn / kTurn;
    return on + nut.pitch * std::ceil((first - on) / nut.pitch);
  }
  // Axial play of the flanks to either side of the middle.
  double play() const { return nut.clearance / std::cos(kTurn / 12.0); }
};

// Of position and angle about the vertical: the tool points down and opens along x at 0.
Vector place_at(const Vec3& place, double height, double angle);
Pose tool_pose(const Vector& place);
// The angle nearest to `wish` at which the pads lie on two flats of a nut that is turned by `turn`.
double pad_angle(double turn, double wish);
// The pads' angle on a nut that is turned by `turn` from which a stroke ends deepest in the thread.
double grasp_angle(const Layout& layout, double turn);

struct Parts {
  Manipulator arm, gripper;
  Manipulator passive = {};  // joints of the gripper that only its gears move
  Index pad = 0;             // body of one pad
  double closing = -1.0;     // +1 where the gripper's coordinates grow while it closes, else -1
  Index nut = 0;
};

// A leg of the tool's way: duration, s, and where it ends.
using Leg = std::pair<double, Vector>;

// What the controller remembers and what is measured of it.
class AssemblyTask {
 public:
  AssemblyTask(World world, Parts parts, const Layout& layout, const Vector& posture, int start);

  void control(Simulator& s);
  void observe(const Simulator& s, const StepReport& report);
  std::vector<Observable> observables(const Simulator& s) const;

 private:
  std::vector<Phase> phases();
  std::vector<Phase> screwing_phases();
  Phase move(const char* name, std::function<std::vector<Leg>()> way, const char* next = "");
  Phase turning(const char* seated, const char* stroke_done);
  void restart(const Simulator& s);
  void follow(const std::vector<Leg>& way);
  void press(Simulator& s);
  // The tool turns about the nut's axis, wherever it is between the pads.
  void center() {
    aside_ = impedance_.pose(now_->kinematics()).to_local(nut().position);
    aside_.z() = 0.0;
  }
  Pose nut() const { return now_->kinematics().pose(parts_.nut); }
  Pose nut_in_hand() const { return now_->kinematics().pose(parts_.pad).inverse() * nut(); }
  double time() const { return now_->state().time; }

  World world_;
  Parts parts_;
  Layout layout_;
  CartesianImpedance impedance_;
  std::array<Index, 2> jaws_;  // joints
  int start_;
  std::unique_ptr<Phases> task_;

  const Simulator* now_ = nullptr;  // during control() and observe()
  Reference command_;
  std::unique_ptr<Trajectory> path_;
  double grip_ = 0.0;          // N
  Vec3 aside_ = Vec3::Zero();  // the nut's axis in the tool's frame
  bool closed_ = false, carries_ = false, turns_ = false;
  Threshold seated_{0.0};
  // Measured.
  bool counts_ = false;
  double turned_ = 0.0, last_turn_ = 0.0, counted_from_ = 0.0, slip_ = 0.0, deepest_ = 0.0, torque_ = 0.0;
  Pose in_hand_;
};

}  // namespace tribo::detail::assembly
