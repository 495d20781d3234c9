// What is simulated: a mechanism, shapes on its bodies, materials, and what couples bodies beyond the joints.
// A World is constant during a simulation; State changes. Units: SI.
//
// Example: a crate on the floor.
//   World world;
//   ModelBuilder builder;
//   Index crate = builder.add_free_body("crate", {Vec3(0, 0, 0.5)}, uniform_inertia(Shape::box(half), 10.0));
//   world.model = builder.build();
//   world.add_geom({.shape = Shape::plane()});                          // on the world
//   world.add_geom({.shape = Shape::box(half), .body = crate, .material = {.friction = 0.8}});
//   Simulator simulator(world);
//   simulator.step();
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tribo/collide/field/pressure_field.h"
#include "tribo/collide/shape.h"
#include "tribo/flex/elasticity.h"
#include "tribo/flex/tet_mesh.h"
#include "tribo/multibody/model_builder.h"
#include "tribo/multibody/state.h"
#include "tribo/sim/sensors/sensor.h"

namespace tribo {

// Surface of a shape. Two materials meet in a contact:
//   friction     by World::friction_rule, each of the coefficients
//   stiffness    in series, k = k1 k2 / (k1 + k2); infinite on both sides: a rigid contact
//   dissipation  tau = (k2 tau1 + k1 tau2) / (k1 + k2), Castro et al. (2022); rigid: the mean
//   restitution  the larger one
// The material of higher priority wins alone.
struct Material {
  double friction = 0.5;                                       // Coulomb's mu >= 0, sliding
  double torsional = 0.0;                                      // m, >= 0; acts where the contact has 4 rows
  double rolling = 0.0;                                        // m, >= 0; acts where the contact has 6 rows
  double stiffness = std::numeric_limits<double>::infinity();  // N/m, point contact stiffness
  double dissipation_time = 0.0;                               // s, tau_d
  double restitution = 0.0;                                    // in [0, 1]
  int priority = 0;
  bool operator==(const Material&) const = default;
};

enum class FrictionRule : std::uint8_t {
  maximum,   // max(mu1, mu2): MuJoCo
  harmonic,  // 2 mu1 mu2 / (mu1 + mu2): Drake
  geometric  // sqrt(mu1 mu2)
};

// Red, green, blue, opacity, each 0 .. 1. For display alone.
using Color = std::array<float, 4>;

struct Geom {
  std::string name = {};
  Shape shape = Shape::plane();
  Index body = 0;  // 0: fixed in the world
  Pose pose = {};  // in the body frame
  Material material = {};
  // Two geoms may touch if (type_a & affinity_b) || (type_b & affinity_a).
  std::uint32_t contact_type = 1, contact_affinity = 1;
  bool frictionless = false;  // together with another frictionless one: one row instead of three
  // Rows of its contacts where they have friction, the larger one of two geoms: 3 sliding, 4 also torsional friction
  // about the normal, 6 also rolling friction about the tangents.
  Index friction_rows = 3;
  double margin = 0.0;  // m; contacts are made within the sum of the margins, and at least World::margin
  // m; the surface that touches stands this much further out. Gaps of contacts are between these surfaces.
  double thickness = 0.0;
  // Where one of two geoms is soft, they touch in faces with an area and a pressure (docs/pressure-fields.md): friction,
  // dissipation time and thickness count there as usual, stiffness, restitution and rows beyond sliding do not.
  std::optional<PressureField> pressure = {};
  std::optional<Color> color = {};  // none: whoever draws it chooses
  bool visual = true;               // drawn as part of the body's look; false: only among collision shapes
};

// A shape that is drawn and takes no part in the simulation.
struct Visual {
  std::string name = {};
  Shape shape = Shape::plane();
  Index body = 0;
  Pose pose = {};  // in the body frame
  std::optional<Color> color = {};
};

// Overrides filter and material for two geoms.
struct GeomPair {
  Index first = 0, second = 0;
  Material material = {};
  bool frictionless = false;
  double margin = 0.0;
  double thickness = 0.0;   // m, of both together
  Index friction_rows = 3;  // see Geom
  // Sliding and rolling friction along the second tangent of the contact's frame (sim/contact/contact_constraints.h);
  // negative: as along the first.
  double second_friction = -1.0, second_rolling = -1.0;
};

// Bilateral couplings.
struct Connect {  // a point of one body stays on a point of another
  std::string name = {};
  Index first = 0, second = 0;       // bodies; 0: the world
  Vec3 first_anchor = Vec3::Zero();  // in the bodies' frames
  Vec3 second_anchor = Vec3::Zero();
};
struct Weld {  // a frame of one body stays on a frame of another
  std::string name = {};
  Index first = 0, second = 0;
  Pose first_frame, second_frame;
};
struct JointCoupling {  // q1 - q1_ref = polynomial(q2 - q2_ref); second < 0: a constant
  std::string name = {};
  Index first = 0, second = -1;  // scalar joints
  std::array<double, 5> polynomial{0, 1, 0, 0, 0};
};
struct
    TendonCoupling {  // the same for tendon lengths, relative to their lengths at the reference coordinates
  std::string name = {};
  Index first = 0, second = -1;
  std::array<double, 5> polynomial{0, 1, 0, 0, 0};
};

struct Keyframe {
  std::string name = {};
  State state;
  Vector control;  // [actuators]
};

// What the bodies move in; without density and viscosity there is no drag. See sim/forces/body_forces.h.
struct Medium {
  double density = 0.0;      // kg/m^3
  double viscosity = 0.0;    // Pa s
  Vec3 wind = Vec3::Zero();  // m/s
};

// Stands for a body in the medium, in place of the box of its inertia. See sim/forces/fluid_ellipsoid.h for the coefficients.
struct FluidEllipsoid {
  Index body = 0;
  Pose pose = {};                 // in the body frame
  Vec3 semi_axes = Vec3::Ones();  // m
  double blunt_drag = 0.5, slender_drag = 0.25, angular_drag = 1.5, kutta_lift = 1.0, magnus_lift = 1.0;
};

// A point of a body, to which a node of a flexible body is tied.
struct NodeAttachment {
  Index node = 0;
  Index body = 0;              // of the model; 0: the world
  Vec3 anchor = Vec3::Zero();  // in the body's frame, m
};

// A body that bends: see docs/flexible-bodies.md.
struct FlexibleBody {
  std::string name = {};
  TetMesh mesh = {};  // at rest, in its own frame
  Pose pose = {};     // of that frame in the world, at the beginning
  Elasticity elasticity = {};
  Material material = {};  // of its surface; without restitution and friction of torsion and rolling
  std::vector<Index> fixed_nodes = {};  // stay where they are at the beginning
  std::vector<NodeAttachment> attachments = {};
  std::uint32_t contact_type = 1, contact_affinity = 1;  // as of a geom
  double margin = 0.0;                                   // m, as of a geom
  std::optional<Color> color = {};
};

struct World {
  std::string name = {};
  Model model;
  std::vector<Geom> geoms;
  std::vector<GeomPair> pairs;
  std::vector<std::pair<Index, Index>> excluded_bodies;
  std::vector<Connect> connects;
  std::vector<Weld> welds;
  std::vector<JointCoupling> joint_couplings;
  std::vector<TendonCoupling> tendon_couplings;
  std::vector<Keyframe> keyframes;
  std::vector<FluidEllipsoid> fluid_ellipsoids;
  std::vector<Visual> visuals;  // LoadOptions::visuals
  std::vector<SensorDescription> sensors;
  std::vector<FlexibleBody> flexible_bodies;

  Vec3 gravity = Vec3(0.0, 0.0, -9.81);
  Medium medium;
  Vec3 magnetic_field = Vec3(0.0, -0.5, 0.0);  // for magnetometers; MuJoCo's usual one
  double time_step = 0.002;                    // s
  double margin = 0.0;                         // m, smallest contact margin of any pair
  FrictionRule friction_rule = FrictionRule::maximum;
  bool parent_child_contacts = false;  // a body against the body it hangs on (never the world's geoms)

  Index add_geom(Geom geom);
  Index add_flexible_body(FlexibleBody body);
  Index find_geom(std::string_view geom_name) const;  // -1: none
  Index find_sensor(std::string_view sensor_name) const;
};

// Inertia of a solid of uniform density with the given mass [kg], in the shape's frame.
RigidInertia uniform_inertia(const Shape& shape, double mass);
RigidInertia inertia_of_density(const Shape& shape, double density);  // kg/m^3

// InvalidInput naming the geom, pair, coupling, flexible body or option that is wrong.
void validate(const World& world);

// Of the model, with flexible bodies at rest where they are described.
State initial_state(const World& world);
// First node of a flexible body among all nodes; of the one behind the last: their number.
Index first_node(const World& world, Index flexible_body);

}  // namespace tribo
