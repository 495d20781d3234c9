// Elastic laws of a linear tetrahedron, isotropic: the deformation gradient F = dx/dX is the same everywhere in it. With
// lambda and mu of Lame, energy density Psi [Pa] and first Piola-Kirchhoff stress P = dPsi/dF:
//
// | law          | strain                    | Psi                                  | P                                    |
// | linear       | e = sym(F) - 1            | mu e:e + lambda/2 tr^2 e             | 2 mu e + lambda tr(e) 1              |
// | corotational | e = S - 1, F = R S        | the same                             | R (2 mu e + lambda tr(e) 1)          |
// | stvk         | e = (F^T F - 1) / 2       | the same                             | F (2 mu e + lambda tr(e) 1)          |
//
// Linear: small turns only. Corotational (R from the polar decomposition): turns of any size, small strains, soft elements
// that were squeezed flat or inside out come back. stvk (St. Venant-Kirchhoff): turns of any size, no such way back.
//
// Stiffness between the nodes a and b with the gradients g_a, g_b of their shape functions, per volume:
//   K_ab = (g_a . T g_b) 1 + mu ((g_a . g_b) B B^T + (B g_b) (B g_a)^T) + lambda (B g_a) (B g_b)^T
// with B = 1, R, F and T = 0, 0, 2 mu e + lambda tr(e) 1: the derivative of the forces for the linear law and for stvk.
// The corotational form is positive semidefinite and symmetric (rotated K); its exact derivative also has
//   K_ab = 2 mu (g_a . g_b) 1 + lambda (R g_a) (R g_b)^T - c R [g_a] G^-1 [g_b] R^T,
//   c = lambda tr(e) - 2 mu,  G = tr(S) 1 - S   ([g]: x -> g x x)
// which is not positive where elements are compressed. Positive stvk: T without its negative eigenvalues.
#pragma once

#include <cstdint>
#include <string_view>

#include "tribo/base/types.h"

namespace tribo {

enum class ElasticLaw : std::uint8_t { linear, corotational, stvk };
std::string_view to_string(ElasticLaw law);
ElasticLaw elastic_law_from_name(std::string_view name);  // InvalidInput lists the names

// Which derivative of the forces.
enum class Tangent : std::uint8_t { exact, positive };

enum class MassMatrix : std::uint8_t {
  consistent,  // rho V / 20 (1 + delta_ab): exact for motions that are linear in an element, rigid ones included
  lumped       // a quarter of each element at its corners: diagonal
};

struct Elasticity {
  ElasticLaw law = ElasticLaw::corotational;
  double young = 1e6;              // Pa, Young's modulus > 0
  double poisson = 0.3;            // Poisson's ratio, -1 < nu < 0.5
  double density = 1000.0;         // kg/m^3, > 0
  double mass_damping = 0.0;       // 1/s, alpha >= 0 of D = alpha M + beta K (Rayleigh)
  double stiffness_damping = 0.0;  // s, beta >= 0
  MassMatrix mass = MassMatrix::consistent;

  double lame_lambda() const { return young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)); }  // Pa
  double lame_mu() const { return 0.5 * young / (1.0 + poisson); }                                    // Pa
  bool operator==(const Elasticity&) const = default;
};
// InvalidInput naming the field and `owner`.
void validate(const Elasticity& elasticity, std::string_view owner);

// The orthogonal factor R of F = R S with det R = 1, also where det F <= 0 (then the axis of least stretch is turned inside
// out); the identity where F is not finite.
Mat3 polar_rotation(const Mat3& f);

// An element under a deformation gradient, prepared for energies, stresses and stiffness.
class DeformedElement {
 public:
  DeformedElement(const Elasticity& elasticity, const Mat3& f);

  double energy_density() const;  // J/m^3
  Mat3 stress() const;            // P, Pa
  void prepare(Tangent tangent);  // before stiffness()
  // K_ab per volume, Pa/m^2 with gradients in 1/m.
  Mat3 stiffness(const Vec3& ga, const Vec3& gb) const;

 private:
  ElasticLaw law_;
  double lambda_, mu_;
  Mat3 f_;
  Mat3 base_;     // B
  Mat3 strain_;   // e
  Mat3 tension_;  // T
  Mat3 square_;   // B B^T
  bool turning_ = false;
  Mat3 inverse_g_;
  double turning_stress_ = 0.0;  // c
};

}  // namespace tribo
