// The JSON that scripts read: reports, certificates, solutions. Numbers that are not finite become null.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/tribo/file_order.h"
#include "tribo/problem/certificate.h"
#include "tribo/solve/solver.h"

namespace tribo::cli {

using Json = nlohmann::ordered_json;

Json to_json(const Certificate& certificate, const FileOrder& order);

// One object per solved file: {"file", "contacts", "rows", "dofs", "solver", "status", "iterations",
// "factorizations", "time_ms", "certificate": {...}, "islands", "regularized"}, of pivoting solvers "faceted_error",
// "stages" where they were asked for, "warnings" of the file where there are any, and of infeasible problems
// "contradictions": [{"constraints", "shares", "violation", "speed_ratio", "ray"}], one per island without a solution
// (problem/infeasibility.h).
Json to_json(const std::string& file, const LoadedProblem& loaded, const FileOrder& order,
             const Report& report);

// One line of text, without a line break.
std::string dump_line(const Json& json);

// {"impulse": [...], "velocity": [...]} in the file's order; of infeasible problems with their "contradictions", too.
std::string solution_text(const Solution& solution, const Report& report, const FileOrder& order);

// The impulses [rows] of such a file; InvalidInput names the file and what is wrong.
Vector read_impulse(const std::filesystem::path& path, const FileOrder& order);

}  // namespace tribo::cli
