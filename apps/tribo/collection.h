// One problem of a collection: its numbers, its verified solution, its file and its line of the manifest.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tribo/problem/contact_problem.h"
#include "tribo/problem/solution.h"

namespace tribo::cli {

inline constexpr double kCollectionTolerance = 1e-10;  // scaled error of stored solutions

// A line of manifest.csv.
struct ManifestRow {
  std::string family, file;  // the file's path in the collection
  Index contacts = 0, bilateral = 0, rows = 0, dofs = 0;
  double rank_ratio =
      0.0;  // rows / rank of W; 0 where it was not computed (more than kMostRankDofs dofs per island)
  double scale_spread = 1.0;   // largest over smallest w_i
  double sliding_share = 0.0;  // of the contacts, at the stored solution
  double error = 0.0;          // scaled error of the stored solution, certified
  double siconos_error = 0.0;
  std::string solver;  // that found it
  bool hard = false;   // kCollectionTolerance was not reached
  std::string hash;    // of the numbers of problem and solution: 16 hexadecimal digits

  bool operator==(const ManifestRow&) const = default;
};

std::string manifest_head();
std::string to_csv_line(const ManifestRow& row);
// Lines of a manifest or of the journal of an unfinished one. A last line without its end is left out; InvalidInput
// names the line that cannot be read.
std::vector<ManifestRow> parse_manifest(const std::filesystem::path& path, const std::string& text);

// Solves `problem` from nothing and from `guess`, certifies, writes `folder`/`row.file` (compressed FCLIB) and fills in
// the numbers of the row. The same problem gives the same bytes: no limit is a time.
void add_to_collection(const std::filesystem::path& folder, const ContactProblem& problem,
                       const Vector& guess, const std::string& description, ManifestRow& row);

// m / rank(W), the rank from the islands' J A^-1 J^T; 0 if one of them has too many degrees of freedom.
double rank_ratio(const ContactProblem& problem);

// Single-contact problems of a step, those first whose W is least symmetric: contact i with all other impulses held at
// `impulse`, and W_ii = J_i (A + h G)^-1 J_i^T with the gyroscopic terms of free bodies taken implicitly,
// G = [w]x I - [I w]x on the rotations; h in s, `velocity` is the generalised velocity the step began with.
std::vector<ContactProblem> local_problems(const ContactProblem& problem, const Vector& impulse,
                                           const Vector& velocity, double h, Index most);

}  // namespace tribo::cli
