// The surface in which two shapes touch where at least one of them carries a pressure field, cut into faces.
//
// With depths d_a, d_b below the two surfaces and compliances c = H / E [m/Pa] (0: rigid) the pressures are d_a / c_a and
// d_b / c_b. The contact surface is where they are equal,
//
//   phi(x) = (c_b d_a - c_a d_b) / (c_a + c_b) = 0,   d_a + d_b >= 0,   p = (d_a + d_b) / (c_a + c_b),
//
// which is the surface of b where b is rigid (c_b = 0), that of a where a is. p is constant along a common normal, so that
// a small error of the surface's place does not matter to it.
//
// The shape with the finer cells carries a lattice in its own frame, each cell of six tetrahedra. The zeros of phi on the
// edges of one are the corners of a triangle or a quadrilateral, which is clipped where the depths end. With area A, normal n (from a to b),
// mean pressure p of a piece, and the pressure's slope where the shapes approach each other along n,
//
//   g = 1 / (c_a / cos_a + c_b / cos_b),   cos_a = -n . grad d_a,   cos_b = n . grad d_b,
//
// the pieces of a cell make up one face: force F = sum A p n, area sum A, stiffness k = sum A g, acting at the centre of
// pressure. Pieces that look away from the field (a box sunk into foam has such: its lid) fade out between
// cos = 0 and kAway, as the field says nothing about them.
//
// The faces keep their numbers as long as they stay in their cells. Errors fall with the fourth power of
// the cells where the depths are smooth, with the square at their creases; what is finer than a cell is not seen.
// Cost: the cells that meet the surface, found by halving boxes, since phi and the depths change no faster than x.
#pragma once

#include <cstdint>
#include <vector>

#include "tribo/collide/field/pressure_field.h"

namespace tribo {

namespace detail {
class CellCutter;
}

inline constexpr Index kMostPressureCells = 1024;  // along a side of a shape

// A shape with its field, ready to be pressed.
struct PressedShape {
  const Shape* shape = nullptr;
  double compliance = 0.0;  // c = H / E, m/Pa; 0: rigid
  double cell = 0.0;        // m; infinite: never carries the lattice
  double steepness = 1.0;   // inner_depth.h
};
PressedShape pressed_shape(const Shape& shape, const PressureField& field);

struct PressureFace {
  Vec3 position;      // centre of pressure, world
  Vec3 normal;        // from a to b
  double area;        // m^2
  double pressure;    // |F| / area, Pa
  double stiffness;   // k, N/m
  std::uint64_t key;  // unique among the faces of the pair; persistent from step to step
};

struct PlacedShape {
  const PressedShape& pressed;
  const Pose& pose;
  double thickness = 0.0;  // m; the surface stands this much further out
};

class PressureFaces {
 public:
  // Appends the faces; `most`: 0 or their largest number, see PressureField::max_faces. One of the two must be soft.
  void find(const PlacedShape& a, const PlacedShape& b, Index most, std::vector<PressureFace>& faces);

 private:
  struct Piece {  // sums over a cell, in the frame of the lattice
    std::uint64_t cell = 0;
    Vec3 force = Vec3::Zero(), moment = Vec3::Zero();  // sum A p n, sum A p x
    double push = 0.0, area = 0.0, stiffness = 0.0;    // sum A p
    void add(const Piece& other);
  };
  friend class detail::CellCutter;

  void merge(Index most);

  std::vector<Piece> pieces_, merged_;
};

}  // namespace tribo
