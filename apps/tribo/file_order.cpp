#include "apps/tribo/file_order.h"

namespace tribo::cli {

FileOrder::FileOrder(const LoadedProblem& loaded) : memory_row_count_(loaded.problem.row_count()) {
  const ContactProblem& problem = loaded.problem;
  place_.resize(problem.constraint_count());
  Index next_place = 0;
  const auto append = [&](auto&& belongs) {
    for (Index i = 0; i < problem.constraint_count(); ++i) {
      if (!belongs(problem.kind(i))) continue;
      place_[i] = next_place++;
      const Index row = problem.row(i);
      if (!problem.coefficients(i).empty()) {
        memory_row_.push_back(row + problem.rows(i) - 1);
        for (Index r = 0; r + 1 < problem.rows(i); ++r) memory_row_.push_back(row + r);
      } else if (problem.kind(i) == ConstraintKind::contact) {
        memory_row_.push_back(row + 2);
        memory_row_.push_back(row);
        if (loaded.space_dimension == 3) memory_row_.push_back(row + 1);
      } else {
        memory_row_.push_back(row);
      }
    }
  };
  append([](ConstraintKind kind) { return kind == ConstraintKind::contact; });
  append([](ConstraintKind kind) { return kind == ConstraintKind::bilateral; });
  append(
      [](ConstraintKind kind) { return kind == ConstraintKind::unilateral || kind == ConstraintKind::box; });
}

std::vector<double> FileOrder::to_file(const Vector& memory) const {
  std::vector<double> file;
  file.reserve(memory_row_.size());
  for (const Index row : memory_row_) file.push_back(memory[row]);
  return file;
}

Vector FileOrder::from_file(const std::vector<double>& file) const {
  Vector memory = Vector::Zero(memory_row_count_);
  for (std::size_t k = 0; k < memory_row_.size(); ++k) memory[memory_row_[k]] = file[k];
  return memory;
}

}  // namespace tribo::cli
