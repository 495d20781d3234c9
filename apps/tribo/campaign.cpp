// tribo campaign: solvers on a collection of problems, resumable, in shards, with pages made from its results.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <tuple>

#include "apps/tribo/campaign_data.h"
#include "apps/tribo/campaign_pages.h"
#include "apps/tribo/campaign_run.h"
#include "apps/tribo/campaign_stats.h"
#include "apps/tribo/campaign_store.h"
#include "apps/tribo/collection.h"
#include "apps/tribo/commands.h"
#include "apps/tribo/progress.h"
#include "apps/tribo/solve_options.h"
#include "apps/tribo/text_table.h"
#include "tribo/base/errors.h"
#include "tribo/solve/catalogue.h"
#include "tribo/version.h"

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kMeasures = {"scaled", "fclib", "siconos"};
const std::vector<std::string> kLaws = {"exact", "convex"};

std::string load_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// The problems of a folder: those of its manifest, or all problem files in it and below, their folder being the family.
std::vector<CampaignFile> files_of(const fs::path& folder) {
  if (!fs::is_directory(folder)) throw InvalidInput(fmt::format("{}: no such folder", folder.string()));
  std::vector<CampaignFile> files;
  if (fs::exists(folder / "manifest.csv")) {
    for (const ManifestRow& row : parse_manifest(folder / "manifest.csv", load_text(folder / "manifest.csv")))
      files.push_back({row.family, row.file, row.rank_ratio});
  } else {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension().string();
      if (!entry.is_regular_file() || (extension != ".hdf5" && extension != ".h5" && extension != ".dat"))
        continue;
      const fs::path below = entry.path().lexically_relative(folder);
      files.push_back({below.has_parent_path() ? below.parent_path().string() : "all", below.string(), 0.0});
    }
  }
  if (files.empty()) throw InvalidInput(fmt::format("{}: no problem in this folder", folder.string()));
  std::sort(files.begin(), files.end(), [](const CampaignFile& a, const CampaignFile& b) {
    return std::tie(a.family, a.name) < std::tie(b.family, b.name);
  });
  return files;
}

std::vector<double> parse_tolerances(const std::string& list) {
  std::vector<double> found;
  for (const std::string& part : split_solver_list(list)) {
    double value = 0.0;
    const char* const end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(part.data(), end, value);
    if (error != std::errc() || stop != end || !(value > 0.0) || !std::isfinite(value))
      throw InvalidInput(fmt::format("--tol {}: '{}' is not a positive number", list, part));
    if (std::find(found.begin(), found.end(), value) == found.end()) found.push_back(value);
  }
  if (found.empty()) throw InvalidInput("--tol names no tolerance");
  std::sort(found.rbegin(), found.rend());
  return found;
}

struct Shard {
  int number = 1, count = 1;
};

Shard parse_shard(const std::string& text) {
  Shard shard;
  if (text.empty()) return shard;
  const char* const end = text.data() + text.size();
  const auto [slash, first] = std::from_chars(text.data(), end, shard.number);
  const bool good = first == std::errc() && slash != end && *slash == '/';
  const auto [stop, second] = good ? std::from_chars(slash + 1, end, shard.count)
                                   : std::from_chars_result{end, std::errc::invalid_argument};
  if (second != std::errc() || stop != end || shard.count < 1 || shard.number < 1 ||
      shard.number > shard.count)
    throw InvalidInput(fmt::format("--shard {}: write K/N with 1 <= K <= N, for example 2/5", text));
  return shard;
}

// What is not there of the shards K/N that are, as "2/3, 3/3"; nothing where the parts are no shards of one N.
std::string missing_shards(const std::vector<std::string>& texts) {
  std::set<int> counts, there;
  for (const std::string& text : texts) {
    const Shard shard = parse_shard(text);
    counts.insert(shard.count);
    there.insert(shard.number);
  }
  if (counts.size() != 1) return {};
  std::string missing;
  for (int k = 1; k <= *counts.begin(); ++k) {
    if (!there.contains(k))
      missing += fmt::format("{}{}/{}", missing.empty() ? "" : ", ", k, *counts.begin());
  }
  return missing;
}

struct CampaignCommand {
  std::vector<std::string> inputs;
  std::vector<std::string> solver_lists;
  std::string tolerances = "1e-4,1e-8", measure = "siconos", law = "exact", shard, out = "campaign";
  double time_limit = 10.0;
  Index max_iterations = 1'000'000;
  int jobs = 1;
  bool merge = false, report = false;

  ExitCode run() const;

 private:
  ExitCode measure_all() const;
  ExitCode merge_all() const;
  ExitCode report_again() const;
  CampaignSettings settings_of(const fs::path& collection) const;
  std::vector<std::string> solvers() const;
};

std::vector<std::string> CampaignCommand::solvers() const {
  const Law chosen = law == "convex" ? Law::convex : Law::exact;
  std::vector<std::string> names;
  for (const std::string& list : solver_lists) {
    for (const std::string& solver : expand_families(split_solver_list(list), chosen)) {
      make_named_solver(solver);  // throws if there is no such solver or option
      if (std::find(names.begin(), names.end(), solver) == names.end()) names.push_back(solver);
    }
  }
  if (!solver_lists.empty() && names.empty()) throw InvalidInput("--solvers names no solver");
  if (names.empty()) {
    for (const SolverInfo& info : solver_catalogue()) {
      if (info.make()->supports(chosen)) names.emplace_back(info.name);
    }
  }
  return names;
}

CampaignSettings CampaignCommand::settings_of(const fs::path& collection) const {
  index_of_name("measure", measure, kMeasures);
  index_of_name("law", law, kLaws);
  if (!(time_limit > 0.0) || !std::isfinite(time_limit))
    throw InvalidInput(fmt::format("--time-limit {}: it must be positive and finite", time_limit));
  if (max_iterations < 1) throw InvalidInput(fmt::format("--max-iter {}: it must be >= 1", max_iterations));
  CampaignSettings settings;
  settings.collection = fs::weakly_canonical(collection / ".").filename().string();
  if (fs::exists(collection / "KIND")) {
    settings.kind = load_text(collection / "KIND");
    settings.kind.erase(std::remove(settings.kind.begin(), settings.kind.end(), '\n'), settings.kind.end());
  }
  settings.version = version();
  settings.measure = measure;
  settings.law = law;
  settings.time_limit = time_limit;
  settings.max_iterations = max_iterations;
  settings.solvers = solvers();
  settings.tolerances = parse_tolerances(tolerances);
  settings.shard = shard;
  return settings;
}

template <class T>
void add_missing(std::vector<T>& to, const std::vector<T>& from) {
  for (const T& item : from) {
    if (std::find(to.begin(), to.end(), item) == to.end()) to.push_back(item);
  }
}

// Settings of an earlier run in the same folder must agree; its solvers and tolerances are kept.
void join(const fs::path& out, CampaignSettings& settings) {
  if (!fs::exists(out / kSettingsFile)) {
    if (fs::exists(out / kResultsFile))
      throw InvalidInput(fmt::format("{}: has results, but no {}", out.string(), kSettingsFile));
    return;
  }
  const CampaignSettings before = parse_settings(out / kSettingsFile);
  std::string other = difference(before, settings);
  // Names of files are all that tells problems apart.
  if (other.empty() && before.collection != settings.collection)
    other = fmt::format("the folder of problems ({} and {})", before.collection, settings.collection);
  if (other.empty() && before.shard != settings.shard)
    other = fmt::format("--shard ('{}' and '{}')", before.shard, settings.shard);
  if (!other.empty())
    throw InvalidInput(
        fmt::format("{} holds a campaign that differs in {}; choose another --out", out.string(), other));
  std::vector<std::string> solvers = before.solvers;
  add_missing(solvers, settings.solvers);
  settings.solvers = std::move(solvers);
  add_missing(settings.tolerances, before.tolerances);
  std::sort(settings.tolerances.rbegin(), settings.tolerances.rend());
}

void print_summary(const std::vector<CampaignRow>& rows, const fs::path& out) {
  using Align = TextTable::Align;
  for (const double tolerance : tolerances_of(rows)) {
    const ResultTable results(rows, tolerance);
    TextTable table({{"solver"},
                     {"solved", Align::right},
                     {"share", Align::right},
                     {"median ms", Align::right},
                     {"median ratio", Align::right},
                     {"worst ratio", Align::right},
                     {"false claims", Align::right}});
    for (const std::size_t s : best_solvers(results, results.solvers().size())) {
      const SolverFigures f = figures_of(results, s);
      const auto ratio = [](double r) { return std::isfinite(r) ? fmt::format("{:.3g}", r) : "-"; };
      table.add_row({results.solvers()[s], fmt::format("{}/{}", f.solved, f.problems),
                     fmt::format("{:.1f} %", 100.0 * f.share()), format_ms(1e3 * f.median_s),
                     ratio(f.median_ratio), ratio(f.worst_ratio),
                     std::to_string(f.outcomes[static_cast<std::size_t>(Outcome::false_claim)])});
    }
    fmt::print("tolerance {:g}\n{}\n", tolerance, table.str());
  }
  fmt::print("{} in {}, pages from {}\n", counted(static_cast<long long>(rows.size()), "solve"),
             (out / kResultsFile).string(), (out / "index.html").string());
}

ExitCode CampaignCommand::measure_all() const {
  if (inputs.size() != 1) throw InvalidInput("name one folder of problems: tribo campaign DIR");
  if (jobs < 1 || jobs > 1024)
    throw InvalidInput(fmt::format("--jobs {}: it must be between 1 and 1024", jobs));
  const fs::path collection(inputs[0]), folder(out);
  CampaignSettings settings = settings_of(collection);
  const Shard part = parse_shard(shard);
  const std::vector<CampaignFile> files = files_of(collection);
  make_folder("--out", folder);
  const FolderLock lock(folder);
  const std::vector<std::string> asked_solvers = settings.solvers;
  const std::vector<double> asked_tolerances = settings.tolerances;
  join(folder, settings);
  write_file(folder / kSettingsFile, to_json_text(settings));
  ResultStore store(folder);

  std::vector<CampaignGroup> groups;
  int total = 0, there = 0;
  for (std::size_t k = 0; k < files.size(); ++k) {
    if (static_cast<int>(k % static_cast<std::size_t>(part.count)) != part.number - 1) continue;
    CampaignGroup group{files[k], {}};
    for (const double tolerance : asked_tolerances) {
      for (const std::string& solver : asked_solvers) {
        CampaignRow row;
        row.file = files[k].name;
        row.solver = solver;
        row.tolerance = tolerance;
        ++total;
        if (store.has(row)) {
          ++there;
        } else {
          group.tasks.push_back({solver, tolerance});
        }
      }
    }
    if (!group.tasks.empty()) groups.push_back(std::move(group));
  }
  {
    ProgressBar progress(total, there);
    run_groups(collection, settings, groups, jobs, [&](const CampaignRow& row) {
      store.add(row);
      progress.advance();
      progress.show(fmt::format("{} on {}", row.solver, row.file));
    });
  }
  const std::vector<CampaignRow> rows = store.finish(settings);
  write_pages(folder, settings, rows);
  print_summary(rows, folder);
  return ExitCode::success;
}

ExitCode CampaignCommand::merge_all() const {
  if (inputs.size() < 2)
    throw InvalidInput("--merge OUT SHARD...: name the folder to write and those of the shards");
  const fs::path folder(inputs[0]);
  CampaignSettings settings;
  std::vector<CampaignRow> rows;
  std::vector<std::string> shards;
  for (std::size_t k = 1; k < inputs.size(); ++k) {
    const fs::path from(inputs[k]);
    if (!fs::exists(from / kResultsFile))
      throw InvalidInput(
          fmt::format("{}: no {} here; has this shard finished?", from.string(), kResultsFile));
    CampaignSettings own = parse_settings(from / kSettingsFile);
    if (k == 1) {
      settings = own;
    } else if (const std::string other = difference(settings, own); !other.empty()) {
      throw InvalidInput(fmt::format("{} and {} differ in {}", inputs[1], inputs[k], other));
    }
    add_missing(settings.solvers, own.solvers);
    add_missing(settings.tolerances, own.tolerances);
    shards.push_back(own.shard);
    for (CampaignRow& row : parse_results(from / kResultsFile)) rows.push_back(std::move(row));
  }
  std::sort(settings.tolerances.rbegin(), settings.tolerances.rend());
  settings.shard.clear();
  if (const std::string missing = missing_shards(shards); !missing.empty())
    print_error(fmt::format("{} holds a part of the campaign: no shard {}", folder.string(), missing));
  put_in_order(rows, settings);
  make_folder("", folder);
  const FolderLock lock(folder);
  write_file(folder / kSettingsFile, to_json_text(settings));
  write_file(folder / kResultsFile, results_text(rows));
  write_pages(folder, settings, rows);
  print_summary(rows, folder);
  return ExitCode::success;
}

ExitCode CampaignCommand::report_again() const {
  if (inputs.size() != 1) throw InvalidInput("--report OUT: name the folder of a campaign");
  const fs::path folder(inputs[0]);
  if (!fs::exists(folder / kResultsFile))
    throw InvalidInput(fmt::format("{}: no {} in this folder", folder.string(), kResultsFile));
  const CampaignSettings settings = parse_settings(folder / kSettingsFile);
  const std::vector<CampaignRow> rows = parse_results(folder / kResultsFile);
  write_pages(folder, settings, rows);
  print_summary(rows, folder);
  return ExitCode::success;
}

ExitCode CampaignCommand::run() const {
  if (merge && report) throw InvalidInput("--merge and --report exclude each other");
  if (merge) return merge_all();
  return report ? report_again() : measure_all();
}

}  // namespace

void add_campaign_command(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("campaign", "Run solvers on a collection: results, pages, resumable");
  const auto state = std::make_shared<CampaignCommand>();
  command
      ->add_option("DIR", state->inputs,
                   "Folder of the problems (of tribo collect, or any with problem files)")
      ->type_name("")
      ->required();
  command
      ->add_option(
          "--solvers", state->solver_lists,
          "Solvers separated by commas, each with options if wanted, or families of `tribo solvers`: "
          "classical, newton, ... (default: all)")
      ->type_name("LIST")
      ->allow_extra_args(false);
  command->add_option("--tol", state->tolerances, "Tolerances separated by commas")
      ->type_name("LIST")
      ->capture_default_str();
  command->add_option("--measure", state->measure, "What the tolerances are about: siconos, scaled or fclib")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--law", state->law, "exact (Signorini-Coulomb) or convex (cone complementarity)")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--time-limit", state->time_limit, "Limit on the CPU time of one solve, in seconds")
      ->type_name("S")
      ->capture_default_str();
  command->add_option("--max-iter", state->max_iterations, "Limit on iterations")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--jobs", state->jobs,
                   "Solve so many problems at a time, each on a core of its own. Times are cleanest with 1")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--shard", state->shard,
                   "Do part K of N of the problems, with an --out of its own; --merge joins them")
      ->type_name("K/N");
  command->add_option("-o,--out", state->out, "Folder of the results and pages")
      ->type_name("OUT")
      ->capture_default_str();
  command->add_flag("--merge", state->merge,
                    "tribo campaign --merge OUT SHARD...: join the results of shards");
  command->add_flag("--report", state->report, "tribo campaign --report OUT: make the pages of OUT again");
  command->footer(
      "A campaign that was stopped goes on where it was: give the same command again. With more solvers or "
      "tolerances\n"
      "only what is missing is measured. Results: OUT/results.csv, one row per solve; pages from "
      "OUT/index.html.\n"
      "Solvers that fail, crash or hang are a result: the exit code is 0 when the campaign was made, 2 for "
      "invalid input.\n"
      "Example:\n"
      "  tribo campaign collection --solvers auto,nsgs,admm --tol 1e-4,1e-8 --time-limit 10 --out results");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
