#include "apps/tribo/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tribo::cli {

ProgressBar::ProgressBar(int total) : total_(std::max(total, 1)), terminal_(::isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(const std::string& label) {
  label_ = label.substr(0, 44);
  if (terminal_) draw();
}

void ProgressBar::advance(int steps) {
  done_ = std::min(done_ + steps, total_);
  if (terminal_) {
    draw();
  } else if (const int tenths = 10 * done_ / total_; tenths > tenths_) {
    tenths_ = tenths;
    fmt::print(stderr, "{:3d} % ({} of {})\n", 100 * done_ / total_, done_, total_);
  }
}

void ProgressBar::clear() {
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

void ProgressBar::draw() {
  constexpr int kWidth = 24;
  const int filled = kWidth * done_ / total_;
  fmt::print(stderr, "\r\x1b[K[{}{}] {}/{}  {}", std::string(filled, '#'), std::string(kWidth - filled, '.'),
             done_, total_, label_);
  std::fflush(stderr);
}

}  // namespace tribo::cli
