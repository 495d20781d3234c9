// Uses an installed tribo the way another project would: states a problem, solves it, writes and reads it.
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "tribo/formats/problem_file.h"
#include "tribo/problem/contact_problem_builder.h"
#include "tribo/solve/catalogue.h"
#include "tribo/version.h"

int main() {
  // A ball of 2 kg hits the ground at 1 m/s while it moves sideways at 0.5 m/s; friction 0.4.
  tribo::ContactProblemBuilder builder;
  const tribo::Index ball = builder.add_tree(2.0 * tribo::Mat3::Identity(), tribo::Vec3(1.0, 0.0, -2.0));
  builder.add_contact(0.4, {{ball, tribo::Mat3::Identity()}});
  const tribo::ContactProblem problem = builder.build();

  tribo::Solution solution;
  const tribo::Report report = tribo::make_solver("admm")->solve(problem, {}, solution);

  const std::filesystem::path file = std::filesystem::temp_directory_path() / "tribo_consumer.hdf5";
  tribo::write_problem(file, problem);
  const bool same = tribo::read_problem(file).problem.contact_count() == 1;
  std::filesystem::remove(file);

  // It needs 1 N s to stop sideways, but friction gives no more than 0.4 * 2 N s: it keeps sliding at 0.1
  // m/s.
  const double distance = (solution.impulse - tribo::Vec3(-0.8, 0.0, 2.0)).norm();
  std::printf("tribo %s: error %.1e, impulse off by %.1e N s, file %s\n", tribo::version(),
              report.certificate.error.value, distance, same ? "read back" : "differs");
  return report.status == tribo::Status::converged && distance < 1e-5 && same ? 0 : 1;
}
