#include "apps/tribo/campaign_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "apps/tribo/solve_options.h"
#include "apps/tribo/support.h"
#include "tribo/base/errors.h"
#include "tribo/problem/certificate.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShort = 0.05;        // s: solves below are repeated
constexpr double kRepeatBudget = 0.1;  // s
constexpr int kMostRepeats = 5;
// The limit is one of CPU time, which a solver's checks of the clock enforce. The wall clock is no measure on a machine that does
// other things: it only ends what waits for something.
constexpr double kWallPerCpu = 100.0;
// A process that has spent so many times the limit and so many s of CPU time since its last word is ended.
constexpr double kCpuPerLimit = 2.0, kGrace = 20.0;
constexpr double kFeasible = 1e-6;  // scaled error of a stored solution that shows that there is one

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Of another process; 0 where it is gone.
double cpu_seconds_of(pid_t process) {
  clockid_t clock{};
  timespec spent{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &spent) != 0) return 0.0;
  return static_cast<double>(spent.tv_sec) + 1e-9 * static_cast<double>(spent.tv_nsec);
}

Outcome outcome_of(Status status, double error, double start_error, double tolerance, bool feasible) {
  if (status == Status::converged && !(error <= tolerance)) return Outcome::false_claim;
  if (error <= tolerance) return Outcome::solved;
  if (status == Status::infeasible) return feasible ? Outcome::false_claim : Outcome::infeasible;
  if (status == Status::no_solution_suspected || !(error < start_error)) return Outcome::diverged;
  if (status == Status::time_limit || status == Status::cancelled) return Outcome::time_limit;
  if (status == Status::iteration_limit) return Outcome::iteration_limit;
  return Outcome::stalled;
}

// The error of these impulses and nothing else, in extended precision where rounding counts.
double recomputed(const ContactProblem& problem, const Vector& impulse, const Settings& settings) {
  if (impulse.size() != problem.row_count() || !impulse.allFinite())
    return std::numeric_limits<double>::infinity();
  Solution copy;
  copy.impulse = impulse;
  Certifier certifier;
  const Certificate certificate = certifier.complete(problem, copy, settings.law, settings.tolerance);
  const double error = value_of(certificate, settings.measure);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

}  // namespace

void measure_solve(const ContactProblem& problem, const Settings& campaign, bool feasible, CampaignRow& row) {
  Settings settings = campaign;
  double begin = 0.0;
  settings.time_limit = kWallPerCpu * campaign.time_limit;
  // CPU time is at most wall time: the costlier clock is read only beyond the limit.
  settings.on_progress = [&](const Progress& progress) {
    return progress.seconds <= campaign.time_limit || cpu_seconds() - begin <= campaign.time_limit;
  };
  double least = std::numeric_limits<double>::infinity(), largest = 0.0, total = 0.0;
  row.repeats = 0;
  do {
    const std::unique_ptr<Solver> solver = make_solver(row.solver);
    Solution solution;
    begin = cpu_seconds();
    const Report report = solver->solve(problem, settings, solution);
    const double spent = cpu_seconds() - begin;
    least = std::min(least, spent);
    largest = std::max(largest, spent);
    total += spent;
    if (row.repeats++ > 0) continue;  // the same input gives the same result: only the time is new
    row.iterations = report.iterations;
    row.error = recomputed(problem, solution.impulse, settings);
    const double start = recomputed(problem, Vector::Zero(problem.row_count()), settings);
    row.outcome = outcome_of(report.status, row.error, start, settings.tolerance, feasible);
  } while (least < kShort && row.repeats < kMostRepeats && total < kRepeatBudget);
  row.cpu_s = least;
  if (row.repeats > 1) row.spread = (largest - least) / std::max(least, 1e-9);
}

namespace {

Settings solve_settings(const CampaignSettings& campaign, double tolerance) {
  Settings settings;
  settings.tolerance = tolerance;
  settings.measure = campaign.measure == "siconos" ? Measure::siconos
                     : campaign.measure == "fclib" ? Measure::fclib
                                                   : Measure::scaled;
  settings.law = campaign.law == "convex" ? Law::convex : Law::exact;
  settings.time_limit = campaign.time_limit;
  settings.max_iterations = campaign.max_iterations;
  return settings;
}

CampaignRow empty_row(const CampaignSettings& campaign, const CampaignFile& file, const CampaignTask& task) {
  CampaignRow row;
  row.family = file.family;
  row.file = file.name;
  row.rank_ratio = file.rank_ratio;
  row.solver = task.solver;
  row.tolerance = task.tolerance;
  row.measure = campaign.measure;
  row.law = campaign.law;
  row.error = std::numeric_limits<double>::infinity();
  return row;
}

bool write_all(int pipe, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(pipe, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return true;
}

bool is_known_feasible(const LoadedProblem& loaded, const Settings& settings) {
  if (!loaded.solution) return false;
  Solution solution;
  solution.impulse = *loaded.solution;
  return certify(loaded.problem, solution, settings.law).error.value <= kFeasible;
}

// What a child does: the tasks in turn, one line each. "#" says that the next one begins.
void work(const std::filesystem::path& collection, const CampaignSettings& campaign,
          const CampaignGroup& group, int pipe) {
  std::optional<LoadedProblem> loaded;
  std::string trouble;
  try {
    loaded = read_problem(collection / group.file.name);
  } catch (const std::exception& error) {
    trouble = error.what();
  }
  if (!trouble.empty()) print_error(trouble);
  const bool feasible = loaded && is_known_feasible(*loaded, solve_settings(campaign, 1.0));
  for (const CampaignTask& task : group.tasks) {
    if (!write_all(pipe, "#\n")) return;
    CampaignRow row = empty_row(campaign, group.file, task);
    row.outcome = Outcome::refused;
    try {
      if (loaded) {
        row.contacts = loaded->problem.contact_count();
        row.rows = loaded->problem.row_count();
        row.dofs = loaded->problem.full_dof_count();
        measure_solve(loaded->problem, solve_settings(campaign, task.tolerance), feasible, row);
      }
    } catch (const InvalidInput&) {
      row.outcome = Outcome::refused;
    } catch (const std::bad_alloc&) {
      row.outcome = Outcome::memory;
    } catch (const std::exception& error) {
      print_error(fmt::format("{} on {}: {}", task.solver, group.file.name, error.what()));
      row.outcome = Outcome::crashed;
    }
    if (!write_all(pipe, to_csv_line(row))) return;
  }
}

// Counted from the processor on which the campaign began, so that campaigns beside each other do not all take the first.
void bind_to_processor(std::size_t slot, int first) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int count = CPU_COUNT(&allowed);
  int before = 0;  // allowed ones before the first
  for (int cpu = 0; cpu < std::min<int>(first, CPU_SETSIZE); ++cpu)
    before += CPU_ISSET(cpu, &allowed) ? 1 : 0;
  int left = (before + static_cast<int>(slot)) % std::max(count, 1);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed) || left-- > 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ::sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

// A child and what came from it so far.
struct Child {
  pid_t pid = -1;
  int pipe = -1;
  CampaignGroup group;
  std::size_t done = 0;  // tasks whose row has come
  bool solving = false;  // between "#" and its row
  std::string text;
  Clock::time_point since;  // its last word, ...
  double cpu_before = 0.0;  // ... and the CPU time it had spent then, s
  bool ended_by_us = false;
};

class Campaign {
 public:
  Campaign(const std::filesystem::path& collection, const CampaignSettings& settings,
           const std::vector<CampaignGroup>& groups, int jobs,
           const std::function<void(const CampaignRow&)>& finished)
      : collection_(collection),
        settings_(settings),
        waiting_(groups.rbegin(), groups.rend()),
        finished_(finished) {
    children_.resize(static_cast<std::size_t>(jobs));
  }

  void run() {
    for (;;) {
      bool busy = false;
      for (std::size_t slot = 0; slot < children_.size(); ++slot) {
        if (children_[slot].pid < 0 && !waiting_.empty()) start(slot);
        busy = busy || children_[slot].pid >= 0;
      }
      if (!busy) return;
      wait_for_news();
    }
  }

 private:
  bool is_hung(const Child& child) const {
    const double wall = std::chrono::duration<double>(Clock::now() - child.since).count();
    if (wall <= kCpuPerLimit * settings_.time_limit + kGrace) return false;
    const double spent = cpu_seconds_of(child.pid) - child.cpu_before;
    return spent > kCpuPerLimit * settings_.time_limit + kGrace ||
           wall > kWallPerCpu * settings_.time_limit + kGrace;
  }

  void start(std::size_t slot) {
    Child& child = children_[slot];
    child = {};
    child.group = std::move(waiting_.back());
    waiting_.pop_back();
    int ends[2];
    std::fflush(nullptr);
    if (::pipe(ends) != 0) throw InvalidInput(fmt::format("no pipe: {}", std::strerror(errno)));
    const pid_t parent = ::getpid();
    child.pid = ::fork();
    if (child.pid < 0) throw InvalidInput(fmt::format("no process: {}", std::strerror(errno)));
    if (child.pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      ::close(ends[0]);
      ::signal(SIGPIPE, SIG_DFL);
      bind_to_processor(slot, first_processor_);
      work(collection_, settings_, child.group, ends[1]);
      std::fflush(stderr);
      ::_exit(0);
    }
    ::close(ends[1]);
    child.pipe = ends[0];
    child.since = Clock::now();
  }

  void wait_for_news() {
    constexpr int kTick = 500;  // ms, how often hanging processes are looked for
    std::vector<pollfd> waiting;
    for (const Child& child : children_) {
      if (child.pid >= 0) waiting.push_back({child.pipe, POLLIN, 0});
    }
    ::poll(waiting.data(), waiting.size(), kTick);
    for (Child& child : children_) {
      if (child.pid < 0) continue;
      const auto found =
          std::find_if(waiting.begin(), waiting.end(), [&](const pollfd& p) { return p.fd == child.pipe; });
      if (found != waiting.end() && found->revents != 0) read(child);
      if (child.pid >= 0 && is_hung(child)) {
        child.ended_by_us = true;
        ::kill(child.pid, SIGKILL);
      }
    }
  }

  void read(Child& child) {
    char buffer[4096];
    const ssize_t count = ::read(child.pipe, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) return;
    if (count <= 0) return end(child);
    child.text.append(buffer, static_cast<std::size_t>(count));
    for (std::size_t stop = child.text.find('\n'); stop != std::string::npos; stop = child.text.find('\n')) {
      const std::string line = child.text.substr(0, stop + 1);
      child.text.erase(0, stop + 1);
      child.since = Clock::now();
      child.cpu_before = cpu_seconds_of(child.pid);
      child.solving = line == "#\n";
      if (child.solving) continue;
      ++child.done;
      finished_(parse_line(line));
    }
  }

  // The lines of a child are those of the table.
  static CampaignRow parse_line(const std::string& line) {
    std::vector<CampaignRow> rows = parse_result_lines(line);
    if (rows.size() != 1) throw InvalidInput("a solving process wrote something unexpected");
    return std::move(rows.front());
  }

  // The pipe is closed: the child has finished, crashed or was ended. What it left goes to a new one.
  void end(Child& child) {
    ::close(child.pipe);
    int status = 0;
    while (::waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
    }
    child.pid = -1;
    const std::vector<CampaignTask>& tasks = child.group.tasks;
    if (child.done >= tasks.size()) return;
    CampaignRow row = empty_row(settings_, child.group.file, tasks[child.done]);
    row.outcome = child.ended_by_us ? Outcome::hung : Outcome::crashed;
    row.cpu_s = settings_.time_limit;
    finished_(row);
    CampaignGroup rest{child.group.file,
                       {tasks.begin() + static_cast<std::ptrdiff_t>(child.done) + 1, tasks.end()}};
    if (!rest.tasks.empty()) waiting_.push_back(std::move(rest));
  }

  const std::filesystem::path& collection_;
  const CampaignSettings& settings_;
  std::vector<CampaignGroup> waiting_;  // the next one last
  const std::function<void(const CampaignRow&)>& finished_;
  std::vector<Child> children_;
  int first_processor_ = std::max(0, ::sched_getcpu());
};

}  // namespace

void run_groups(const std::filesystem::path& collection, const CampaignSettings& settings,
                const std::vector<CampaignGroup>& groups, int jobs,
                const std::function<void(const CampaignRow&)>& finished) {
  Campaign(collection, settings, groups, jobs, finished).run();
}

}  // namespace tribo::cli
