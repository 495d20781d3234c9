#include "apps/tribo/campaign_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tribo/base/errors.h"

namespace tribo::cli {

namespace {

constexpr std::array<std::string_view, kOutcomes> kOutcomeNames{
    "solved",  "iteration_limit", "time_limit", "stalled", "diverged",   "infeasible",
    "refused", "crashed",         "hung",       "memory",  "false_claim"};

std::string load_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream.is_open()) throw InvalidInput(fmt::format("{}: cannot be read", path.string()));
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

// The fields of the line that begins at `at`, which moves behind it; none if the line has no end.
std::vector<std::string> next_line(const std::string& text, std::size_t& at) {
  std::vector<std::string> fields{""};
  bool inside = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const bool doubled = inside && at + 1 < text.size() && text[at + 1] == '"';
      if (doubled) fields.back() += text[at++];
      inside = doubled || !inside;
    } else if (c == ',' && !inside) {
      fields.emplace_back();
    } else if (c == '\n' && !inside) {
      ++at;
      return fields;
    } else {
      fields.back() += c;
    }
  }
  return {};
}

template <class T>
bool parse(const std::string& text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end;
}

bool parse_row(const std::vector<std::string>& f, CampaignRow& row) {
  if (f.size() != 16) return false;
  const auto outcome = std::find(kOutcomeNames.begin(), kOutcomeNames.end(), f[6]);
  if (outcome == kOutcomeNames.end()) return false;
  row.family = f[0];
  row.file = f[1];
  row.solver = f[2];
  row.measure = f[4];
  row.law = f[5];
  row.outcome = static_cast<Outcome>(outcome - kOutcomeNames.begin());
  double spread = 0.0;
  if (!f[10].empty()) {
    if (!parse(f[10], spread)) return false;
    row.spread = spread;
  }
  return parse(f[3], row.tolerance) && parse(f[7], row.error) && parse(f[8], row.iterations) &&
         parse(f[9], row.cpu_s) && parse(f[11], row.repeats) && parse(f[12], row.contacts) &&
         parse(f[13], row.rows) && parse(f[14], row.dofs) && parse(f[15], row.rank_ratio);
}

}  // namespace

std::string_view to_string(Outcome outcome) { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }

std::string CampaignRow::key() const { return fmt::format("{}\n{}\n{:g}", file, solver, tolerance); }

std::string results_head() {
  return "family,file,solver,tolerance,measure,law,class,error,iterations,cpu_s,cpu_spread,repeats,contacts,"
         "rows,dofs,"
         "rank_ratio\n";
}

std::string to_csv_line(const CampaignRow& r) {
  return fmt::format("{},{},{},{:g},{},{},{},{:.6g},{},{:.6g},{},{},{},{},{},{:.6g}\n", quoted(r.family),
                     quoted(r.file), quoted(r.solver), r.tolerance, r.measure, r.law, to_string(r.outcome),
                     r.error, r.iterations, r.cpu_s, r.spread ? fmt::format("{:.3g}", *r.spread) : "",
                     r.repeats, r.contacts, r.rows, r.dofs, r.rank_ratio);
}

std::vector<CampaignRow> parse_results(const std::filesystem::path& path) {
  try {
    return parse_result_lines(load_text(path));
  } catch (const InvalidInput& error) {
    throw InvalidInput(fmt::format("{}: {}", path.string(), error.what()));
  }
}

std::vector<CampaignRow> parse_result_lines(const std::string& text) {
  std::vector<CampaignRow> rows;
  std::size_t at = 0;
  for (int line = 1; at < text.size(); ++line) {
    const std::size_t begin = at;
    const std::vector<std::string> fields = next_line(text, at);
    if (fields.empty()) break;
    if (text.compare(begin, at - begin, results_head()) == 0) continue;
    CampaignRow row;
    if (!parse_row(fields, row))
      throw InvalidInput(fmt::format("line {} is not one of a campaign's results", line));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string to_json_text(const CampaignSettings& s) {
  nlohmann::ordered_json json;
  json["collection"] = s.collection;
  json["kind"] = s.kind;
  json["version"] = s.version;
  json["measure"] = s.measure;
  json["law"] = s.law;
  json["time_limit_s"] = s.time_limit;
  json["max_iterations"] = s.max_iterations;
  json["solvers"] = s.solvers;
  json["tolerances"] = s.tolerances;
  json["shard"] = s.shard;
  return json.dump(2) + "\n";
}

CampaignSettings parse_settings(const std::filesystem::path& path) {
  try {
    const auto json = nlohmann::ordered_json::parse(load_text(path));
    CampaignSettings s;
    s.collection = json.at("collection").get<std::string>();
    s.kind = json.at("kind").get<std::string>();
    s.version = json.at("version").get<std::string>();
    s.measure = json.at("measure").get<std::string>();
    s.law = json.at("law").get<std::string>();
    s.time_limit = json.at("time_limit_s").get<double>();
    s.max_iterations = json.at("max_iterations").get<Index>();
    s.solvers = json.at("solvers").get<std::vector<std::string>>();
    s.tolerances = json.at("tolerances").get<std::vector<double>>();
    s.shard = json.at("shard").get<std::string>();
    return s;
  } catch (const nlohmann::json::exception& error) {
    throw InvalidInput(fmt::format("{}: not the settings of a campaign ({})", path.string(), error.what()));
  }
}

std::string difference(const CampaignSettings& a, const CampaignSettings& b) {
  if (a.kind != b.kind) return "the collection";
  if (a.measure != b.measure) return fmt::format("--measure ({} and {})", a.measure, b.measure);
  if (a.law != b.law) return fmt::format("--law ({} and {})", a.law, b.law);
  if (a.time_limit != b.time_limit)
    return fmt::format("--time-limit ({:g} and {:g})", a.time_limit, b.time_limit);
  if (a.max_iterations != b.max_iterations)
    return fmt::format("--max-iter ({} and {})", a.max_iterations, b.max_iterations);
  if (a.version != b.version) return fmt::format("the version of tribo ({} and {})", a.version, b.version);
  return {};
}

void put_in_order(std::vector<CampaignRow>& rows, const CampaignSettings& settings) {
  std::map<std::string, std::size_t> solver_place;
  for (std::size_t k = 0; k < settings.solvers.size(); ++k) solver_place.emplace(settings.solvers[k], k);
  const auto place = [&](const CampaignRow& row) {
    const auto found = solver_place.find(row.solver);
    return found == solver_place.end() ? solver_place.size() : found->second;
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const CampaignRow& a, const CampaignRow& b) {
    const std::size_t left = place(a), right = place(b);
    return std::tie(a.family, a.file, left, a.solver, b.tolerance) <
           std::tie(b.family, b.file, right, b.solver, a.tolerance);
  });
  const auto same = [](const CampaignRow& a, const CampaignRow& b) { return a.key() == b.key(); };
  rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
}

}  // namespace tribo::cli
