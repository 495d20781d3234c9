// Judges impulses, or a proof that there are none, in 128-bit arithmetic, from the files alone:
//
//   tribo_check_solution PROBLEM.hdf5 SOLUTION.json
//
// PROBLEM: FCLIB. SOLUTION: what `tribo solve --solution` writes: "impulse" in the file's order and, of problems that are said to
// have no solution, "contradictions" with a "ray" each. Prints one line of JSON:
//   scaled     max_i sqrt(w_i) |r_i - P(r_i - hat u_i / w_i)|_inf / reference_i, the definition of docs/certificate.md:
//              reference_i = max(min(max_j sqrt(w_j) |r_j|_inf, 100 D), 1e-3 D_i, sqrt(2^-52) sqrt(max_t b.A^-1 b)),
//              D_i = |q_i|_inf / sqrt(w_i), D the largest; constraints with w_i = 0: |violation of q_i| / max(|v*|_inf, same)
//   scaled_before   the definition until version 0.1: the map in N s over |r|_inf, held between 1e-3 and 1e2 max_j |q_j| / w_j
//   siconos    |r - P(r - hat u)| / max(|q|, |r|, |u|), Euclidean norms
//   penetration_velocity   largest -u_n, m/s
//   rays       where there are some: smallest normal entry, largest tangential one (both relative to the largest entry), gain
//              -y . e > 0, ratio = gain / sum_t |J^T y|_t S_t: how many times faster than its free motion, or than the ray's
//              constraints ask, the system would have to be to satisfy the constraints; `proved`, of each and of all
// hat u = u + mu |u_t| n; P projects on the cone. No code of the library but reading numbers from HDF5 takes part.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "studies/check/quad_problem.h"

namespace tribo::check {
namespace {

using Json = nlohmann::ordered_json;

// A ray is a proof from this ratio on: a hundredth of what the library asks of itself, for other sums and roundings.
constexpr double kProof = 1e6;
// w_i below this counts as zero, as in the library: 1 / w_i has to be a number of doubles.
constexpr double kLeastScale = 1e-290;

struct Three {
  Real n = 0, t1 = 0, t2 = 0;
};

Real largest(const Three& x) { return larger(magnitude(x.n), larger(magnitude(x.t1), magnitude(x.t2))); }

Three at(const Reals& x, int row, int dimension) {
  return {x[row], x[row + 1], dimension == 3 ? x[row + 2] : Real(0)};
}

// On { |x_t| <= mu x_n }.
Three project(const Three& x, Real mu) {
  const Real slip = hypotq(x.t1, x.t2);
  if (slip <= mu * x.n) return x;
  if (mu * slip <= -x.n) return {};
  const Real n = (x.n + mu * slip) / (1 + mu * mu);
  const Real share = mu * n / slip;
  return {n, share * x.t1, share * x.t2};
}

Three map_of(const Three& r, const Three& u, Real mu, Real step) {
  const Real hat = u.n + mu * hypotq(u.t1, u.t2);
  const Three p = project({r.n - step * hat, r.t1 - step * u.t1, r.t2 - step * u.t2}, mu);
  return {r.n - p.n, r.t1 - p.t1, r.t2 - p.t2};
}

// One constraint of the problem, and what the measures are made of.
struct Constraint {
  int row, rows;
  Real mu, w;  // w: mean diagonal; planar contacts have an idle second tangent, which counts
  bool contact;
};

std::vector<Constraint> constraints_of(const QuadProblem& problem) {
  std::vector<Constraint> list;
  const int d = problem.dimension(), contacts = problem.contact_count();
  for (int c = 0; c < contacts; ++c) {
    Real sum = 0;
    for (int k = 0; k < d; ++k) sum += problem.diagonal()[d * c + k];
    list.push_back({d * c, d, problem.friction(c), sum / 3, true});
  }
  for (int r = d * contacts; r < problem.row_count(); ++r)
    list.push_back({r, 1, 0, problem.diagonal()[r], false});
  return list;
}

Three values(const Reals& x, const Constraint& c) {
  return c.contact ? at(x, c.row, c.rows) : Three{x[c.row], 0, 0};
}

Three natural(const Constraint& c, const Reals& r, const Reals& u, Real step) {
  if (!c.contact) return {step * u[c.row], 0, 0};
  return map_of(values(r, c), values(u, c), c.mu, step);
}

struct Worst {
  Real value = 0;
  int constraint = -1;
  void raise(Real x, int i) {
    if (x > value || x != x) value = x, constraint = i;
  }
};

Worst scaled_error(const QuadProblem& problem, const std::vector<Constraint>& list, const Reals& r,
                   const Reals& u) {
  Real impulses = 0, demand = 0;
  for (const Constraint& c : list) {
    if (!(c.w > kLeastScale)) continue;
    impulses = larger(impulses, sqrtq(c.w) * largest(values(r, c)));
    demand = larger(demand, largest(values(problem.free_velocity(), c)) / sqrtq(c.w));
  }
  const Real floor = Real(0x1p-26) * problem.root_energy();
  const Real common = larger(demand > 0 ? smaller(impulses, 100 * demand) : impulses, floor);
  Worst worst;
  for (int i = 0; i < static_cast<int>(list.size()); ++i) {
    const Constraint& c = list[i];
    if (!(c.w > kLeastScale)) {
      const Real q = problem.free_velocity()[c.row];
      const Real violation = c.contact ? larger(0, -q) : magnitude(q);
      if (violation > 0) worst.raise(violation / larger(problem.free_speed(), violation), i);
      continue;
    }
    const Real error = sqrtq(c.w) * largest(natural(c, r, u, 1 / c.w));
    const Real own = Real(1e-3) * largest(values(problem.free_velocity(), c)) / sqrtq(c.w);
    if (error != 0) worst.raise(error / larger(common, own), i);
  }
  return worst;
}

Real scaled_before(const QuadProblem& problem, const std::vector<Constraint>& list, const Reals& r,
                   const Reals& u) {
  Real impulses = 0, demand = 0, idle = 0, error = 0;
  for (const Constraint& c : list) {
    const Real scale = c.w > 0 ? c.w : Real(1);
    Real& kind = c.w > 0 ? demand : idle;
    kind = larger(kind, largest(values(problem.free_velocity(), c)) / scale);
    impulses = larger(impulses, largest(values(r, c)));
    const Real map = largest(natural(c, r, u, 1 / scale));
    if (map > error || map != map) error = map;
  }
  if (!(demand > 0)) demand = idle;
  const Real reference = demand > 0 ? smaller(larger(impulses, Real(1e-3) * demand), 100 * demand) : impulses;
  return error == 0 ? Real(0) : error / reference;
}

Real siconos_error(const QuadProblem& problem, const std::vector<Constraint>& list, const Reals& r,
                   const Reals& u) {
  const auto norm = [](const Reals& x) {
    Real sum = 0;
    for (const Real value : x) sum += value * value;
    return sqrtq(sum);
  };
  Real sum = 0;
  for (const Constraint& c : list) {
    const Three map = natural(c, r, u, 1);
    sum += map.n * map.n + map.t1 * map.t1 + map.t2 * map.t2;
  }
  const Real reference = larger(norm(problem.free_velocity()), larger(norm(r), norm(u)));
  return sum == 0 ? Real(0) : sqrtq(sum) / reference;
}

// By Farkas' lemma: y >= 0 on normals, 0 on tangents, any on bilateral rows, J^T y = 0 and y . e < 0 leave no velocity that
// satisfies the constraints; with J^T y small, none but one of |v| >= gain / |J^T y|.
Json judge_ray(const QuadProblem& problem, const std::vector<Constraint>& list, const Reals& y) {
  Real scale = 0, least = 0, tangent = 0, gain = 0;
  for (const Real value : y) scale = larger(scale, magnitude(value));
  Reals speeds(problem.is_local() ? problem.row_count() : problem.tree_count(), 0);
  for (int t = 0; t < problem.tree_count(); ++t) speeds[t] = problem.tree_root_energy(t);
  for (const Constraint& c : list) {
    const Three ray = values(y, c);
    gain -= ray.n * problem.bias()[c.row];
    if (c.contact) {
      least = smaller(least, ray.n);
      tangent = larger(tangent, larger(magnitude(ray.t1), magnitude(ray.t2)));
    }
    if (ray.n == 0 || !(c.w > kLeastScale)) continue;
    // What this constraint asks for, as a speed of the trees it touches: |e_i| / sqrt(w_i), sqrt(J).
    const Real asked = magnitude(problem.bias()[c.row]) / sqrtq(c.w);
    for (const int t : problem.trees_of_row(c.row)) speeds[t] = larger(speeds[t], asked);
    if (problem.is_local()) speeds[c.row] = magnitude(problem.bias()[c.row]) / c.w;
  }
  const Real resistance = problem.resistance(y, speeds);
  const bool signs = scale > 0 && least >= 0 && tangent == 0;
  const bool proved = signs && gain > 0 && (resistance == 0 || gain / resistance >= Real(kProof));
  Json json;
  json["least_normal"] = static_cast<double>(scale > 0 ? least / scale : Real(0));
  json["largest_tangent"] = static_cast<double>(scale > 0 ? tangent / scale : Real(0));
  json["gain"] = static_cast<double>(gain);
  json["ratio"] = resistance > 0 ? Json(static_cast<double>(gain / resistance)) : Json("infinite");
  json["proved"] = proved;
  return json;
}

Reals numbers(const Json& json, const std::string& name, int count) {
  if (!json.contains(name) || !json[name].is_array()) throw std::runtime_error("no array \"" + name + "\"");
  if (static_cast<int>(json[name].size()) != count)
    throw std::runtime_error("\"" + name + "\" does not fit the problem");
  Reals x;
  for (const Json& entry : json[name]) x.push_back(entry.is_number() ? Real(entry.get<double>()) : nanq(""));
  return x;
}

Json judge(const char* problem_file, const char* solution_file) {
  const QuadProblem problem(problem_file);
  const std::vector<Constraint> list = constraints_of(problem);
  std::ifstream stream(solution_file);
  const Json solution = Json::parse(stream);
  const Reals r = numbers(solution, "impulse", problem.row_count());
  const Reals u = problem.velocity(r);
  const Worst worst = scaled_error(problem, list, r, u);
  Real penetration = 0;
  for (const Constraint& c : list)
    penetration = larger(penetration, c.contact ? -u[c.row] : magnitude(u[c.row]));
  Json json;
  json["contacts"] = problem.contact_count();
  json["rows"] = problem.row_count();
  json["scaled"] = static_cast<double>(worst.value);
  json["worst"] = worst.constraint;
  json["scaled_before"] = static_cast<double>(scaled_before(problem, list, r, u));
  json["siconos"] = static_cast<double>(siconos_error(problem, list, r, u));
  json["penetration_velocity"] = static_cast<double>(penetration);
  // One ray per island that is said to have no solution; all of them have to prove it.
  if (solution.contains("contradictions")) {
    bool proved = !solution["contradictions"].empty();
    for (const Json& contradiction : solution["contradictions"]) {
      json["rays"].push_back(judge_ray(problem, list, numbers(contradiction, "ray", problem.row_count())));
      proved = proved && json["rays"].back()["proved"].get<bool>();
    }
    json["proved"] = proved;
  }
  return json;
}

}  // namespace
}  // namespace tribo::check

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: tribo_check_solution PROBLEM.hdf5 SOLUTION.json\n");
    return 2;
  }
  try {
    std::printf("%s\n", tribo::check::judge(arguments[1], arguments[2]).dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tribo_check_solution: %s: %s\n", arguments[1], error.what());
    return 2;
  }
}
