// Progress of a long command on the standard error: a bar that redraws itself on a terminal, otherwise a line
// for every tenth of the work, so that logs stay readable; both with an estimate of what is left, from the mean
// time of what was done in this run.
#pragma once

#include <chrono>
#include <string>

namespace tribo::cli {

class ProgressBar {
 public:
  // `done` of the `total` steps were made by an earlier run.
  explicit ProgressBar(int total, int done = 0);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // What is being done now; `advance` after it is done.
  void show(const std::string& label);
  void advance(int steps = 1);
  // Removes the bar from the terminal: before other output.
  void clear();

 private:
  void draw();
  // "about 4 min left"; empty in the first seconds and at the end.
  std::string left() const;

  int total_;
  int done_ = 0;
  int begun_ = 0;  // done before
  int tenths_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool terminal_;
  std::string label_;
};

}  // namespace tribo::cli
