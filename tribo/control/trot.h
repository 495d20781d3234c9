// A trot for four-legged robots that do not see the ground: diagonal pairs of feet swing in turn, the others carry.
//
// Gait. A clock phi runs from 0 to 1 in `period` seconds; a pair stands while its own phase is below `stance_share`. Feet that
// meet the ground early stand at once; feet that miss it go on down, and the clock waits for them.
// Swing. From where it stood to p = n + v (t + T_s / 2) + k (v - v_ref), with n the place below the hip, v the velocity of
// the centre of mass, t what is left of the swing and T_s the time of stance (Raibert 1986), by quintics over `clearance`.
// The joints follow by resolved acceleration: tau = M_l J^-1 (a + K_s e + D_s e' - J' v) + bias of the leg.
// Stance. What the centre of mass and the attitude need, m (a - g) and I alpha with
//   a = K_p e + K_d e' of position and height, alpha = K_r e_r + D_r e_r',
// is shared by the feet that stand, inside their friction cones (force_distribution.h): tau = bias of the leg - J^T f.
// The trunk follows the plane through the last footholds, which is also where feet look for the ground.
//
// Example
//   Trot trot(world, find_quadruped(world), {.height = 0.3});
//   simulator.force().setZero();
//   trot.add_force(simulator.kinematics(), simulator.state(), {.velocity = {0.4, 0.0}}, pressed, simulator.force());
#pragma once

#include <array>

#include "tribo/control/quadruped.h"
#include "tribo/control/trajectory.h"
#include "tribo/multibody/dynamics.h"

namespace tribo {

// Gains are per unit of mass: 1/s^2 on errors, 1/s on their rates. The defaults suit robots of 10 to 15 kg with legs of 0.4 m
// at steps of 1 to 2 ms.
struct TrotSettings {
  double period = 0.44;        // s, of both pairs
  double stance_share = 0.56;  // of the period; above 0.5: the pairs overlap
  double height = 0.29;        // m, of the trunk above the ground
  double clearance = 0.09;     // m, of the feet over the higher end of a swing
  double friction = 0.5;       // that forces may count on
  double effort = 33.5;        // N m, largest torque of a joint
  double settle = 0.25;        // s, all feet stand before the first swing
  double swing_stiffness = 1600.0, swing_damping = 70.0;
  double place_stiffness = 6.0, place_damping = 6.0;  // to the way that the commands describe
  double height_stiffness = 120.0, height_damping = 20.0;
  double attitude_stiffness = 180.0, attitude_damping = 25.0;
  double placement = 0.10;  // k, s: how far feet reach out per m/s of wrong velocity
};

struct TrotCommand {
  Vec2 velocity = Vec2::Zero();  // m/s, ahead and left of where the trunk looks
  double turn_rate = 0.0;        // rad/s, about the vertical
};

class Trot {
 public:
  // Keeps a reference to the world. InvalidInput when a setting is out of range.
  Trot(const World& world, const Quadruped& robot, TrotSettings settings = {});

  // sum += tau on the joints of the legs, [dofs]. `pressed`: force of the ground on each foot along the vertical, N, as of
  // the last step. Once per time step, in the order of time.
  void add_force(const Kinematics& kinematics, const State& state, const TrotCommand& command,
                 const std::array<double, 4>& pressed, Vector& sum);
  // Forgets all of the motion so far.
  void restart();

  enum class Foot : std::uint8_t { stands, swings, seeks };  // seeks: should stand and has not met the ground
  Foot foot(std::size_t leg) const { return legs_[leg].foot; }
  int swings() const { return swings_; }  // begun so far, of all feet

 private:
  struct Leg {
    Foot foot = Foot::stands;
    Vec3 lifted = Vec3::Zero();   // centre of the foot where the swing began, m
    Vec3 target = Vec3::Zero();   // ... where it is to be now
    Vec3 support = Vec3::Zero();  // lowest point of the foot where it stood last
    double away = 0.0;            // s since it was pressed
  };
  // Of the whole robot, at the current state.
  struct Body {
    Vec3 center, velocity;
    Mat3 inertia;  // about the centre, world axes
    double yaw;
  };

  void begin(const Kinematics& kinematics, double time);
  Body body_now(const Kinematics& kinematics) const;
  double phase_of(std::size_t leg) const;
  void advance(double dt);
  void update_leg(std::size_t leg, double pressed, double dt, const Vec3& center);
  void update_ground();
  void follow(const Body& body, const TrotCommand& command, double dt);
  double ground_at(const Vec2& place) const;
  Vec3 foot_center(std::size_t leg, const Kinematics& kinematics) const;
  Vec3 foothold(std::size_t leg, const Kinematics& kinematics, const Body& body, double left) const;
  PoseReference swing_reference(std::size_t leg, const Kinematics& kinematics, const Body& body);
  Vec6 wanted_wrench(const Kinematics& kinematics, const Body& body, const TrotCommand& command) const;
  void carry(const Kinematics& kinematics, const Body& body, const TrotCommand& command);
  void add_leg_force(std::size_t leg, const Kinematics& kinematics, const State& state,
                     const PoseReference& reference, Vector& sum) const;

  const World* world_;
  Quadruped robot_;
  TrotSettings settings_;
  Dynamics dynamics_;
  double mass_ = 0.0;
  std::array<Vec2, 4> neutral_;  // feet with straight legs, in the trunk's frame
  std::array<Leg, 4> legs_;
  std::array<Vec3, 4> force_;  // of the ground on the feet that stand
  Vector bias_;
  Matrix tree_mass_;
  TrotCommand last_command_;
  bool begun_ = false;
  double last_time_ = 0.0, waited_ = 0.0, still_ = 0.0;  // s
  double clock_ = 0.0;                                   // phi
  double yaw_ = 0.0;                                     // of the reference, rad
  Vec2 place_ = Vec2::Zero();                            // of the reference, m
  Vec3 ground_ = Vec3::Zero();                           // height at the world's origin and slopes along x, y
  int swings_ = 0;
};

}  // namespace tribo
