#include "tribo/io/replay/recording_page.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "tribo/base/errors.h"
#include "tribo/formats/hdf5_reader.h"
#include "tribo/io/replay/chunk.h"
#include "tribo/io/replay/flexible_frames.h"
#include "tribo/io/replay/page.h"

namespace tribo {

namespace {

namespace fs = std::filesystem;
using detail::ReplayFrame;

constexpr std::size_t kFramesPerChunk = 60;

// A recording with all its arrays, checked against each other.
class Recording {
 public:
  explicit Recording(const fs::path& file) : in_(file), file_(file.string()) {
    read_world();
    time_ = in_.reals("/time");
    frames_ = static_cast<std::size_t>(time_.size());
    read_frames();
    read_contacts();
  }

  std::size_t frame_count() const { return frames_; }
  std::size_t body_count() const { return bodies_; }
  double time(std::size_t f) const { return time_[at(f)]; }
  double quantum() const { return quantum_; }
  std::string world() const {
    return detail::script_safe(world_.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  bool missed(std::size_t f) const { return missed_[at(f)] > 0.0; }
  void fill(std::size_t f, ReplayFrame& frame) const;

 private:
  static Eigen::Index at(std::size_t k) { return static_cast<Eigen::Index>(k); }
  static Index whole(double x) { return std::isfinite(x) && std::abs(x) < 2e9 ? static_cast<Index>(x) : 0; }

  void read_world() {
    if (!in_.has("/view/world")) {
      throw InvalidInput(
          fmt::format("{}: there are no shapes in it (/view/world): it is no recording of tribo, or one of "
                      "an older version; "
                      "record it again with `tribo sim ... --record FILE.h5`",
                      file_));
    }
    try {
      world_ = nlohmann::ordered_json::parse(in_.bytes("/view/world"));
      if (world_.at("format") != "tribo-replay") in_.fail("/view/world", "is not the world of a replay");
      bodies_ = world_.at("bodies").size();
      geoms_ = world_.at("geoms").size();
    } catch (const nlohmann::json::exception& error) {
      in_.fail("/view/world", fmt::format("is damaged: {}", error.what()));
    }
    if (bodies_ < 1) in_.fail("/view/world", "has no bodies");
    quantum_ = in_.reals_of_size("/view/position_quantum", 1)[0];
    if (!(quantum_ > 0.0)) in_.fail("/view/position_quantum", "must be positive");
  }

  void read_frames() {
    flexible_ = detail::FlexibleFrames(in_, frames_, bodies_, geoms_);
    rigid_ = bodies_ - flexible_.piece_count();
    position_ = in_.numbers("/body_position", 3 * rigid_ * frames_);
    rotation_ = in_.numbers("/body_rotation", 4 * rigid_ * frames_);
    const auto column = [this](const char* name) { return in_.numbers(name, frames_); };
    step_ = column("/step"), islands_ = column("/islands"), iterations_ = column("/iterations");
    missed_ = column("/missed"), error_ = column("/error"), penetration_ = column("/penetration");
    solve_time_ = column("/solve_time"), step_time_ = column("/step_time");
    kinetic_ = column("/kinetic_energy"), weight_ = column("/weight_energy"),
    springs_ = column("/spring_energy");
  }

  void read_contacts() {
    start_ = in_.indices_of_size("/contact_start", static_cast<Index>(frames_ + 1), 0,
                                 std::numeric_limits<Index>::max());
    for (std::size_t f = 0; f < frames_; ++f) {
      if (start_[f + 1] < start_[f])
        in_.fail("/contact_start", fmt::format("[{}] is less than the one before", f + 1));
    }
    const auto count = static_cast<std::size_t>(start_.back());
    const auto column = [&](const char* name, std::size_t width) { return in_.numbers(name, width * count); };
    c_position_ = column("/contact_position", 3), c_normal_ = column("/contact_normal", 3);
    c_impulse_ = column("/contact_impulse", 3), c_velocity_ = column("/contact_velocity", 3);
    c_gap_ = column("/contact_gap", 1), c_friction_ = column("/contact_friction", 1);
    c_error_ = column("/contact_error", 1), c_island_ = column("/contact_island", 1);
    c_state_ = column("/contact_state", 1), c_geoms_ = column("/contact_geoms", 2);
    if (in_.has("/contact_pressure")) c_pressure_ = column("/contact_pressure", 1);
    for (Eigen::Index k = 0; k < c_geoms_.size(); ++k) {
      if (!(c_geoms_[k] >= 0.0 && c_geoms_[k] < static_cast<double>(geoms_))) {
        in_.fail("/contact_geoms", fmt::format("[{}] is {}: there are {} geoms", k, c_geoms_[k], geoms_));
      }
    }
    for (Eigen::Index k = 0; k < c_state_.size(); ++k) {
      if (c_state_[k] != 0.0 && c_state_[k] != 1.0 && c_state_[k] != 2.0) {
        in_.fail("/contact_state", fmt::format("[{}] is {}: it must be 0, 1 or 2", k, c_state_[k]));
      }
    }
  }

  detail::Hdf5Reader in_;
  std::string file_;
  nlohmann::ordered_json world_;
  std::size_t bodies_ = 0, geoms_ = 0, frames_ = 0;
  std::size_t rigid_ = 0;  // bodies that are no pieces of flexible ones
  detail::FlexibleFrames flexible_;
  double quantum_ = 0.0;
  Vector time_, step_, islands_, iterations_, missed_, error_, penetration_, solve_time_, step_time_;
  Vector kinetic_, weight_, springs_, position_, rotation_;
  std::vector<Index> start_;
  Vector c_position_, c_normal_, c_impulse_, c_velocity_, c_gap_, c_friction_, c_error_, c_island_, c_state_,
      c_geoms_, c_pressure_;  // the last one empty without pressure fields
};

void Recording::fill(std::size_t f, ReplayFrame& frame) const {
  const auto k = at(f);
  frame.time = time_[k];
  frame.step = whole(step_[k]);
  frame.islands = whole(islands_[k]);
  frame.iterations = whole(iterations_[k]);
  frame.missed_islands = whole(missed_[k]);
  const bool start = f == 0;  // nothing led to it
  frame.error = start ? ReplayFrame::kUnknown : error_[k];
  frame.solve_time = start ? ReplayFrame::kUnknown : solve_time_[k];
  frame.step_time = start ? ReplayFrame::kUnknown : step_time_[k];
  frame.kinetic = kinetic_[k];
  frame.potential = weight_[k] + springs_[k];
  frame.penetration = start ? ReplayFrame::kUnknown : penetration_[k];
  const double* x = position_.data() + 3 * f * rigid_;
  const double* q = rotation_.data() + 4 * f * rigid_;
  frame.position.assign(x + 3, x + 3 * rigid_);
  frame.rotation.assign(q + 4, q + 4 * rigid_);
  frame.contacts.clear();
  for (Eigen::Index c = start_[f]; c < start_[f + 1]; ++c) {
    frame.contacts.push_back({.position = c_position_.segment<3>(3 * c),
                              .normal = c_normal_.segment<3>(3 * c),
                              .impulse = c_impulse_.segment<3>(3 * c),
                              .velocity = c_velocity_.segment<3>(3 * c),
                              .gap = c_gap_[c],
                              .friction = c_friction_[c],
                              .error = c_error_[c],
                              .pressure = c_pressure_.size() > 0 ? c_pressure_[c] : 0.0,
                              .geom_a = whole(c_geoms_[2 * c]),
                              .geom_b = whole(c_geoms_[2 * c + 1]),
                              .island = whole(c_island_[c]),
                              .state = static_cast<ContactState>(whole(c_state_[c]))});
  }
  flexible_.add(f, frame);
}

std::int64_t write_run(const Recording& run, int number, double rate, std::ostream& out) {
  detail::write_world(out, run.world(), number);
  std::vector<ReplayFrame> frames(kFramesPerChunk);
  std::size_t waiting = 0;
  std::int64_t written = 0, missed = 0;
  const auto flush = [&] {
    if (waiting == 0) return;
    const std::string chunk = detail::encode_chunk({frames.data(), waiting},
                                                   static_cast<Index>(run.body_count()) - 1, run.quantum());
    detail::write_chunk(out, detail::base64(chunk), static_cast<Index>(waiting), number);
    written += static_cast<std::int64_t>(waiting);
    waiting = 0;
  };
  const std::size_t count = run.frame_count();
  const double step = count > 1 ? (run.time(count - 1) - run.time(0)) / static_cast<double>(count - 1) : 0.0;
  detail::FrameClock clock(rate, count > 0 ? run.time(0) : 0.0, step);
  for (std::size_t f = 0; f < count; ++f) {
    if (run.missed(f)) ++missed;
    if (f > 0 && !clock.is_due(run.time(f)) && !run.missed(f)) continue;
    run.fill(f, frames[waiting++]);
    if (waiting == kFramesPerChunk) flush();
  }
  flush();
  detail::write_end(out, written, missed, number);
  return written;
}

}  // namespace

RecordingPageReport write_recording_page(const std::vector<fs::path>& recordings, const fs::path& page,
                                         double frames_per_second) {
  if (recordings.empty() || recordings.size() > 2) {
    throw InvalidInput(fmt::format("a page shows one or two recordings, not {}", recordings.size()));
  }
  const std::string_view viewer = detail::require_viewer(page.string());
  detail::FrameClock(frames_per_second, 0.0, 1.0);
  std::vector<Recording> runs;
  for (const fs::path& file : recordings) {
    try {
      runs.emplace_back(file);
    } catch (const InvalidInput& error) {
      const std::string message = error.what();
      if (message.starts_with(file.string())) throw;
      throw InvalidInput(fmt::format("{}: {}", file.string(), message));
    }
  }
  fs::path temporary = page;
  temporary += ".part";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  if (!out) {
    throw InvalidInput(
        fmt::format("{}: cannot be created; choose a folder that exists and is writable", page.string()));
  }
  out.write(viewer.data(), static_cast<std::streamsize>(viewer.size()));
  RecordingPageReport report;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    report.frames.push_back(write_run(runs[k], static_cast<int>(k), frames_per_second, out));
  }
  out.close();
  std::error_code error;
  if (out) fs::rename(temporary, page, error);
  if (!out || error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw InvalidInput(fmt::format("{}: cannot be written; is the disk full?", page.string()));
  }
  return report;
}

}  // namespace tribo
