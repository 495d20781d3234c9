#include "tribo/io/replay/page.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "tribo/base/errors.h"

// TRIBO_VIEWER_FILE is the viewer, one HTML file, possibly empty (cmake/TriboViewer.cmake).
asm(".section .rodata\n"
    ".global tribo_viewer_begin\n"
    ".global tribo_viewer_end\n"
    "tribo_viewer_begin:\n"
    ".incbin \"" TRIBO_VIEWER_FILE
    "\"\n"
    "tribo_viewer_end:\n"
    ".byte 0\n"
    ".text\n");
extern "C" const char tribo_viewer_begin[];
extern "C" const char tribo_viewer_end[];

namespace tribo::detail {

std::string_view viewer_page() {
  return {tribo_viewer_begin, static_cast<std::size_t>(tribo_viewer_end - tribo_viewer_begin)};
}

std::string_view require_viewer(std::string_view wanted_by) {
  if (viewer_page().empty()) {
    throw InvalidInput(
        fmt::format("{}: this tribo was built without the viewer. Install nodejs (18 or newer) and npm, run "
                    "scripts/build-viewer where the sources are and build again",
                    wanted_by));
  }
  return viewer_page();
}

std::string script_safe(std::string json) {
  for (std::size_t at = json.find('<'); at != std::string::npos; at = json.find('<', at + 6)) {
    json.replace(at, 1, "\\u003c");
  }
  return json;
}

void write_world(std::ostream& out, std::string_view world_json, int run) {
  fmt::print(out, "\n<script type=\"application/json\" class=\"tribo-world\" data-run=\"{}\">{}</script>\n",
             run, world_json);
}

void write_chunk(std::ostream& out, std::string_view base64, Index frames, int run) {
  fmt::print(out, "<script type=\"text/plain\" class=\"tribo-frames\" data-run=\"{}\" data-frames=\"{}\">",
             run, frames);
  out.write(base64.data(), static_cast<std::streamsize>(base64.size()));
  out << "</script>\n";
}

void write_end(std::ostream& out, std::int64_t frames, std::int64_t missed_steps, int run) {
  fmt::print(out,
             "<script type=\"application/json\" class=\"tribo-end\" data-run=\"{}\">{{\"frames\": {}, "
             "\"missed_steps\": {}}}</script>\n",
             run, frames, missed_steps);
}

}  // namespace tribo::detail
