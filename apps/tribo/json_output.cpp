#include "apps/tribo/json_output.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <vector>

#include "tribo/base/errors.h"

namespace tribo::cli {

Json to_json(const Certificate& certificate, const FileOrder& order) {
  Json json;
  json["error"] = certificate.error.value;
  json["fclib_error"] = certificate.fclib_error;
  json["siconos_error"] = certificate.siconos_error;
  json["momentum"] = certificate.momentum;
  json["cone_primal"] = certificate.cone_primal.value;
  json["cone_dual"] = certificate.cone_dual.value;
  json["complementarity"] = certificate.complementarity.value;
  json["penetration_velocity"] = certificate.penetration_velocity.value;
  json["stick_slip_velocity"] = certificate.stick_slip_velocity.value;
  json["worst"] = order.constraint(certificate.error.constraint);
  json["slip_angle"] = certificate.slip_angle.value;
  json["lee_residual"] = certificate.lee_residual;
  return json;
}

namespace {

void add_contradictions(Json& json, const Report& report, const FileOrder& order) {
  for (const Contradiction& c : report.contradictions) {
    Json constraints = Json::array();
    for (const Index i : c.constraints) constraints.push_back(order.constraint(i));
    json["contradictions"].push_back({{"constraints", constraints},
                                      {"shares", c.shares},
                                      {"violation", c.violation},
                                      {"speed_ratio", c.speed_ratio},
                                      {"ray", order.to_file(c.ray)}});
  }
}

}  // namespace

Json to_json(const std::string& file, const LoadedProblem& loaded, const FileOrder& order,
             const Report& report) {
  Json json;
  json["file"] = file;
  json["contacts"] = loaded.problem.contact_count();
  json["rows"] = loaded.problem.row_count();
  json["dofs"] = loaded.problem.full_dof_count();
  json["solver"] = report.solver;
  json["status"] = to_string(report.status);
  json["iterations"] = report.iterations;
  json["factorizations"] = report.factorizations;
  json["time_ms"] = report.seconds * 1e3;
  json["certificate"] = to_json(report.certificate, order);
  json["islands"] = report.islands;
  json["regularized"] = report.regularized_count;
  if (!std::isnan(report.faceted_error)) json["faceted_error"] = report.faceted_error;
  for (const Stage& stage : report.stages) {
    json["stages"].push_back({{"stage", stage.name},
                              {"islands", stage.islands},
                              {"constraints", stage.contacts},
                              {"iterations", stage.iterations},
                              {"factorizations", stage.factorizations},
                              {"time_ms", stage.seconds * 1e3},
                              {"error", stage.error}});
  }
  if (!loaded.warnings.empty()) json["warnings"] = loaded.warnings;
  add_contradictions(json, report, order);
  return json;
}

std::string dump_line(const Json& json) {
  // File names may hold bytes that are not UTF-8; they are replaced rather than refused.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string solution_text(const Solution& solution, const Report& report, const FileOrder& order) {
  Json json;
  json["impulse"] = order.to_file(solution.impulse);
  json["velocity"] = order.to_file(solution.velocity);
  add_contradictions(json, report, order);
  return dump_line(json) + "\n";
}

Vector read_impulse(const std::filesystem::path& path, const FileOrder& order) {
  const auto fail = [&](const std::string& what) {
    throw InvalidInput(fmt::format("{}: {}", path.string(), what));
  };
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail("cannot be opened");
  const Json json = Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) fail("is not valid JSON");
  if (!json.is_object() || !json.contains("impulse") || !json["impulse"].is_array()) {
    fail("has no array \"impulse\"; expected what --solution writes");
  }
  const Json& array = json["impulse"];
  if (array.size() != static_cast<std::size_t>(order.row_count())) {
    fail(fmt::format("\"impulse\" has {} numbers, the problem has {} rows", array.size(), order.row_count()));
  }
  std::vector<double> values;
  values.reserve(array.size());
  for (const Json& entry : array) {
    if (!entry.is_number() || !std::isfinite(entry.get<double>())) {
      fail(fmt::format("entry {} of \"impulse\" is not a finite number", values.size()));
    }
    values.push_back(entry.get<double>());
  }
  return order.from_file(values);
}

}  // namespace tribo::cli
