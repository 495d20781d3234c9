#include "tribo/io/live/live_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

// A macro of <resolv.h>, which httplib.h includes, and the name of a parameter in Eigen.
#undef _res

#include "tribo/base/errors.h"
#include "tribo/io/replay/page.h"

namespace tribo::detail {
namespace {

constexpr std::size_t kMostViewers = 24;
constexpr std::size_t kMostWaiting = 8;         // chunks per viewer
constexpr std::size_t kLongestCommand = 65536;  // bytes
constexpr auto kHeartbeat = std::chrono::seconds(1);

std::string random_token() {
  std::random_device device;
  std::string token;
  for (int k = 0; k < 4; ++k) token += fmt::format("{:08x}", device());
  return token;
}

// The time does not tell how much of a guess was right.
bool same(std::string_view a, std::string_view b) {
  unsigned different = a.size() == b.size() ? 0 : 1;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) {
    different |= static_cast<unsigned char>(a[k]) ^ static_cast<unsigned char>(b[k]);
  }
  return different == 0;
}

std::string event(std::string_view name, std::string_view data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, data);
}

// What waits for one browser.
struct Viewer {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> chunks;
  std::string world, status;  // events, empty: none
  bool closed = false;

  // All that waits, or a comment that shows whether anybody listens; empty: closed.
  std::string take() {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, kHeartbeat,
                     [this] { return closed || !chunks.empty() || !world.empty() || !status.empty(); });
    if (closed) return {};
    std::string text = std::move(world);
    text += status;
    for (const std::string& chunk : chunks) text += chunk;
    world.clear(), status.clear(), chunks.clear();
    return text.empty() ? ":\n\n" : text;
  }
};

}  // namespace

struct LiveServer::Data {
  std::string token = random_token(), world;
  Handler on_command;
  std::function<void()> on_viewer;
  httplib::Server server;
  int port = 0;
  mutable std::mutex mutex;
  std::vector<std::shared_ptr<Viewer>> viewers;
  bool closing = false;
  std::thread listener;

  bool admits(const httplib::Request& request, httplib::Response& response) const {
    if (same(request.get_param_value("token"), token)) return true;
    response.status = 403;
    response.set_content(
        "{\"ok\": false, \"error\": \"the token is missing or wrong: use the address that tribo printed\"}",
        "application/json");
    return false;
  }

  void serve_page(httplib::Response& response) const {
    std::string page(require_viewer("live view"));
    page += fmt::format(
        "\n<script type=\"application/json\" class=\"tribo-live\">{{\"token\": \"{}\"}}</script>\n", token);
    response.set_content(page, "text/html; charset=utf-8");
  }

  void serve_events(httplib::Response& response) {
    auto viewer = std::make_shared<Viewer>();
    {
      const std::lock_guard lock(mutex);
      if (closing || viewers.size() >= kMostViewers) {
        response.status = 503;
        response.set_content("{\"ok\": false, \"error\": \"too many viewers\"}", "application/json");
        return;
      }
      viewers.push_back(viewer);
    }
    on_viewer();
    response.set_chunked_content_provider(
        "text/event-stream",
        [viewer](std::size_t, httplib::DataSink& sink) {
          const std::string text = viewer->take();
          return !text.empty() && sink.write(text.data(), text.size());
        },
        [this, viewer](bool) {
          const std::lock_guard lock(mutex);
          std::erase(viewers, viewer);
        });
  }

  void route() {
    server.new_task_queue = [] { return new httplib::ThreadPool(kMostViewers + 8); };
    server.set_payload_max_length(kLongestCommand);
    server.set_tcp_nodelay(true);
    // Without SO_REUSEPORT, httplib's default, with which another program could share the port.
    server.set_socket_options([](socket_t socket) {
      const int yes = 1;
      setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.set_default_headers({{"Cache-Control", "no-store"},
                                {"Referrer-Policy", "no-referrer"},
                                {"X-Content-Type-Options", "nosniff"}});
    using httplib::Request, httplib::Response;
    server.Get("/", [this](const Request& in, Response& out) {
      if (admits(in, out)) serve_page(out);
    });
    server.Get("/world", [this](const Request& in, Response& out) {
      if (admits(in, out)) out.set_content(world, "application/json");
    });
    server.Get("/events", [this](const Request& in, Response& out) {
      if (admits(in, out)) serve_events(out);
    });
    server.Post("/command", [this](const Request& in, Response& out) {
      if (!admits(in, out)) return;
      const Reply reply = on_command(in.body);
      out.status = reply.http_status;
      out.set_content(reply.json, "application/json");
    });
  }

  template <class Action>
  void for_each_viewer(Action action) {
    const std::lock_guard lock(mutex);
    for (const auto& viewer : viewers) {
      {
        const std::lock_guard own(viewer->mutex);
        action(*viewer);
      }
      viewer->changed.notify_one();
    }
  }
};

LiveServer::LiveServer(const std::string& address, int port, std::string world_json, Handler on_command,
                       std::function<void()> on_viewer)
    : data_(std::make_unique<Data>()) {
  Data& d = *data_;
  d.world = std::move(world_json);
  d.on_command = std::move(on_command);
  d.on_viewer = std::move(on_viewer);
  d.route();
  if (port == 0) {
    d.port = d.server.bind_to_any_port(address);
  } else if (d.server.bind_to_port(address, port)) {
    d.port = port;
  }
  if (d.port <= 0) {
    throw InvalidInput(
        fmt::format("{} port {} cannot be had: it is in use, or not an address of this machine; "
                    "port 0 takes any that is free",
                    address, port));
  }
  d.listener = std::thread([&d] { d.server.listen_after_bind(); });
  while (!d.server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

LiveServer::~LiveServer() {
  {
    const std::lock_guard lock(data_->mutex);
    data_->closing = true;
  }
  data_->for_each_viewer([](Viewer& viewer) { viewer.closed = true; });
  data_->server.stop();
  data_->listener.join();
}

int LiveServer::port() const { return data_->port; }
const std::string& LiveServer::token() const { return data_->token; }

int LiveServer::viewer_count() const {
  const std::lock_guard lock(data_->mutex);
  return static_cast<int>(data_->viewers.size());
}

void LiveServer::send_chunk(const std::string& base64) {
  const std::string text = event("chunk", base64);
  data_->for_each_viewer([&](Viewer& viewer) {
    if (viewer.chunks.size() >= kMostWaiting) viewer.chunks.pop_front();
    viewer.chunks.push_back(text);
  });
}

void LiveServer::send_status(const std::string& json) {
  const std::string text = event("status", json);
  data_->for_each_viewer([&](Viewer& viewer) { viewer.status = text; });
}

void LiveServer::send_world() {
  const std::string text = event("world", data_->world);
  data_->for_each_viewer([&](Viewer& viewer) {
    viewer.world = text;
    viewer.chunks.clear();
  });
}

}  // namespace tribo::detail
