// The live view over real sockets of this machine: what is answered, what is refused, and that viewers can neither stop nor
// slow a simulation.
#include "tribo/io/live/live_view.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/support/replay_reader.h"
#include "tests/support/temporary_folder.h"
#include "tribo/base/errors.h"
#include "tribo/formats/problem_file.h"
#include "tribo/io/replay/page.h"

namespace tribo {
namespace {

using nlohmann::json;
using test::DecodedChunk;

constexpr auto kPatience = std::chrono::seconds(20);  // a test that waits so long fails

// A ball in the air without gravity, and a motor.
World ball_and_motor() {
  World world;
  world.name = "yard";
  world.gravity.setZero();
  ModelBuilder builder;
  const Index ball = builder.add_free_body("ball", {Vec3(0, 0, 1)}, uniform_inertia(Shape::sphere(0.1), 2.0));
  const Index rod = builder.add_body(
      {.name = "rod", .position = Vec3(5, 0, 5), .inertia = {1.0, Vec3::Zero(), 0.1 * Mat3::Identity()}});
  builder.add_joint({.name = "pivot", .body = rod, .axis = Vec3::UnitY()});
  ActuatorDescription motor;
  motor.name = "motor";
  motor.joint = 1;
  motor.control_lower = -3.0, motor.control_upper = 3.0;
  builder.add_actuator(motor);
  world.model = builder.build();
  world.add_geom({.name = "ball", .shape = Shape::sphere(0.1), .body = ball});
  return world;
}

class Connection {
 public:
  Connection(int port, const std::string& request) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const timeval second{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    connected_ = ::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    if (connected_) ::send(socket_, request.data(), request.size(), MSG_NOSIGNAL);
  }
  ~Connection() { ::close(socket_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool connected() const { return connected_; }
  // False: closed by the other side.
  bool read_more() {
    char room[65536];
    const ssize_t got = ::recv(socket_, room, sizeof room, 0);
    if (got > 0) text_.append(room, static_cast<std::size_t>(got));
    return got != 0;
  }
  const std::string& text() const { return text_; }

 private:
  int socket_;
  bool connected_;
  std::string text_;
};

struct Answer {
  int status = 0;
  std::string head, body;
};

// Server-sent events of one viewer.
class Listener {
 public:
  Listener(int port, const std::string& token)
      : connection_(port, "GET /events?token=" + token + " HTTP/1.1\r\nHost: x\r\n\r\n") {}
  // The next event of that name after those already taken; empty: none came.
  std::string next(const std::string& name) {
    const std::string begin = "event: " + name + "\ndata: ";
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end) {
      const std::size_t at = connection_.text().find(begin, taken_);
      const std::size_t close = at == std::string::npos ? at : connection_.text().find("\n\n", at);
      if (close != std::string::npos) {
        taken_ = close;
        return connection_.text().substr(at + begin.size(), close - at - begin.size());
      }
      if (!connection_.read_more()) break;
    }
    return "";
  }
  DecodedChunk chunk() { return test::decode_chunk(test::from_base64(next("chunk"))); }

 private:
  Connection connection_;
  std::size_t taken_ = 0;
};

class LiveViewTest : public testing::Test {
 protected:
  void SetUp() override {
    if (detail::viewer_page().empty()) GTEST_SKIP() << "built without the viewer";
  }
  void TearDown() override { end(); }

  void start(LiveViewSettings settings = {}) {
    settings.folder = folder_.path();
    simulator_ = std::make_unique<Simulator>(ball_and_motor());
    view_ = std::make_unique<LiveView>(*simulator_, settings);
    view_->on_reset = [this] {
      ++resets_;
      simulator_->control()[0] = 2.0;
    };
    const std::string url = view_->url();
    EXPECT_TRUE(url.starts_with("http://127.0.0.1:"));
    port_ = std::stoi(url.substr(17));
    token_ = url.substr(url.find("token=") + 6);
    runner_ = std::thread([this] {
      while (view_->wait()) {
        simulator_->force()[0] = explode_ ? std::numeric_limits<double>::infinity() : 0.0;
        try {
          view_->step();
        } catch (const InvalidInput&) {
          ++failures_;
        }
        ++steps_;
      }
    });
  }
  void end() {
    if (view_) view_->stop();
    if (runner_.joinable()) runner_.join();
    view_.reset();
  }
  Answer ask(const std::string& request) const {
    Connection connection(port_, request);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < end && connection.read_more()) {
    }
    Answer answer;
    const std::string& text = connection.text();
    if (text.size() > 12) answer.status = std::stoi(text.substr(9, 3));
    const std::size_t gap = text.find("\r\n\r\n");
    if (gap != std::string::npos) answer.head = text.substr(0, gap), answer.body = text.substr(gap + 4);
    return answer;
  }
  Answer get(const std::string& path) const {
    return ask("GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }
  Answer post(const std::string& body, const std::string& token) const {
    return ask("POST /command?token=" + token +
               " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
               "Content-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  json command(const json& what) const { return json::parse(post(what.dump(), token_).body); }
  static bool within_patience(const std::function<bool()>& happened) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!happened()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  test::TemporaryFolder folder_;
  std::unique_ptr<Simulator> simulator_;  // of the runner while it runs
  std::unique_ptr<LiveView> view_;
  std::thread runner_;
  std::atomic<long> steps_ = 0, failures_ = 0, resets_ = 0;
  std::atomic<bool> explode_ = false;
  int port_ = 0;
  std::string token_;
};

TEST_F(LiveViewTest, ServesPageAndWorldToWhoHasTheToken) {
  start();
  const Answer page = get("/?token=" + token_);
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.head.find("text/html"), std::string::npos);
  EXPECT_NE(page.body.find("class=\"tribo-live\">{\"token\": \"" + token_ + "\"}"), std::string::npos);
  const json world = json::parse(get("/world?token=" + token_).body);
  EXPECT_EQ(world["format"], "tribo-replay");
  EXPECT_EQ(world["bodies"].size(), 3u);
}

TEST_F(LiveViewTest, WithoutTheTokenNothingIsAnswered) {
  start({.paused = true});
  std::string wrong = token_;
  wrong[0] = wrong[0] == '0' ? '1' : '0';
  for (const std::string& token : {std::string(), wrong, token_ + "0", token_.substr(1)}) {
    for (const char* path : {"/", "/world", "/events"}) {
      const Answer answer = get(std::string(path) + "?token=" + token);
      EXPECT_EQ(answer.status, 403) << path;
      EXPECT_EQ(answer.body.find("tribo-replay"), std::string::npos);
    }
    EXPECT_EQ(post("{\"do\": \"play\"}", token).status, 403);
  }
  EXPECT_EQ(get("/").status, 403);
  EXPECT_EQ(steps_, 0);
}

TEST_F(LiveViewTest, TokensDiffer) {
  start();
  const std::string first = token_;
  EXPECT_GE(first.size(), 32u);
  end();
  start();
  EXPECT_NE(token_, first);
}

TEST_F(LiveViewTest, PausesStepsAndPlays) {
  start();
  ASSERT_TRUE(within_patience([&] { return steps_ > 3; }));
  EXPECT_EQ(command({{"do", "pause"}})["ok"], true);
  const long paused = steps_;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_LE(steps_, paused + 1);  // the step that was under way
  const long before = steps_;
  EXPECT_EQ(command({{"do", "step"}, {"steps", 5}})["ok"], true);
  ASSERT_TRUE(within_patience([&] { return steps_ >= before + 5; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(steps_, before + 5);
  EXPECT_EQ(command({{"do", "play"}})["ok"], true);
  EXPECT_TRUE(within_patience([&] { return steps_ > before + 20; }));
}

TEST_F(LiveViewTest, APushMovesTheBody) {
  start({.paused = true});
  // 4 N for 0.1 s on 2 kg: 0.2 m/s, through the centre: no turning.
  EXPECT_EQ(
      command(
          {{"do", "push"}, {"body", 1}, {"point", {0, 0, 1}}, {"force", {4, 0, 0}}, {"seconds", 0.1}})["ok"],
      true);
  command({{"do", "step"}, {"steps", 100}});
  ASSERT_TRUE(within_patience([&] { return steps_ == 100; }));
  end();
  EXPECT_NEAR(simulator_->state().v[0], 0.2, 1e-9);
  EXPECT_NEAR(simulator_->state().v.segment<5>(1).norm(), 0.0, 1e-9);
  EXPECT_EQ(simulator_->force().norm(), 0.0);  // the user's own forces are as they were
}

TEST_F(LiveViewTest, ControlsAndGravityChange) {
  start({.paused = true});
  EXPECT_EQ(command({{"do", "control"}, {"index", 0}, {"value", 0.5}})["ok"], true);
  EXPECT_EQ(command({{"do", "gravity"}, {"value", {0, 0, -2}}})["ok"], true);
  command({{"do", "step"}, {"steps", 50}});
  ASSERT_TRUE(within_patience([&] { return steps_ == 50; }));
  end();
  EXPECT_EQ(simulator_->control()[0], 0.5);
  EXPECT_NEAR(simulator_->state().v[2], -2.0 * 0.1, 1e-9);
  EXPECT_GT(simulator_->state().v[6], 0.1);
}

TEST_F(LiveViewTest, ResetLeadsBack) {
  start({.paused = true});
  command({{"do", "gravity"}, {"value", {0, 0, -2}}});
  command({{"do", "step"}, {"steps", 20}});
  ASSERT_TRUE(within_patience([&] { return steps_ == 20; }));
  Listener listener(port_, token_);
  EXPECT_GT(listener.chunk().time.at(0), 0.03);
  EXPECT_EQ(command({{"do", "reset"}})["ok"], true);
  EXPECT_EQ(json::parse(listener.next("world"))["format"], "tribo-replay");
  EXPECT_EQ(listener.chunk().time.at(0), 0.0);
  end();
  EXPECT_EQ(simulator_->state().time, 0.0);
  EXPECT_EQ(simulator_->step_count(), 0);
  EXPECT_EQ(resets_, 1);
  EXPECT_EQ(simulator_->control()[0], 2.0);  // what the program did is not undone
  EXPECT_EQ(simulator_->world().gravity.norm(), 0.0);
}

TEST_F(LiveViewTest, ViewersSeeTheSameFrames) {
  start({.paused = true});
  Listener one(port_, token_), two(port_, token_);
  ASSERT_TRUE(within_patience([&] { return view_->viewer_count() == 2; }));
  EXPECT_EQ(json::parse(one.next("status"))["state"], "paused");
  for (int k = 1; k <= 3; ++k) {
    command({{"do", "step"}});
    DecodedChunk a, b;
    do a = one.chunk();
    while (a.step.at(0) < static_cast<unsigned>(k));
    do b = two.chunk();
    while (b.step.at(0) < static_cast<unsigned>(k));
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.position, b.position);
    EXPECT_EQ(a.frames, 1u);
  }
  const json status = json::parse(two.next("status"));
  EXPECT_EQ(status["actuators"][0]["name"], "motor");
  EXPECT_EQ(status["actuators"][0]["high"], 3.0);
}

TEST_F(LiveViewTest, AViewerThatReconnectsSeesTheState) {
  start({.paused = true});
  command({{"do", "step"}, {"steps", 7}});
  ASSERT_TRUE(within_patience([&] { return steps_ == 7; }));
  for (int k = 0; k < 3; ++k) EXPECT_EQ(Listener(port_, token_).chunk().step.at(0), 7u);
}

TEST_F(LiveViewTest, LostAndSlowViewersStopNothing) {
  start({.speed = 0.0, .frames_per_second = 1e6});
  {
    Listener gone(port_, token_);
    EXPECT_EQ(gone.chunk().frames, 1u);
  }
  Connection never_reads(port_, "GET /events?token=" + token_ + " HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(within_patience([&] { return view_->viewer_count() >= 1; }));
  const long before = steps_;
  EXPECT_TRUE(within_patience([&] { return steps_ > before + 20000; }));
  Listener late(port_, token_);
  EXPECT_GT(late.chunk().step.at(0), 10000u);
}

TEST_F(LiveViewTest, DumpsTheStepAndSavesTheReplay) {
  start({.paused = true});
  EXPECT_EQ(command({{"do", "dump"}})["ok"], false);  // no step yet
  command({{"do", "step"}, {"steps", 100}});
  ASSERT_TRUE(within_patience([&] { return steps_ == 100; }));
  const json dumped = command({{"do", "dump"}});
  ASSERT_EQ(dumped["ok"], true);
  EXPECT_EQ(std::filesystem::path(dumped["file"].get<std::string>()).parent_path(), folder_.path());
  EXPECT_EQ(read_problem(dumped["file"].get<std::string>()).problem.contact_count(), 0);
  const json saved = command({{"do", "save"}}), again = command({{"do", "save"}});
  ASSERT_EQ(saved["ok"], true);
  EXPECT_NE(saved["file"], again["file"]);
  const auto run = test::read_page(test::file_text(saved["file"])).at(0);
  EXPECT_EQ(run.frame_count(), 13u);  // 0.2 s at 60 per second, and the start
  EXPECT_EQ(run.end["frames"], 13);
}

// Where the replay so far cannot be written the simulation goes on, and who asks is told.
TEST_F(LiveViewTest, GoesOnWithoutAPlaceForTheReplay) {
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", (folder_.path() / "nowhere").c_str(), 1);
  start({.paused = true});
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  command({{"do", "step"}, {"steps", 30}});
  ASSERT_TRUE(within_patience([&] { return steps_ == 30; }));
  const json saved = command({{"do", "save"}});
  EXPECT_EQ(saved["ok"], false);
  EXPECT_NE(saved["error"].get<std::string>().find("temporary files"), std::string::npos);
  Listener listener(port_, token_);
  EXPECT_NE(json::parse(listener.next("status"))["message"].get<std::string>().find("no longer recorded"),
            std::string::npos);
  EXPECT_EQ(command({{"do", "reset"}})["ok"], true);
  EXPECT_EQ(failures_, 0);
}

TEST_F(LiveViewTest, RefusesCommandsThatCannotBe) {
  start({.paused = true});
  for (const char* body :
       {"", "pause", "[]", "{}", "{\"do\": 1}", "{\"do\": \"dance\"}", "{\"do\": \"step\", \"steps\": 0}",
        "{\"do\": \"step\", \"steps\": 1.5}", "{\"do\": \"speed\", \"value\": -1}", "{\"do\": \"speed\"}",
        "{\"do\": \"push\", \"body\": 0, \"point\": [0,0,0], \"force\": [1,0,0]}",
        "{\"do\": \"push\", \"body\": 3, \"point\": [0,0,0], \"force\": [1,0,0]}",
        "{\"do\": \"push\", \"body\": 1, \"point\": [0,0], \"force\": [1,0,0]}",
        "{\"do\": \"push\", \"body\": 1, \"point\": [0,0,0], \"force\": [1,0,null]}",
        "{\"do\": \"push\", \"body\": 1, \"point\": [0,0,0], \"force\": [1e300,0,0]}",
        "{\"do\": \"control\", \"index\": 1, \"value\": 0}",
        "{\"do\": \"control\", \"index\": 0, \"value\": \"x\"}", "{\"do\": \"gravity\", \"value\": [0,0]}"}) {
    const Answer answer = post(body, token_);
    EXPECT_EQ(answer.status, 400) << body;
    EXPECT_EQ(json::parse(answer.body)["ok"], false) << body;
    EXPECT_FALSE(json::parse(answer.body)["error"].get<std::string>().empty());
  }
  EXPECT_GE(post(std::string(200000, ' '), token_).status, 400);
  EXPECT_EQ(command({{"do", "play"}})["ok"], true);
}

TEST_F(LiveViewTest, AStateThatExplodesPausesUntilAReset) {
  start({.paused = true});
  explode_ = true;
  command({{"do", "play"}});
  ASSERT_TRUE(within_patience([&] { return failures_ > 0; }));
  Listener listener(port_, token_);
  const json status = json::parse(listener.next("status"));
  EXPECT_EQ(status["state"], "paused");
  EXPECT_NE(status["message"].get<std::string>().find("no longer finite"), std::string::npos);
  EXPECT_EQ(command({{"do", "play"}})["ok"], false);
  explode_ = false;
  EXPECT_EQ(command({{"do", "reset"}})["ok"], true);
  const long before = steps_;
  EXPECT_EQ(command({{"do", "step"}})["ok"], true);
  EXPECT_TRUE(within_patience([&] { return steps_ > before; }));
  EXPECT_EQ(failures_, 1);
}

TEST_F(LiveViewTest, AnInterruptedWaitCanBeTakenUpAgain) {
  Simulator simulator(ball_and_motor());
  LiveView view(simulator, {.paused = true});
  int asked = 0;
  view.interrupted = [&asked] { return ++asked == 3; };
  EXPECT_FALSE(view.wait());
  EXPECT_EQ(asked, 3);
  view.interrupted = [&] {
    if (++asked == 6) view.stop();
    return false;
  };
  EXPECT_FALSE(view.wait());
  EXPECT_EQ(asked, 6);
}

TEST_F(LiveViewTest, PacesSimulatedTime) {
  start({.speed = 0.5});
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(
      within_patience([&] { return steps_ >= 50; }));  // 0.1 s simulated, 0.2 s of wall clock at the least
  EXPECT_GE(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 0.15);
}

TEST_F(LiveViewTest, RefusesSettingsThatCannotBe) {
  start();
  Simulator other(ball_and_motor());
  EXPECT_THROW(LiveView(other, {.port = port_}), InvalidInput);  // taken
  EXPECT_THROW(LiveView(other, {.port = 70000}), InvalidInput);
  EXPECT_THROW(LiveView(other, {.speed = -1.0}), InvalidInput);
  EXPECT_THROW(LiveView(other, {.frames_per_second = 0.0}), InvalidInput);
  EXPECT_THROW(LiveView(other, {.address = "no.such.address.invalid"}), InvalidInput);
}

TEST_F(LiveViewTest, EndsWithViewersConnected) {
  start();
  Listener listener(port_, token_);
  listener.chunk();
  end();
  EXPECT_FALSE(Connection(port_, "GET / HTTP/1.1\r\n\r\n").connected());
}

}  // namespace
}  // namespace tribo
