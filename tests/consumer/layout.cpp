// Objects of Eigen pass between this program and the library in both directions: in structs by value and by reference,
// in vectors that one side allocates and the other resizes or frees. Built with several instruction sets, of which
// Eigen's alignment would depend if the target tribo::core did not carry it.
#include <Eigen/Dense>
#include <cmath>
#include <cstdio>
#include <vector>

#include "tribo/sim/simulator.h"

namespace {

// A box turned by a quarter about z, which only holds its place if quaternions arrive: 2 kg on a plane, 1 m/s along x.
tribo::World sliding_box() {
  const tribo::Shape box = tribo::Shape::box(tribo::Vec3(0.1, 0.2, 0.05));
  const tribo::Quat quarter(std::sqrt(0.5), 0.0, 0.0, std::sqrt(0.5));
  tribo::ModelBuilder builder;
  std::vector<tribo::BodyDescription> bodies(3);  // an array: size and alignment of the struct both count
  for (tribo::BodyDescription& body : bodies) {
    body.position = tribo::Vec3(0.0, static_cast<double>(&body - bodies.data()), 0.05);
    body.rotation = quarter;
    body.inertia = tribo::uniform_inertia(box, 2.0);
  }
  tribo::World world;
  for (const tribo::BodyDescription& body : bodies) {
    const tribo::Index number = builder.add_body(body);
    builder.add_joint({.body = number, .kind = tribo::JointKind::free});
    world.add_geom({.shape = box, .body = number, .material = {.friction = 0.5}});
  }
  world.add_geom({.shape = tribo::Shape::plane(), .material = {.friction = 0.5}});
  world.model = builder.build();
  return world;
}

// Eigen's blocked product wants the widest alignment of all; so does memory that grows.
double product_error() {
  const tribo::Matrix a = tribo::Matrix::Random(203, 155), b = tribo::Matrix::Random(155, 97);
  const tribo::Matrix fast = a * b, slow = a.lazyProduct(b);
  tribo::Vector grown = fast.col(3);
  grown.conservativeResize(1001);
  return (fast - slow).norm() + (grown.head(203) - slow.col(3)).norm();
}

}  // namespace

int main() {
  tribo::Simulator simulator(sliding_box());
  tribo::State state = simulator.state();
  const double turned = std::abs(state.q[6] - std::sqrt(0.5));  // z of the quaternion wxyz after the position
  state.v = tribo::Vector::Zero(state.v.size());                // allocated here, freed there
  for (tribo::Index k = 0; k < 3; ++k) state.v[6 * k] = 1.0;
  simulator.set_state(state);
  while (simulator.state().time < 0.5) simulator.step();
  state = simulator.state();  // allocated there, freed here

  // Coulomb: v^2 / (2 mu g); symplectic Euler is first order in the step of 2 ms.
  const double distance = 1.0 / (2.0 * 0.5 * 9.81), off = std::abs(state.q[0] - distance);
  const double product = product_error();
  std::printf(
      "alignment %d, %zu bytes a body; slid %.4f m (Coulomb: %.4f m), turned %.1e off, product %.1e off\n",
      EIGEN_MAX_ALIGN_BYTES, sizeof(tribo::BodyDescription), state.q[0], distance, turned, product);
  return off < 2e-3 && turned < 1e-12 && product < 1e-9 && simulator.missed_steps() == 0 ? 0 : 1;
}
