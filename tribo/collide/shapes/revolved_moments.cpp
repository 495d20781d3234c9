// With (rho, z) in the half plane, and Green's theorem around the outline, the solid on the left:
//
//   V = int 2 pi rho = contour int pi rho^2 dz,  int z dV and int z^2 dV with z and z^2,  int rho^2 dV = contour int pi/2 rho^4 dz
//
// and I_zz = int rho^2 dV, I_xx = I_yy = I_zz / 2 + int (z - z_c)^2 dV. The axis, where open outlines end, adds nothing. The
// chords of the outline are integrated exactly. Between a chord and the boundary, at the height h(t) over it, lies
// int dt int_0^h 2 pi rho (1, z, z^2, rho^2) d eta, whose integrand is a polynomial; h comes from Newton's method along
// the chord's normal, and the integral over t is adaptive (Gauss 7, Kronrod 15), which kinks of h cost a few pieces.
#include "tribo/collide/shapes/revolved_moments.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "tribo/collide/shapes/profile_outline.h"

namespace tribo::detail {

namespace {

using Sums = Eigen::Vector4d;  // int dV of 1, z, z^2, rho^2
using std::numbers::pi;

constexpr double kAccuracy = 1e-12;  // of one piece, relative to the whole
constexpr double kPieces = 50;       // chords along the diagonal of the figure
constexpr int kMostHalvings = 16;

// Gauss with 3 points on [0, 1]: exact to the fifth power.
constexpr std::array<double, 3> kGaussNodes{0.112701665379258311482073460021760, 0.5,
                                            0.887298334620741688517926539978240};
constexpr std::array<double, 3> kGaussWeights{5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0};

// Of a chord, as a part of the contour.
Sums chord_sums(const Vec2& a, const Vec2& b) {
  Sums sums = Sums::Zero();
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec2 p = a + kGaussNodes[k] * (b - a);
    const double rho2 = p.x() * p.x(), weight = kGaussWeights[k] * pi * rho2 * (b.y() - a.y());
    sums += weight * Sums(1.0, p.y(), p.y() * p.y(), 0.5 * rho2);
  }
  return sums;
}

// Between a chord and the boundary outside it.
class Segment {
 public:
  Segment(const Profile& profile, const Vec2& a, const Vec2& b)
      : profile_(profile), a_(a), chord_(b - a), length_(chord_.norm()) {
    outward_ = Vec2(chord_.y(), -chord_.x()) / length_;
  }

  Sums area(double low, double high) const { return halved(low, high, 0); }
  void set_scale(const Sums& scale) { scale_ = scale; }

 private:
  // Height of the boundary over the chord: Newton's method, kept within the range where the sign changes.
  double height(const Vec2& foot) const {
    double h = 0.0, low = -length_, high = length_;  // a corner stands half a chord high
    for (int k = 0; k < 60; ++k) {
      const Profile::Sample s = profile_.sample(foot + h * outward_);
      if (s.distance == 0.0) break;
      (s.distance < 0.0 ? low : high) = h;
      const double slope = s.gradient.dot(outward_);
      double next = slope > 0.1 ? h - s.distance / slope : 0.5 * (low + high);
      if (!(next > low && next < high)) next = 0.5 * (low + high);
      if (std::abs(next - h) <= 1e-16 * length_) return next;
      h = next;
    }
    return h;
  }

  Sums across(double t) const {
    const Vec2 foot = a_ + t * chord_;
    const double h = height(foot);
    Sums sums = Sums::Zero();
    for (std::size_t k = 0; k < 3; ++k) {
      const Vec2 p = foot + kGaussNodes[k] * h * outward_;
      sums += kGaussWeights[k] * 2.0 * pi * p.x() * Sums(1.0, p.y(), p.y() * p.y(), p.x() * p.x());
    }
    return length_ * h * sums;
  }

  // Nodes and weights of Gauss 7 and Kronrod 15 on [-1, 1]; every second node is Gauss's.
  Sums halved(double low, double high, int halvings) const {
    static constexpr std::array<double, 8> nodes{
        0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
        0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
        0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
        0.207784955007898467600689403773245, 0.0};
    static constexpr std::array<double, 8> kronrod{
        0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
        0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
        0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
        0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
    static constexpr std::array<double, 4> gauss{
        0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
        0.381830050505118944950369775488975, 0.417959183673469387755102040816327};
    const double middle = 0.5 * (low + high), half = 0.5 * (high - low);
    Sums fine = Sums::Zero(), coarse = Sums::Zero();
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      Sums both = across(middle + half * nodes[k]);
      if (k + 1 < nodes.size()) both += across(middle - half * nodes[k]);
      fine += kronrod[k] * both;
      if (k % 2 == 1) coarse += gauss[k / 2] * both;
    }
    const bool good = (half * (fine - coarse).array().abs() <= kAccuracy * scale_.array()).all();
    if (good || halvings == kMostHalvings) return half * fine;
    return halved(low, middle, halvings + 1) + halved(middle, high, halvings + 1);
  }

  const Profile& profile_;
  Vec2 a_, chord_, outward_;
  double length_;
  Sums scale_ = Sums::Zero();
};

Sums integrate(const Profile& profile) {
  const Profile::Bounds& box = profile.bounds();
  const double spacing = (box.upper - box.lower).norm() / kPieces;
  const Profile::Bounds region{{0.0, box.lower.y() - spacing},
                               {box.upper.x() + spacing, box.upper.y() + spacing}};
  const auto chains = outline(profile, region, spacing);
  Sums sums = Sums::Zero();
  for (const auto& chain : chains)
    for (std::size_t k = 1; k < chain.size(); ++k) sums += chord_sums(chain[k - 1], chain[k]);
  Sums scale = sums.cwiseAbs();
  scale[1] = std::max(scale[1], std::sqrt(scale[0] * scale[2]));  // the middle may be at z = 0
  for (const auto& chain : chains)
    for (std::size_t k = 1; k < chain.size(); ++k) {
      Segment segment(profile, chain[k - 1], chain[k]);
      segment.set_scale(scale);
      sums += segment.area(0.0, 1.0);
    }
  return sums;
}

}  // namespace

VolumeMoments revolved_moments(const Profile& profile) {
  const Profile::Bounds& box = profile.bounds();
  VolumeMoments result;
  if (!(box.upper.x() > 0.0)) return result;
  const double middle = 0.5 * (box.lower.y() + box.upper.y());
  const Sums sums = integrate(profile.moved({0.0, -middle}));  // less rounding about its own middle
  if (!(sums[0] > 0.0)) return result;
  const double lift = sums[1] / sums[0];
  const double across = 0.5 * sums[3] + sums[2] - sums[0] * lift * lift;
  result.volume = sums[0];
  result.center = Vec3(0.0, 0.0, middle + lift);
  result.inertia = Vec3(across, across, sums[3]).asDiagonal();
  return result;
}

}  // namespace tribo::detail
