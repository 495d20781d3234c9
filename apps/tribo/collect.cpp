// tribo collect: writes the collection of problems, each with a verified solution, its manifest and a README.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "apps/tribo/collection.h"
#include "apps/tribo/collection_journal.h"
#include "apps/tribo/collection_plan.h"
#include "apps/tribo/commands.h"
#include "apps/tribo/progress.h"
#include "apps/tribo/solve_options.h"
#include "tribo/base/errors.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

// A step may have no contacts: the first later one that has some is taken, up to this share of the distance between two.
constexpr double kPatience = 0.9;

// Files without their names: a run was killed while it wrote them.
void remove_unfinished(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name.starts_with('.') && name.ends_with(".tmp")) fs::remove(entry.path());
  }
}

struct Job {
  const Family* family = nullptr;
  const Trajectory* trajectory = nullptr;
  std::vector<std::string> files;  // of its problems, in order
};

std::string describe(const Trajectory& t, std::int64_t step) {
  std::string text = fmt::format("scene {}", t.scene);
  for (const auto& [name, value] : t.values) text += fmt::format(" {}={:g}", name, value);
  return text + fmt::format(", step {}", step);
}

struct CollectCommand {
  std::string folder;
  bool small = false, list = false;
  std::string families;
  int jobs = 1;

  ExitCode run() const;

 private:
  std::vector<Family> plan() const;
  void print_list(const std::vector<Family>& families) const;
};

std::vector<Job> jobs_of(const std::vector<Family>& families) {
  std::vector<Job> jobs;
  for (const Family& family : families) {
    Index number = 0;
    for (const Trajectory& trajectory : family.trajectories) {
      Job job{&family, &trajectory, {}};
      for (Index k = 0; k < trajectory.problems; ++k)
        job.files.push_back(fmt::format("{0}/{0}-{1:04d}.hdf5", family.name, ++number));
      jobs.push_back(std::move(job));
    }
  }
  return jobs;
}

// Simulates one trajectory and adds those of its problems that are missing.
class TrajectoryRun {
 public:
  TrajectoryRun(const fs::path& folder, const Job& job, CollectionJournal& journal,
                const std::function<void(int)>& done)
      : folder_(folder), job_(job), journal_(journal), done_(done) {}

  void go() {
    Index missing = 0;
    for (const std::string& file : job_.files) missing += journal_.has(file) ? 0 : 1;
    if (missing == 0) return;
    Scene scene = make_scene(job_.trajectory->scene, job_.trajectory->values);
    Simulator simulator(scene.world, scene.settings);
    simulator.set_state(scene.start);
    const Trajectory& t = *job_.trajectory;
    const double steps = std::floor(scene.duration / simulator.time_step());
    const Index per_step = std::max<Index>(1, t.contacts_per_step);
    const Index stops = (t.problems + per_step - 1) / per_step;
    const double distance = stops > 1 ? (1.0 - t.begin) * steps / stops : steps;
    Index next = 0;
    for (std::int64_t step = 1; next < stops && step <= static_cast<std::int64_t>(steps); ++step) {
      velocity_ = simulator.state().v;
      scene.control(simulator);
      simulator.step();
      const double place = t.begin * steps + distance * next;
      if (static_cast<double>(step) < place) continue;
      const bool late = static_cast<double>(step) > place + kPatience * distance;
      const ContactProblem problem = simulator.problem();
      if (problem.contact_count() == 0 && !late) continue;
      const Index first = next * per_step;
      take(simulator, problem, first, std::min<Index>(per_step, t.problems - first), step);
      ++next;
      if (std::all_of(job_.files.begin(), job_.files.end(), [&](const auto& f) { return journal_.has(f); }))
        return;
    }
    for (const std::string& file : job_.files) skip(file);
  }

 private:
  void take(const Simulator& simulator, const ContactProblem& problem, Index first, Index count,
            std::int64_t step) {
    const auto file = [&](Index k) -> const std::string& {
      return job_.files[static_cast<std::size_t>(first + k)];
    };
    const bool all_there = [&] {
      for (Index k = 0; k < count; ++k) {
        if (!journal_.has(file(k))) return false;
      }
      return true;
    }();
    if (all_there) return;
    const std::string text = describe(*job_.trajectory, step);
    if (job_.trajectory->contacts_per_step == 0) {
      if (problem.contact_count() == 0) return skip(file(0));
      return add(problem, simulator.problem_guess(), file(0), text);
    }
    const std::unique_ptr<Solver> solver = make_solver("auto");
    Solution solution;
    Settings settings;
    settings.tolerance = 1e-8;
    solver->solve(problem, settings, solution);
    const std::vector<ContactProblem> local =
        local_problems(problem, solution.impulse, velocity_, simulator.time_step(), count);
    for (Index k = 0; k < count; ++k) {
      if (k >= static_cast<Index>(local.size())) {
        skip(file(k));
      } else if (!journal_.has(file(k))) {
        add(local[static_cast<std::size_t>(k)], {}, file(k), fmt::format("contact {} of {}", k, text));
      }
    }
  }
  void add(const ContactProblem& problem, const Vector& guess, const std::string& file,
           const std::string& text) {
    ManifestRow row;
    row.family = job_.family->name;
    row.file = file;
    add_to_collection(folder_, problem, guess, text, row);
    journal_.add(row);
    done_(1);
  }
  void skip(const std::string& file) {
    if (journal_.has(file)) return;
    ManifestRow row;
    row.family = job_.family->name;
    row.file = file;
    journal_.add(row);
    done_(1);
  }

  const fs::path& folder_;
  const Job& job_;
  CollectionJournal& journal_;
  const std::function<void(int)>& done_;
  Vector velocity_;
};

void run_jobs(const fs::path& folder, const std::vector<Job>& jobs, int threads, CollectionJournal& journal) {
  int total = 0, there = 0;
  for (const Job& job : jobs) {
    total += static_cast<int>(job.files.size());
    for (const std::string& file : job.files) there += journal.has(file) ? 1 : 0;
  }
  ProgressBar progress(total, there);
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  const auto work = [&] {
    for (std::size_t k = next++; k < jobs.size() && !stop; k = next++) {
      const std::function<void(int)> done = [&](int count) {
        const std::lock_guard lock(mutex);
        progress.advance(count);
        progress.show(std::string(jobs[k].family->name));
      };
      try {
        TrajectoryRun(folder, jobs[k], journal, done).go();
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        stop = true;
      }
    }
  };
  std::vector<std::thread> others;
  for (int k = 1; k < threads; ++k) others.emplace_back(work);
  work();
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

std::string readme(const std::vector<Family>& plan, const std::vector<ManifestRow>& rows,
                   const std::string& kind) {
  std::string text = fmt::format(
      "# Contact problems with verified solutions ({} collection)\n\n{} problems in FCLIB format, made by "
      "`tribo collect`: "
      "steps of simulations with fixed seeds, shaped like the\nfamilies of Acary, Bremond and Huber (2018), "
      "Table 5. "
      "Datasets are chunked and compressed (shuffle, deflate);\nlibhdf5, h5py and Siconos read "
      "them.\n\nEvery file holds "
      "a solution in `/solution`, certified to a scaled error of {:g}; where that was not reached the\nbest "
      "impulses are "
      "stored and the problem is marked *hard* in `manifest.csv`.\n\n"
      "| family | what | like | problems | contacts | hard |\n|---|---|---|---:|---:|---:|\n",
      kind, rows.size(), kCollectionTolerance);
  for (const Family& family : plan) {
    Index count = 0, hard = 0, least = 0, most = 0;
    for (const ManifestRow& row : rows) {
      if (row.family != family.name) continue;
      least = count == 0 ? row.contacts : std::min(least, row.contacts);
      most = std::max(most, row.contacts);
      hard += row.hard ? 1 : 0;
      ++count;
    }
    if (count > 0)
      text += fmt::format("| {} | {} | {} | {} | {}-{} | {} |\n", family.name, family.summary, family.like,
                          count, least, most, hard);
  }
  return text +
         "\n## manifest.csv\n"
         "- `contacts`, `bilateral`, `rows`, `dofs`: sizes. `rank_ratio`: rows / rank of W, 0 where it was "
         "not computed (more\n"
         "  than 1500 degrees of freedom in an island).\n"
         "- `scale_spread`: largest over smallest w_i, the mean diagonal of W at a contact.\n"
         "- `sliding_share`: of the contacts, those on the boundary of their cone at the stored solution.\n"
         "- `error`: scaled error of the stored solution, `siconos_error`: Siconos' measure of it; `solver` "
         "found it.\n"
         "- `hash`: FNV-1a over the numbers of problem and solution. It does not depend on the version of "
         "zlib, the bytes of\n"
         "  the files do.\n";
}

std::vector<Family> CollectCommand::plan() const {
  std::vector<Family> all = collection_plan(small);
  if (families.empty()) return all;
  std::vector<std::string> names;
  for (const Family& family : all) names.emplace_back(family.name);
  std::vector<bool> wanted(all.size(), false);
  for (const std::string& name : split_solver_list(families))
    wanted[index_of_name("family", name, names)] = true;
  std::vector<Family> chosen;
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (wanted[k]) chosen.push_back(std::move(all[k]));
  }
  return chosen;
}

void CollectCommand::print_list(const std::vector<Family>& list_of) const {
  Index total = 0;
  for (const Family& family : list_of) {
    total += family.problems();
    fmt::print("{:<12} {:>4} problems: {}\n{:18}{}\n", family.name, family.problems(), family.summary, "",
               family.like);
  }
  fmt::print("{} in all\n", counted(total, "problem"));
}

ExitCode CollectCommand::run() const {
  const std::vector<Family> chosen = plan();
  if (list) {
    print_list(chosen);
    return ExitCode::success;
  }
  if (folder.empty()) throw InvalidInput("name a folder for the collection: tribo collect DIR");
  if (jobs < 1 || jobs > 1024)
    throw InvalidInput(fmt::format("--jobs {}: it must be between 1 and 1024", jobs));
  const fs::path root(folder);
  make_folder("", root);
  const FolderLock lock(root);
  CollectionJournal journal(root, small);
  for (const Family& family : chosen) {
    make_folder("", root / family.name);
    remove_unfinished(root / family.name);
  }
  const std::vector<Job> todo = jobs_of(chosen);
  run_jobs(root, todo, jobs, journal);

  // In the order of the whole plan, whatever was made first.
  std::vector<ManifestRow> rows;
  const std::vector<Family> all = collection_plan(small);
  for (const Job& job : jobs_of(all)) {
    for (const std::string& file : job.files) {
      const auto found = journal.rows().find(file);
      if (found != journal.rows().end()) rows.push_back(found->second);
    }
  }
  std::vector<ManifestRow> present = rows;
  std::erase_if(present, [](const ManifestRow& row) { return row.rows == 0; });
  std::string manifest = manifest_head();
  for (const ManifestRow& row : present) manifest += to_csv_line(row);
  write_file(root / "README.md", readme(all, present, journal.kind()));
  write_file(root / "manifest.csv", manifest);
  journal.finish();
  const auto hard =
      std::count_if(present.begin(), present.end(), [](const ManifestRow& row) { return row.hard; });
  std::uintmax_t bytes = 0;
  for (const ManifestRow& row : present) bytes += fs::file_size(root / row.file);
  fmt::print("{}: {}, {:.1f} MB; {} hard (solution above {:g})\n", folder,
             counted(static_cast<long long>(present.size()), "problem"), static_cast<double>(bytes) / 1e6,
             hard, kCollectionTolerance);
  return ExitCode::success;
}

}  // namespace

void add_collect_command(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("collect", "Write the collection of problems with verified solutions");
  const auto state = std::make_shared<CollectCommand>();
  command->add_option("DIR", state->folder, "Folder of the collection; it is made if it does not exist")
      ->type_name("");
  command->add_flag("--small", state->small, "Fewer and smaller problems of every family, under 50 MB");
  command
      ->add_option("--families", state->families,
                   "Only these, separated by commas (default: all); see --list")
      ->type_name("LIST");
  command->add_flag("--list", state->list,
                    "List the families and how many problems they have, write nothing");
  command
      ->add_option("--jobs", state->jobs,
                   "Simulate and solve so many trajectories at a time; the files are the same")
      ->type_name("N")
      ->capture_default_str();
  command->footer(
      "A run that was stopped goes on where it was: give the same command again. Nothing is left half "
      "written.\n"
      "The same version of tribo gives the same problems and solutions (column `hash` of manifest.csv).\n"
      "Example:\n"
      "  tribo collect collection --small\n"
      "  tribo campaign collection --solvers auto,nsgs,admm --tol 1e-4,1e-8 --out results");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
