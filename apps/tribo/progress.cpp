#include "apps/tribo/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace tribo::cli {

ProgressBar::ProgressBar(int total, int done)
    : total_(std::max(total, 1)),
      done_(std::min(done, total_)),
      begun_(done_),
      tenths_(10 * done_ / total_),
      terminal_(::isatty(STDERR_FILENO) != 0) {}

std::string ProgressBar::left() const {
  constexpr double kFirstEstimate = 2.0;  // s
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (done_ >= total_ || done_ == begun_ || seconds < kFirstEstimate) return {};
  const double rest = seconds * (total_ - done_) / (done_ - begun_);
  if (rest < 90.0) return fmt::format("about {:.0f} s left", rest);
  if (rest < 5400.0) return fmt::format("about {:.0f} min left", rest / 60.0);
  return fmt::format("about {:.1f} h left", rest / 3600.0);
}

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
    const std::string estimate = left();
    fmt::print(stderr, "{:3d} % ({} of {}){}{}\n", 100 * done_ / total_, done_, total_,
               estimate.empty() ? "" : ", ", estimate);
  }
}

void ProgressBar::clear() {
  if (terminal_) fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
}

void ProgressBar::draw() {
  constexpr int kWidth = 24;
  const int filled = kWidth * done_ / total_;
  const std::string estimate = left();
  fmt::print(stderr, "\r\x1b[K[{}{}] {}/{}  {}{}{}", std::string(filled, '#'),
             std::string(kWidth - filled, '.'), done_, total_, estimate, estimate.empty() ? "" : "  ",
             label_);
  std::fflush(stderr);
}

}  // namespace tribo::cli
