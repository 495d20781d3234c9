// tribo info: what is in a problem file, and what makes it easy or hard.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>

#include "apps/tribo/commands.h"
#include "apps/tribo/json_output.h"
#include "apps/tribo/text_table.h"
#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"
#include "tribo/problem/islands.h"
#include "tribo/problem/sparse_trees.h"

namespace tribo::cli {

namespace {

struct Range {
  double lowest = std::numeric_limits<double>::infinity();
  double highest = -std::numeric_limits<double>::infinity();

  void add(double value) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  bool empty() const { return lowest > highest; }
  double ratio() const { return empty() ? 1.0 : highest / lowest; }
};

struct Summary {
  Index kinds[4] = {0, 0, 0, 0};  // constraints of each ConstraintKind
  Index islands = 0;              // connected components that have constraints
  Index largest_island = 0;       // constraints in the largest of them
  Index free_trees = 0;           // trees without any constraint
  Index sparse_trees = 0, sparse_dofs = 0, touched_dofs = 0;
  Range tree_dofs;
  Range tree_mass;   // mean diagonal entry of each tree's mass block
  Range friction;    // of the contacts
  Range scale;       // w_i, m/s per N s
  Range compliance;  // R, m/(N s)
  double asymmetry = 0.0;
  std::optional<Certificate> guess, solution;
};

std::optional<Certificate> certify_stored(const ContactProblem& problem,
                                          const std::optional<Vector>& impulse) {
  if (!impulse) return std::nullopt;
  Solution stored;
  stored.impulse = *impulse;
  return certify(problem, stored);
}

void count_islands(const ContactProblem& problem, Summary& summary) {
  Islands islands;
  islands.find(problem);
  summary.islands = islands.count();
  summary.free_trees = problem.tree_count();
  for (Index k = 0; k < islands.count(); ++k) {
    summary.largest_island =
        std::max(summary.largest_island, static_cast<Index>(islands.constraints(k).size()));
    summary.free_trees -= static_cast<Index>(islands.trees(k).size());
  }
}

void add_sparse_tree(const SparseTree& tree, Summary& summary) {
  ++summary.sparse_trees;
  summary.sparse_dofs += tree.dofs();
  summary.touched_dofs += tree.coordinates();
  summary.tree_dofs.add(tree.dofs());
  const LowerColumns lower = tree.mass->lower();
  double trace = 0.0;
  for (Index k = 0; k < lower.size; ++k) trace += lower.value[lower.start[k]];
  summary.tree_mass.add(trace / lower.size);
}

Summary summarize(const LoadedProblem& loaded) {
  const ContactProblem& problem = loaded.problem;
  Summary summary;
  for (Index i = 0; i < problem.constraint_count(); ++i) {
    ++summary.kinds[static_cast<int>(problem.kind(i))];
    if (problem.kind(i) == ConstraintKind::contact) summary.friction.add(problem.friction(i));
    summary.scale.add(problem.scale(i));
  }
  for (Index t = 0; t < problem.tree_count(); ++t) {
    if (problem.is_sparse(t)) {
      add_sparse_tree(*problem.sparse_trees().find(t), summary);
    } else {
      summary.tree_dofs.add(problem.mass().block_size(t));
      summary.tree_mass.add(problem.mass().block(t).diagonal().mean());
    }
  }
  for (const double r : problem.compliance()) summary.compliance.add(r);
  if (problem.has_delassus()) summary.asymmetry = problem.delassus().asymmetry();
  count_islands(problem, summary);
  summary.guess = certify_stored(problem, loaded.guess);
  summary.solution = certify_stored(problem, loaded.solution);
  return summary;
}

Json to_json(const Range& range) {
  if (range.empty()) return nullptr;
  return Json::array({range.lowest, range.highest});
}

Json to_json(const std::string& file, const LoadedProblem& loaded, const Summary& s) {
  const ContactProblem& problem = loaded.problem;
  Json json;
  json["file"] = file;
  json["format"] = loaded.format;
  json["title"] = loaded.title;
  json["description"] = loaded.description;
  json["dimension"] = loaded.space_dimension;
  json["contacts"] = problem.contact_count();
  json["rows"] = problem.row_count();
  json["dofs"] = problem.full_dof_count();
  json["trees"] = problem.tree_count();
  json["sparse_trees"] = s.sparse_trees;
  json["sparse_dofs"] = s.sparse_dofs;
  json["touched_dofs"] = s.touched_dofs;
  json["constraints"] = {
      {"contact", s.kinds[0]}, {"unilateral", s.kinds[1]}, {"bilateral", s.kinds[2]}, {"box", s.kinds[3]}};
  json["islands"] = s.islands;
  json["largest_island"] = s.largest_island;
  json["friction"] = to_json(s.friction);
  json["delassus_form"] = problem.has_delassus();
  json["asymmetry"] = s.asymmetry;
  json["mass_ratio"] = problem.has_delassus() ? Json(nullptr) : Json(s.tree_mass.ratio());
  json["scale"] = to_json(s.scale);
  json["compliance"] = to_json(s.compliance);
  const auto add_errors = [&](const std::string& name, const std::optional<Certificate>& certificate) {
    json[name + "_error"] = certificate ? Json(certificate->error.value) : Json(nullptr);
    json[name + "_siconos_error"] = certificate ? Json(certificate->siconos_error) : Json(nullptr);
  };
  add_errors("guess", s.guess);
  add_errors("solution", s.solution);
  return json;
}

std::string to_text(const Range& range, const char* unit) {
  if (range.empty()) return "none";
  std::string text = range.lowest == range.highest
                         ? fmt::format("{:.4g}", range.lowest)
                         : fmt::format("{:.4g} to {:.4g}", range.lowest, range.highest);
  if (*unit != '\0') text += fmt::format(" {}", unit);
  return text;
}

std::string to_text(const std::optional<Certificate>& certificate) {
  if (!certificate) return "none";
  return fmt::format("error {}, siconos error {}", format_error(certificate->error.value),
                     format_error(certificate->siconos_error));
}

std::string constraint_text(const Summary& s) {
  static constexpr const char* kNames[] = {"contact", "unilateral", "bilateral", "box"};
  std::string text;
  for (int kind = 0; kind < 4; ++kind) {
    if (s.kinds[kind] == 0) continue;
    if (!text.empty()) text += ", ";
    text +=
        kind == 0 ? counted(s.kinds[kind], kNames[kind]) : fmt::format("{} {}", s.kinds[kind], kNames[kind]);
  }
  return text.empty() ? "none" : text;
}

std::string to_text(const std::string& file, const LoadedProblem& loaded, const Summary& s) {
  const ContactProblem& problem = loaded.problem;
  TextTable table({{""}, {""}});
  table.add_row({"format", fmt::format("{}, {}-D", loaded.format, loaded.space_dimension)});
  if (!loaded.title.empty()) table.add_row({"title", loaded.title});
  if (!loaded.description.empty()) table.add_row({"description", loaded.description});
  table.add_row(
      {"constraints", fmt::format("{} ({})", constraint_text(s), counted(problem.row_count(), "row"))});
  if (problem.has_delassus()) {
    table.add_row({"form", fmt::format("W and q, lifted to {} (the numerical rank of W); asymmetry of W {}",
                                       counted(problem.dof_count(), "dof"), format_error(s.asymmetry))});
  } else {
    table.add_row({"trees", fmt::format("{} with {} dofs each, {} in all", problem.tree_count(),
                                        to_text(s.tree_dofs, ""), counted(problem.full_dof_count(), "dof"))});
    if (s.sparse_trees > 0) {
      table.add_row({"sparse trees", fmt::format("{} with {}, of which constraints touch {}", s.sparse_trees,
                                                 counted(s.sparse_dofs, "dof"), s.touched_dofs)});
    }
    table.add_row({"mass ratio", fmt::format("{:.4g}", s.tree_mass.ratio())});
  }
  std::string islands =
      fmt::format("{}, the largest with {}", s.islands, counted(s.largest_island, "constraint"));
  if (s.free_trees > 0 && !problem.has_delassus())
    islands += fmt::format("; {} without any", counted(s.free_trees, "tree"));
  table.add_row({"islands", islands});
  table.add_row({"friction", to_text(s.friction, "")});
  table.add_row(
      {"scale w", fmt::format("{}, spread {:.3g}", to_text(s.scale, "m/s per N s"), s.scale.ratio())});
  table.add_row({"compliance", problem.is_rigid() ? "none: rigid" : to_text(s.compliance, "m/(N s)")});
  table.add_row({"guess", to_text(s.guess)});
  table.add_row({"solution", to_text(s.solution)});
  return fmt::format("{}\n{}", file, table.str("  "));
}

struct InfoCommand {
  std::vector<std::string> files;
  bool json = false;

  ExitCode run() const {
    ExitCode code = ExitCode::success;
    for (const std::string& file : files) {
      try {
        const LoadedProblem loaded = load_problem(file);
        const Summary summary = summarize(loaded);
        fmt::print("{}",
                   json ? dump_line(to_json(file, loaded, summary)) + "\n" : to_text(file, loaded, summary));
        std::fflush(stdout);
      } catch (const InvalidInput& error) {
        print_error(error.what());
        code = ExitCode::invalid;
      }
    }
    return code;
  }
};

}  // namespace

void add_info_command(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command = app.add_subcommand(
      "info", "Describe problem files: sizes, islands, friction, scaling, guess, solution");
  const auto state = std::make_shared<InfoCommand>();
  command->add_option("FILE", state->files, "Problem files: FCLIB .hdf5 or Siconos .dat")
      ->type_name("")
      ->required();
  command->add_flag("--json", state->json, "Print one JSON object per file, one per line");
  command->footer(
      "Of problems given by W, as FCLIB local, dofs is the numerical rank of W.\n"
      "Example:\n"
      "  tribo make pile --bodies 50 --seed 3 -o pile.hdf5\n"
      "  tribo info pile.hdf5");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
