// Live view and recordings of a simulator.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "arrays.h"
#include "module.h"
#include "simulator.h"
#include "tribo/base/errors.h"
#include "tribo/io/live/live_view.h"
#include "tribo/io/recorder.h"
#include "tribo/io/replay/replay_writer.h"

namespace tribo::python {
namespace {

using namespace nb::literals;
using Box = SimulatorBox;

// ---- Recordings. ----

// Threads and files of another process: in a child of fork() they are left alone.
template <class Writer, class... Arguments>
std::shared_ptr<Writer> make_for_this_process(Arguments&&... arguments) {
  return std::shared_ptr<Writer>(new Writer(std::forward<Arguments>(arguments)...),
                                 [process = getpid()](Writer* writer) {
                                   if (process == getpid()) delete writer;
                                 });
}

// A page (.html) or the numbers (.h5, .csv) of the steps while it is open.
struct Recording {
  nb::object simulator;
  std::filesystem::path file;
  std::shared_ptr<ReplayWriter> page;
  std::shared_ptr<Recorder> numbers;
  std::uint64_t watch = 0;
  std::int64_t frames = 0;
  pid_t process = getpid();

  Box& box() const { return nb::cast<Box&>(simulator); }

  Recording(nb::object sim, std::filesystem::path path, double frames_per_second, std::string name)
      : simulator(std::move(sim)), file(std::move(path)) {
    Box& b = box();
    const InUse guard(b.owner, InUse::For::changing, "simulator");
    if (file.extension() == ".html") {
      page = make_for_this_process<ReplayWriter>(
          file, *b.simulator,
          ReplaySettings{.frames_per_second = frames_per_second, .name = std::move(name)});
      watch = follow(page);
    } else {
      numbers = make_for_this_process<Recorder>(file, *b.simulator);
      watch = follow(numbers);
    }
  }

  // The steps of a child of fork() are no part of the recording.
  template <class Writer>
  std::uint64_t follow(const std::shared_ptr<Writer>& writer) const {
    return box().watch([writer, own = process](const Simulator& s, const StepReport& r) {
      if (own == getpid()) writer->record(s, r);
    });
  }

  ~Recording() {
    if (watch == 0) return;
    try {
      const InUse guard(box().owner, InUse::For::changing, "simulator");
      box().unwatch(watch);
    } catch (const std::exception&) {
      // A step is at work in another thread: the recording goes on until the simulator ends.
    }
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  std::int64_t frame_count() const {
    if (page) return page->frame_count();
    return numbers ? numbers->frame_count() : frames;
  }

  void finish() {
    if (watch == 0) return;
    if (process != getpid())
      throw std::runtime_error("this recording was begun before fork(): it goes on in the parent");
    Box& b = box();
    const InUse guard(b.owner, InUse::For::changing, "simulator");
    b.unwatch(watch);
    watch = 0;
    frames = frame_count();
    const nb::gil_scoped_release release;
    if (page) page->finish();
    if (numbers) numbers->finish();
    page.reset();
    numbers.reset();
  }
};

// ---- Live view. ----

// While the main thread waits in C++, Python's own handler would only make a note of Ctrl-C.
class InterruptibleWait {
 public:
  InterruptibleWait(LiveView& view, bool main_thread) : installed_(main_thread) {
    view.interrupted = nullptr;
    if (!installed_) return;
    interrupted = 0;
    view.interrupted = [] { return interrupted != 0; };
    struct sigaction action = {};
    action.sa_handler = [](int) { interrupted = 1; };
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptibleWait() {
    if (installed_) sigaction(SIGINT, &before_, nullptr);
  }
  bool was_interrupted() const { return installed_ && interrupted != 0; }

 private:
  static inline volatile sig_atomic_t interrupted = 0;
  bool installed_;
  struct sigaction before_ = {};
};

struct View {
  nb::object simulator;
  std::shared_ptr<LiveView> view;  // none: closed. Who waits or steps holds it until that is over
  pid_t process = getpid();

  Box& box() const { return nb::cast<Box&>(simulator); }

  View(nb::object sim, int port, double speed, double frames_per_second, bool paused, std::string address,
       std::filesystem::path folder, std::string name)
      : simulator(std::move(sim)) {
    Box& b = box();
    const InUse guard(b.owner, InUse::For::changing, "simulator");
    b.require_own_process();
    view =
        make_for_this_process<LiveView>(*b.simulator, LiveViewSettings{.address = std::move(address),
                                                                       .port = port,
                                                                       .speed = speed,
                                                                       .frames_per_second = frames_per_second,
                                                                       .paused = paused,
                                                                       .folder = std::move(folder),
                                                                       .name = std::move(name)});
    view->on_reset = [&b] {
      const nb::gil_scoped_acquire gil;
      b.begin_scene();
    };
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;

  std::shared_ptr<LiveView> open() const {
    if (!view) throw std::runtime_error("this view is closed");
    if (process != getpid())
      throw std::runtime_error("this view was made before fork(): make a new one in the child");
    return view;
  }
  // In a child of fork() the view is the parent's. A thread that waits is told to stop, and is the last to hold the view.
  void close() {
    std::shared_ptr<LiveView> last = std::move(view);
    if (!last || process != getpid()) return;
    const nb::gil_scoped_release release;
    last->stop();
    last.reset();
  }

  bool wait(bool main_thread) {
    const std::shared_ptr<LiveView> live = open();
    const InUse guard(box().owner, InUse::For::changing, "simulator");
    InterruptibleWait interruptible(*live, main_thread);
    bool due = false;
    {
      const nb::gil_scoped_release release;
      due = live->wait();
    }
    if (interruptible.was_interrupted()) {
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      throw nb::python_error();
    }
    return due;
  }

  StepReport step() {
    const std::shared_ptr<LiveView> live = open();
    Box& b = box();
    const InUse guard(b.owner, InUse::For::changing, "simulator");
    Interruption interruption;
    b.interruption = &interruption;
    StepReport report;
    std::exception_ptr failure;
    {
      const nb::gil_scoped_release release;
      try {
        report = b.step([&live] { return live->step(); });
      } catch (...) {
        failure = std::current_exception();
      }
    }
    b.interruption = nullptr;
    interruption.rethrow();
    if (failure) std::rethrow_exception(failure);
    return report;
  }
};

}  // namespace

void bind_view(nb::module_& m) {
  nb::class_<Recording>(m, "RecordingFile", nb::type_slots(part_slots<Recording>),
                        "What tribo.Recording writes.")
      .def(nb::init<nb::object, std::filesystem::path, double, std::string>(), "simulator"_a, "file"_a,
           "frames_per_second"_a, "name"_a)
      .def_prop_ro("frames", &Recording::frame_count)
      .def("finish", &Recording::finish);
  nb::class_<View>(m, "ViewServer", nb::type_slots(part_slots<View>), "What tribo.LiveView shows.")
      .def(nb::init<nb::object, int, double, double, bool, std::string, std::filesystem::path, std::string>(),
           "simulator"_a, "port"_a, "speed"_a, "frames_per_second"_a, "paused"_a, "address"_a, "folder"_a,
           "name"_a)
      .def_prop_ro("url", [](const View& v) { return v.open()->url(); })
      .def_prop_ro("viewers", [](const View& v) { return v.open()->viewer_count(); })
      .def_prop_ro("is_open", [](const View& v) { return v.view != nullptr && v.process == getpid(); })
      .def("wait", &View::wait, "main_thread"_a)
      .def("step", &View::step)
      .def("stop",
           [](const View& v) {
             if (v.view) v.view->stop();
           })
      .def("close", &View::close);
}

}  // namespace tribo::python
