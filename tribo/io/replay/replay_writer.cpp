#include "tribo/io/replay/replay_writer.h"

#include <fmt/format.h>

#include <fstream>
#include <future>
#include <utility>
#include <vector>

#include "tribo/base/errors.h"
#include "tribo/io/replay/chunk.h"
#include "tribo/io/replay/page.h"
#include "tribo/io/replay/world_json.h"

namespace tribo {

struct ReplayWriter::Data {
  std::filesystem::path file;
  ReplaySettings settings;
  detail::FrameClock clock;
  detail::FlexibleLook look;
  Index bodies;
  double quantum;
  std::ofstream out;
  std::vector<detail::ReplayFrame> frames;   // the first `waiting` wait to be written, the others are memory
  std::vector<detail::ReplayFrame> leaving;  // of the chunk that is being written
  std::future<void> writing;
  std::size_t waiting = 0;
  std::int64_t written = 0, missed = 0;
  bool missed_shown = false;  // since the last regular frame
  bool finished = false;

  Data(std::filesystem::path path, const Simulator& simulator, ReplaySettings given)
      : file(std::move(path)),
        settings(std::move(given)),
        clock(settings.frames_per_second, simulator.state().time, simulator.time_step()),
        look(simulator.world()),
        bodies(simulator.model().body_count() - 1 + static_cast<Index>(look.pieces().size())),
        quantum(detail::position_quantum(simulator.world())) {}

  detail::ReplayFrame& next() {
    if (waiting == frames.size()) frames.emplace_back();
    return frames[waiting++];
  }
  void check() {
    if (!out) throw InvalidInput(fmt::format("{}: cannot be written; is the disk full?", file.string()));
  }
  // The last chunk is on the disk, or it is said why not.
  void wait() {
    if (writing.valid()) writing.get();
  }
  // On a thread of its own, which alone uses the file until wait(): the simulation goes on meanwhile.
  void write_frames() {
    wait();
    if (waiting == 0) return;
    frames.swap(leaving);
    written += static_cast<std::int64_t>(waiting);
    writing = std::async(std::launch::async, [this, count = std::exchange(waiting, 0)] {
      const std::string chunk = detail::encode_chunk({leaving.data(), count}, bodies, quantum);
      detail::write_chunk(out, detail::base64(chunk), static_cast<Index>(count), 0);
      out.flush();
      check();
    });
  }
  void finish() {
    write_frames();
    wait();
    detail::write_end(out, written, missed, 0);
    out.close();
    finished = true;
    check();
  }
};

ReplayWriter::ReplayWriter(std::filesystem::path file, const Simulator& simulator, ReplaySettings settings) {
  if (settings.frames_per_chunk < 1 || settings.frames_per_chunk > 100000) {
    throw InvalidInput(
        fmt::format("frames_per_chunk is {}: it must be between 1 and 100000", settings.frames_per_chunk));
  }
  const std::string_view viewer = detail::require_viewer(file.string());
  data_ = std::make_unique<Data>(std::move(file), simulator, std::move(settings));
  Data& d = *data_;
  const std::string world = detail::world_json(
      simulator.world(), detail::facts_of(simulator, d.settings.name, d.settings.frames_per_second), &d.look);
  d.out.open(d.file, std::ios::binary | std::ios::trunc);
  if (!d.out) {
    d.finished = true;
    throw InvalidInput(
        fmt::format("{}: cannot be created; choose a folder that exists and is writable", d.file.string()));
  }
  d.out.write(viewer.data(), static_cast<std::streamsize>(viewer.size()));
  detail::write_world(d.out, world, 0);
  detail::take_start(simulator, d.look, d.next());
  d.out.flush();
  d.check();
}

ReplayWriter::~ReplayWriter() {
  if (data_->finished) return;
  try {
    data_->finish();
  } catch (const std::exception&) {
    // Who wants to know calls finish().
  }
}

void ReplayWriter::record(const Simulator& simulator, const StepReport& report) {
  Data& d = *data_;
  if (report.missed()) ++d.missed;
  const bool due = d.clock.is_due(report.time);
  const bool extra = report.missed() && !d.missed_shown;
  if (due || extra) d.missed_shown = report.missed() && !due;
  if (due || extra) add_frame(simulator, report);
}

void ReplayWriter::add_frame(const Simulator& simulator, const StepReport& report) {
  Data& d = *data_;
  detail::take_frame(simulator, report, d.look, d.next());
  if (d.waiting == static_cast<std::size_t>(d.settings.frames_per_chunk)) d.write_frames();
}

std::int64_t ReplayWriter::frame_count() const {
  return data_->written + static_cast<std::int64_t>(data_->waiting);
}

void ReplayWriter::flush() {
  data_->write_frames();
  data_->wait();
}

void ReplayWriter::finish() {
  if (!data_->finished) data_->finish();
}

}  // namespace tribo
