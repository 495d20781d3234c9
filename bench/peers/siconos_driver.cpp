// tribo_bench_siconos: the five Siconos solvers on a list of problem files, one process per solve.
//
//   tribo_bench_siconos [--tolerances 1e-6,1e-8] [--time-cap 5] [--repeat 5] [--methods nsgs,admm]
//                       [--study | --single | --namesakes] FILE...
//
// --study: also settings that are hardly ever best; --single: only the best single setting of each method;
// --namesakes: the solvers that tribo's catalogue has by the same name; --methods chooses of any.
//
// A peer that hangs, crashes or exits inside the library costs one row and nothing else: each (problem,
// settings, tolerance) runs in a forked child, whose CPU time the parent watches, and hands its result back
// through shared memory. (An interval timer in the child would do, but while one is armed Linux rounds the
// process's CPU clock to scheduler ticks.) The child times fc3d_driver() alone, always from zero impulses;
// build is the time to form W, zero where the file holds W. The parent recomputes the error with tribo's
// certificate: Siconos' own `info` proves nothing.
#include <fcntl.h>
#include <siconos/SiconosConfig.h>
#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsVerbose.h>
#include <siconos/numerics/SolverOptions.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "measure.h"
#include "peers/siconos_peer.h"
#include "tribo/base/errors.h"
#include "tribo/formats/problem_file.h"

namespace {

using namespace tribo;
using namespace tribo::bench;

constexpr int kMaxRuns = 200;
constexpr rlim_t kMemoryLimit = rlim_t{6} << 30;  // bytes

struct Arguments {
  std::vector<double> tolerances = {1e-6, 1e-8};
  std::vector<std::string> methods;
  std::vector<std::string> files;
  double time_cap = 5.0;  // s of CPU time per solve
  double budget_ms = 100.0;
  int repeat = 5;
  bool study = false;
  bool single = false;
  bool namesakes = false;
};

// What a child hands back; the reaction follows in the same mapping.
struct Result {
  volatile int runs;
  volatile double run_begin;  // CPU time of the child when its present run began, ms
  int info;
  int iterations;
  double times[kMaxRuns];
};

class SharedResult {
 public:
  explicit SharedResult(Index rows) : size_(sizeof(Result) + rows * sizeof(double)) {
    memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::runtime_error("tribo_bench_siconos: no shared memory");
  }
  ~SharedResult() { munmap(memory_, size_); }
  SharedResult(const SharedResult&) = delete;
  SharedResult& operator=(const SharedResult&) = delete;
  Result& result() { return *static_cast<Result*>(memory_); }
  double* reaction() { return reinterpret_cast<double*>(static_cast<char*>(memory_) + sizeof(Result)); }

 private:
  std::size_t size_;
  void* memory_ = nullptr;
};

[[noreturn]] void run_child(const SiconosProblem& peer, const SiconosVariant& variant, double tolerance,
                            Index rows, const Arguments& arguments, SharedResult& shared) {
  const int null = open("/dev/null", O_WRONLY);
  dup2(null, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
  const rlimit memory{kMemoryLimit, kMemoryLimit};
  setrlimit(RLIMIT_AS, &memory);
  const rlimit core{0, 0};
  setrlimit(RLIMIT_CORE, &core);
  numerics_set_verbose(0);

  std::vector<double> reaction(rows), velocity(rows);
  int wanted = 1;
  for (int run = 0; run < wanted; ++run) {
    std::fill(reaction.begin(), reaction.end(), 0.0);
    std::fill(velocity.begin(), velocity.end(), 0.0);
    // The time cap, not the number of iterations, is the limit.
    Options options = make_options(variant, tolerance, 10'000'000);
    const double begin = cpu_ms();
    shared.result().run_begin = begin;
    const int info = fc3d_driver(peer.get(), reaction.data(), velocity.data(), options.get());
    const double elapsed = cpu_ms() - begin;
    Result& result = shared.result();
    if (run == 0) {
      wanted = std::min(kMaxRuns,
                        repetitions(elapsed, elapsed > 1000.0 ? 2 : arguments.repeat, arguments.budget_ms));
      result.info = info;
      result.iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
      std::copy(reaction.begin(), reaction.end(), shared.reaction());
    }
    result.times[run] = elapsed;
    result.runs = run + 1;
  }
  _exit(0);
}

double cpu_ms_of(clockid_t clock) {
  timespec now{};
  return clock_gettime(clock, &now) == 0
             ? 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec)
             : 0.0;
}

// Waits for the child and ends it when one run takes more CPU time than the cap; the wall-clock limit is only
// for a child that sleeps.
int wait_for(pid_t child, const Result& result, double time_cap) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(100.0 * time_cap);
  clockid_t clock{};
  const bool has_clock = clock_getcpuclockid(child, &clock) == 0;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    const bool over = has_clock && cpu_ms_of(clock) - result.run_begin > 1e3 * time_cap;
    if (over || Clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return status;
}

std::string describe(int wait_status, const Result& result) {
  if (result.runs > 0) return "info " + std::to_string(result.info);
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    return signal == SIGKILL ? "time limit" : std::string("crash ") + strsignal(signal);
  }
  return "exit " + std::to_string(WEXITSTATUS(wait_status));
}

Row measure(const ContactProblem& problem, const SiconosProblem& peer, const SiconosVariant& variant,
            double tolerance, const Arguments& arguments, Row row) {
  SharedResult shared(problem.row_count());
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("tribo_bench_siconos: fork failed");
  if (child == 0) run_child(peer, variant, tolerance, problem.row_count(), arguments, shared);
  const int status = wait_for(child, shared.result(), arguments.time_cap);

  const Result& result = shared.result();
  row.method = variant.method;
  row.variant = variant.variant;
  row.tolerance = tolerance;
  row.status = describe(status, result);
  if (result.runs == 0) {
    row.solve = {1e3 * arguments.time_cap, 1e3 * arguments.time_cap, 1e3 * arguments.time_cap, 0};
    return row;
  }
  row.iterations = result.iterations;
  // With enough runs the first is a warm-up: it pays for lazy binding and for the pages of the heap.
  const int first = result.runs > 2 ? 1 : 0;
  row.solve = spread_of({result.times + first, result.times + result.runs});
  Solution solution;
  solution.impulse = SiconosProblem::to_tribo(shared.reaction(), problem.row_count());
  row.certificate = certify(problem, solution);
  row.certified = solution.impulse.allFinite();
  return row;
}

bool selected(const SiconosVariant& variant, const Arguments& arguments) {
  if (variant.study && !arguments.study) return false;
  const std::span<const SiconosVariant> all = siconos_variants();
  const auto first =
      std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.method == variant.method; });
  if (arguments.single && &variant != &*first) return false;
  const auto& methods = arguments.methods;
  return methods.empty() || std::find(methods.begin(), methods.end(), variant.method) != methods.end();
}

// Forming W of a problem given by M and H: part of Siconos' work, as it is of tribo's; done by tribo's
// routine, which is faster than Siconos' own.
Spread measure_reduction(const ContactProblem& problem, int runs) {
  std::vector<double> times;
  for (int run = 0; run < runs; ++run) {
    const double begin = cpu_ms();
    const SiconosProblem peer(problem);
    times.push_back(cpu_ms() - begin);
  }
  return spread_of(times);
}

void measure_file(const std::string& file, const Arguments& arguments) {
  const LoadedProblem loaded = read_problem(file);
  const ContactProblem& problem = loaded.problem;
  if (loaded.space_dimension != 3 || 3 * problem.contact_count() != problem.row_count()) {
    std::fprintf(stderr, "%s: not a problem of three-dimensional contacts alone; left out\n", file.c_str());
    return;
  }
  Row row;
  row.problem = std::filesystem::path(file).stem().string();
  row.contacts = problem.contact_count();
  row.rows = problem.row_count();
  row.dofs = problem.dof_count();
  row.family = "siconos";
  row.measure = "siconos";
  const SiconosProblem peer(problem);
  if (!problem.has_delassus()) row.build = measure_reduction(problem, arguments.repeat);
  for (const double tolerance : arguments.tolerances) {
    for (const SiconosVariant& variant : arguments.namesakes ? siconos_namesakes() : siconos_variants()) {
      if (selected(variant, arguments)) print_row(measure(problem, peer, variant, tolerance, arguments, row));
    }
  }
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&]() -> std::string {
      if (++i >= argc) throw InvalidInput("tribo_bench_siconos: " + word + " needs a value");
      return argv[i];
    };
    if (word == "--tolerances") {
      arguments.tolerances.clear();
      for (const std::string& t : split(value(), ',')) arguments.tolerances.push_back(std::stod(t));
    } else if (word == "--methods") {
      arguments.methods = split(value(), ',');
    } else if (word == "--time-cap") {
      arguments.time_cap = std::stod(value());
    } else if (word == "--budget") {
      arguments.budget_ms = std::stod(value());
    } else if (word == "--repeat") {
      arguments.repeat = std::stoi(value());
    } else if (word == "--study") {
      arguments.study = true;
    } else if (word == "--namesakes") {
      arguments.namesakes = true;
    } else if (word == "--single") {
      arguments.single = true;
    } else if (word.starts_with("--")) {
      throw InvalidInput("tribo_bench_siconos: unknown option " + word);
    } else {
      arguments.files.push_back(word);
    }
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  // The BLAS that Siconos calls reads this when it is loaded: one thread for every program compared.
  if (std::getenv("OPENBLAS_NUM_THREADS") == nullptr) {
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    execv("/proc/self/exe", argv);
  }
  try {
    const Arguments arguments = parse(argc, argv);
    print_header();
    for (const std::string& file : arguments.files) {
      try {
        measure_file(file, arguments);
      } catch (const InvalidInput& error) {
        std::fprintf(stderr, "%s\n", error.what());
      }
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
