#include "tribo/collide/field/pressure_faces.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <limits>

#include "tribo/collide/field/inner_depth.h"

namespace tribo {

namespace detail {

namespace {

constexpr double kCellsAlong =
    10.0;  // of a shape's longest side where no resolution is given: 100 faces on a whole side
// Cosine between the normal and the way out of the field at which a face no longer counts: 112.5 degrees, the angle from which
// Drake's hydroelastic contact drops faces; between a right angle and this the face fades.
constexpr double kAway = -0.3827;
constexpr double kLeastCosine =
    0.1;  // of the slope g: no face is softer than a tenth of one that is met straight

// The six tetrahedra of a cell around its diagonal 0-7; corner bits are x, y, z. Neighbouring cells match.
constexpr std::array<std::array<int, 4>, 6> kTetrahedra{
    {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}}};

struct Corner {
  Vec3 x;
  double phi = 0.0, pressed = 0.0, overlap = 0.0;  // m; the last one d_a + d_b
};

// A convex polygon of at most six corners: a quadrilateral and what clipping adds.
struct Polygon {
  std::array<Corner, 6> corner;
  int size = 0;
  void add(const Corner& c) { corner[static_cast<std::size_t>(size++)] = c; }
  const Corner& operator[](int k) const { return corner[static_cast<std::size_t>(k)]; }
};

constexpr double kRoot = 1e-7;  // of the length of an edge: how exactly a surface is found on it
constexpr int kRootSteps = 30;

// Where f leaves f >= 0 on the way from a to b; f(a) >= 0 > f(b). Faces of shapes may lie in the edges of the lattice, where f
// is 0 until the face ends: there the end counts. Regula falsi (Illinois) where f falls, else halving.
template <class F>
double leaving(double at_a, double at_b, double zero, const F& f) {
  double low = 0.0, high = 1.0;
  const bool flat = at_a <= zero;
  if (flat && f(kRoot) < 0.0) return 0.0;
  int side = 0;
  for (int step = 0; step < kRootSteps && high - low > kRoot; ++step) {
    const double t = flat ? 0.5 * (low + high) : (low * at_b - high * at_a) / (at_b - at_a);
    const double value = f(t);
    if (!flat && std::abs(value) <= zero) return t;
    if (value >= 0.0) {
      low = t;
      at_a = value;
      if (side == 1) at_b *= 0.5;
      side = 1;
    } else {
      high = t;
      at_b = value;
      if (side == -1) at_a *= 0.5;
      side = -1;
    }
  }
  return low;
}

using Place = std::array<Index, 3>;

std::uint64_t packed(const Place& cell) {
  std::uint64_t bits = 0;
  for (const Index i : cell) bits = bits << 16 | static_cast<std::uint64_t>(i + 1);
  return bits;
}

}  // namespace

// Finds the pieces of all cells. `a` carries the lattice.
class CellCutter {
 public:
  using Piece = PressureFaces::Piece;

  CellCutter(const PlacedShape& a, const PlacedShape& b, std::vector<Piece>& pieces)
      : a_(a), b_(b), to_b_(b.pose.inverse() * a.pose), pieces_(pieces) {
    const double sum = a.pressed.compliance + b.pressed.compliance;
    share_a_ = a.pressed.compliance / sum;
    share_b_ = b.pressed.compliance / sum;
    per_metre_ = 1.0 / sum;
    steepness_ = std::max(a.pressed.steepness, b.pressed.steepness);
    box_ = a.pressed.shape->bounds(Pose{});
    box_.lower.array() -= a.thickness;
    box_.upper.array() += a.thickness;
    const Vec3 extent = box_.upper - box_.lower;
    for (int k = 0; k < 3; ++k) {
      const double cells = std::ceil(extent[k] / a.pressed.cell - 1e-9);
      count_[k] = static_cast<Index>(std::clamp(cells, 1.0, static_cast<double>(kMostPressureCells)));
      step_[k] = extent[k] / static_cast<double>(count_[k]);
    }
  }

  // One layer of cells outside, which holds a surface that lies in the sides of the box.
  void run() { visit({-1, -1, -1}, {count_[0] + 1, count_[1] + 1, count_[2] + 1}); }

 private:
  double line(int k, Index i) const {  // the ends exactly, so that faces of boxes lie in them
    return i == count_[k] ? box_.upper[k] : box_.lower[k] + step_[k] * static_cast<double>(i);
  }
  double depth_a(const Vec3& x) const { return depth_at(*a_.pressed.shape, x) + a_.thickness; }
  double depth_b(const Vec3& x) const { return depth_at(*b_.pressed.shape, to_b_ * x) + b_.thickness; }

  // Cells from `low` to before `high`.
  void visit(const Place& low, const Place& high) {
    Vec3 lower, upper;
    for (int k = 0; k < 3; ++k) {
      lower[k] = line(k, low[k]);
      upper[k] = line(k, high[k]);
    }
    const Vec3 middle = 0.5 * (lower + upper);
    const double reach = steepness_ * 0.5 * (upper - lower).norm() * (1.0 + 1e-12);
    const double da = depth_a(middle), db = depth_b(middle);
    // On the surface both depths are >= 0.
    if (da + reach < 0.0 || db + reach < 0.0 || std::abs(share_b_ * da - share_a_ * db) > reach) return;
    int longest = 0;
    Index most = 0;
    for (int k = 0; k < 3; ++k) {
      if (high[k] - low[k] <= most) continue;
      most = high[k] - low[k];
      longest = k;
    }
    if (most == 1) return cut_cell(low);
    Place below = high, above = low;
    below[longest] = above[longest] = low[longest] + most / 2;
    visit(low, below);
    visit(above, high);
  }

  Corner corner(const Vec3& x) const {
    const double da = depth_a(x), db = depth_b(x);
    return {x, share_b_ * da - share_a_ * db, share_a_ * da + share_b_ * db, da + db};
  }
  // Where `value` of a corner leaves >= 0 between two of them.
  Corner between(const Corner& a, const Corner& b, double Corner::*value) const {
    const auto at = [&](double t) { return corner(a.x + t * (b.x - a.x)).*value; };
    const double t = leaving(a.*value, b.*value, kRoot * step_.minCoeff(), at);
    return corner(a.x + t * (b.x - a.x));
  }

  // phi = 0 in a tetrahedron; corners with phi >= 0 are within.
  Polygon cut(const std::array<int, 4>& tet, const std::array<Corner, 8>& corners) {
    std::array<int, 4> in{}, out{};
    std::size_t ins = 0, outs = 0;
    for (const int c : tet) {
      if (corners[static_cast<std::size_t>(c)].phi >= 0.0) {
        in[ins++] = c;
      } else {
        out[outs++] = c;
      }
    }
    Polygon polygon;
    const auto edge = [&](int i, int o) {
      const std::size_t number = static_cast<std::size_t>(8 * i + o);
      if (!known_[number]) {
        known_[number] = true;
        crossing_[number] =
            between(corners[static_cast<std::size_t>(i)], corners[static_cast<std::size_t>(o)], &Corner::phi);
      }
      polygon.add(crossing_[number]);
    };
    if (ins == 1) {
      for (std::size_t k = 0; k < 3; ++k) edge(in[0], out[k]);
    } else if (ins == 3) {
      for (std::size_t k = 0; k < 3; ++k) edge(in[k], out[0]);
    } else if (ins == 2) {
      edge(in[0], out[0]);
      edge(in[0], out[1]);
      edge(in[1], out[1]);
      edge(in[1], out[0]);
    }
    return polygon;
  }

  // Its part that is pressed.
  Polygon clipped(const Polygon& polygon) const {
    Polygon kept;
    for (int k = 0; k < polygon.size; ++k) {
      const Corner &a = polygon[k], &b = polygon[(k + 1) % polygon.size];
      const bool a_in = a.pressed >= 0.0, b_in = b.pressed >= 0.0;
      if (a_in) kept.add(a);
      if (a_in && !b_in) kept.add(between(a, b, &Corner::pressed));
      if (!a_in && b_in) kept.add(between(b, a, &Corner::pressed));
      if (kept.size >= 5 && k + 1 < polygon.size) break;  // not of a convex one; only by rounding
    }
    return kept;
  }

  void cut_cell(const Place& cell) {
    std::array<Corner, 8> corners;
    bool within = false, beyond = false;
    for (std::size_t c = 0; c < 8; ++c) {
      const Index i = static_cast<Index>(c);
      corners[c] =
          corner({line(0, cell[0] + (i & 1)), line(1, cell[1] + (i >> 1 & 1)), line(2, cell[2] + (i >> 2))});
      (corners[c].phi >= 0.0 ? within : beyond) = true;
    }
    if (!within || !beyond) return;
    known_.reset();
    Piece face;
    for (const auto& tet : kTetrahedra) {
      const Polygon polygon = clipped(cut(tet, corners));
      if (polygon.size < 3) continue;
      for (const int c : tet) {
        const Corner& outer = corners[static_cast<std::size_t>(c)];
        if (outer.phi >= 0.0) continue;
        press(polygon, outer.x, face);
        break;
      }
    }
    if (!(face.push > 0.0) || !(face.force.norm() > 0.0)) return;
    face.cell = packed(cell);
    pieces_.push_back(face);
  }

  // Adds what the triangles of the polygon contribute; `outer`: a point on the side of b.
  void press(const Polygon& polygon, const Vec3& outer, Piece& face) const {
    for (int k = 1; k + 1 < polygon.size; ++k) press(polygon[0], polygon[k], polygon[k + 1], outer, face);
  }

  // 3/4 of the middle and 1/4 of the mean of the corners is the integral of what is quadratic.
  void press(const Corner& u, const Corner& v, const Corner& w, const Vec3& outer, Piece& face) const {
    Vec3 normal = 0.5 * (v.x - u.x).cross(w.x - u.x);
    const double area = normal.norm();
    if (!(area > 0.0)) return;
    normal /= normal.dot(outer - u.x) < 0.0 ? -area : area;
    const Vec3 middle = (u.x + v.x + w.x) / 3.0;
    const DepthSample a = sample_depth(*a_.pressed.shape, middle),
                      b = sample_depth(*b_.pressed.shape, to_b_ * middle);
    const double overlap = a.depth + a_.thickness + b.depth + b_.thickness;
    const double pressure =
        per_metre_ *
        (0.75 * overlap +
         (std::max(0.0, u.overlap) + std::max(0.0, v.overlap) + std::max(0.0, w.overlap)) / 12.0);
    if (!(overlap > 0.0)) return;
    double share = area, resistance = 0.0;
    const auto meet = [&](double compliance, double cosine) {
      if (compliance == 0.0) return;
      if (cosine < 0.0) share *= std::max(0.0, 1.0 - cosine / kAway);
      resistance += compliance / std::max(cosine, kLeastCosine);
    };
    meet(a_.pressed.compliance, -normal.dot(a.gradient));
    meet(b_.pressed.compliance, normal.dot(to_b_.rotation.transpose() * b.gradient));
    Vec3 moment = 0.75 * overlap * middle;
    for (const Corner* c : {&u, &v, &w}) moment += std::max(0.0, c->overlap) / 12.0 * c->x;
    face.push += share * pressure;
    face.force += share * pressure * normal;
    face.moment += share * per_metre_ * moment;
    face.area += share;
    face.stiffness += share / resistance;
  }

  PlacedShape a_, b_;
  Pose to_b_;
  std::vector<Piece>& pieces_;
  double share_a_ = 0.0, share_b_ = 0.0;  // c_a, c_b over their sum
  double per_metre_ = 0.0;                // Pa/m, one over the sum
  double steepness_ = 1.0;
  Aabb box_;
  Place count_{};
  Vec3 step_;
  std::bitset<64> known_;  // of a cell's edges, corner by corner: whether its crossing is known
  std::array<Corner, 64> crossing_;
};

}  // namespace detail

PressedShape pressed_shape(const Shape& shape, const PressureField& field) {
  PressedShape pressed{.shape = &shape, .steepness = detail::steepest(shape)};
  if (std::isfinite(field.modulus)) {
    pressed.compliance = (field.depth > 0.0 ? field.depth : detail::largest_depth(shape)) / field.modulus;
  }
  if (shape.kind() == ShapeKind::plane) {
    pressed.cell = std::numeric_limits<double>::infinity();
  } else {
    const Aabb box = shape.bounds(Pose{});
    pressed.cell =
        field.resolution > 0.0 ? field.resolution : (box.upper - box.lower).maxCoeff() / detail::kCellsAlong;
  }
  return pressed;
}

void PressureFaces::Piece::add(const Piece& other) {
  force += other.force;
  moment += other.moment;
  push += other.push;
  area += other.area;
  stiffness += other.stiffness;
}

// Cells of 2, 4, 8 .. times the edge until there are no more than `most`.
void PressureFaces::merge(Index most) {
  constexpr std::uint64_t kLevelBit = 1ULL << 56, kField = 0xffff;
  for (std::uint64_t level = 1; static_cast<Index>(pieces_.size()) > most && level <= 16; ++level) {
    for (Piece& piece : pieces_) {
      std::uint64_t coarse = 0;
      for (const int shift : {32, 16, 0}) coarse = coarse << 16 | (piece.cell >> shift & kField) >> 1;
      piece.cell = coarse | level * kLevelBit;
    }
    // Sums depend on the order by rounding: the same pieces, the same order.
    std::sort(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
      return a.cell != b.cell ? a.cell < b.cell : a.push < b.push;
    });
    merged_.clear();
    for (const Piece& piece : pieces_) {
      if (merged_.empty() || merged_.back().cell != piece.cell) {
        merged_.push_back(piece);
      } else {
        merged_.back().add(piece);
      }
    }
    std::swap(pieces_, merged_);
  }
}

void PressureFaces::find(const PlacedShape& a, const PlacedShape& b, Index most,
                         std::vector<PressureFace>& faces) {
  const bool turned = b.pressed.cell < a.pressed.cell;
  const PlacedShape &carrier = turned ? b : a, &other = turned ? a : b;
  if (!std::isfinite(carrier.pressed.cell)) return;
  pieces_.clear();
  detail::CellCutter(carrier, other, pieces_).run();
  if (most > 0) merge(most);
  for (const Piece& piece : pieces_) {
    const double force = piece.force.norm();
    if (!(force > 0.0)) continue;
    const Vec3 normal = carrier.pose.rotation * (piece.force / (turned ? -force : force));
    faces.push_back({carrier.pose * (piece.moment / piece.push), normal, piece.area, force / piece.area,
                     piece.stiffness, piece.cell});
  }
}

}  // namespace tribo
