// Recordings in HDF5 (io/recorder.h) as a page: one run, or two side by side in step.
//
// Example
//   write_recording_page({"exact.h5", "convex.h5"}, "page.html");
#pragma once

#include <filesystem>
#include <vector>

namespace tribo {

struct RecordingPageReport {
  std::vector<std::int64_t> frames;  // of every run, as written
};

// `frames_per_second` of simulated time, at most: 0 takes all frames of the recordings. InvalidInput naming the file and what
// is wrong when a recording cannot be read, is damaged or was made by a tribo that did not write shapes yet; the page is
// written whole or not at all.
RecordingPageReport write_recording_page(const std::vector<std::filesystem::path>& recordings,
                                         const std::filesystem::path& page, double frames_per_second = 60.0);

}  // namespace tribo
