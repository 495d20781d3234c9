// Progress of a long command on the standard error: a bar that redraws itself on a terminal, otherwise a line
// for every tenth of the work, so that logs stay readable.
#pragma once

#include <string>

namespace tribo::cli {

class ProgressBar {
 public:
  explicit ProgressBar(int total);
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

  int total_;
  int done_ = 0;
  int tenths_ = 0;
  bool terminal_;
  std::string label_;
};

}  // namespace tribo::cli
