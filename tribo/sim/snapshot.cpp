#include "tribo/sim/snapshot.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "tribo/base/errors.h"

namespace tribo {

namespace {

constexpr std::string_view kMagic = "tribosim";
constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kHeader = 8 + 3 * sizeof(std::uint64_t);

static_assert(std::endian::native == std::endian::little, "the bytes of a state are little endian");

std::uint64_t sum_of(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3ULL;
  return hash;
}

// One description of the content for both directions: Archive is a Writer or a Reader.
class Writer {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T>) void value(T& number) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(&number);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
  }
  std::uint64_t count(std::size_t size) {
    std::uint64_t number = size;
    value(number);
    return number;
  }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <class T>
  requires(std::is_arithmetic_v<T>) void value(T& number) {
    if (bytes_.size() < sizeof(T)) throw InvalidInput("state: it is truncated");
    std::memcpy(&number, bytes_.data(), sizeof(T));
    bytes_ = bytes_.subspan(sizeof(T));
  }
  // Every entry takes a byte at least.
  std::uint64_t count(std::size_t) {
    std::uint64_t number = 0;
    value(number);
    if (number > bytes_.size()) throw InvalidInput("state: it is truncated");
    return number;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::span<const std::uint8_t> bytes_;
};

template <class A>
void numbers(A& archive, double* first, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) archive.value(first[k]);
}

template <class A>
void transfer(A& archive, Vector& v) {
  v.resize(static_cast<Eigen::Index>(archive.count(static_cast<std::size_t>(v.size()))));
  numbers(archive, v.data(), static_cast<std::size_t>(v.size()));
}

template <class A, class T, class Each>
void transfer_list(A& archive, std::vector<T>& list, const Each& each) {
  list.resize(archive.count(list.size()));
  for (T& entry : list) each(entry);
}

template <class A>
void transfer(A& archive, std::vector<Vec3>& list) {
  transfer_list(archive, list, [&](Vec3& v) { numbers(archive, v.data(), 3); });
}

template <class A, class T>
requires(std::is_arithmetic_v<T>) void transfer(A& archive, std::vector<T>& list) {
  transfer_list(archive, list, [&](T& number) { archive.value(number); });
}

template <class A>
void transfer(A& archive, SettlingPolicy::Memory& memory) {
  transfer(archive, memory.steps);
  transfer(archive, memory.standing_error);
}

template <class A>
void transfer(A& archive, Contact& c) {
  for (Index* number : {&c.geom_a, &c.geom_b, &c.body_a, &c.body_b, &c.surface.number, &c.surface.rows}) {
    archive.value(*number);
  }
  numbers(archive, c.position.data(), 3);
  numbers(archive, c.normal.data(), 3);
  for (double* number : {&c.gap, &c.area, &c.stiffness, &c.dissipation_time}) archive.value(*number);
  archive.value(c.key);
}

template <class A>
void transfer(A& archive, StepMemory& memory) {
  transfer_list(archive, memory.impulses, [&](StepMemory::Impulse& entry) {
    archive.value(entry.key);
    numbers(archive, entry.impulse.data(), static_cast<std::size_t>(entry.impulse.size()));
  });
  transfer(archive, memory.settling);
  transfer(archive, memory.impact_settling);
  transfer(archive, memory.sleeping.group);
  transfer(archive, memory.sleeping.quiet);
  transfer_list(archive, memory.contacts, [&](Contact& c) { transfer(archive, c); });
  transfer(archive, memory.contact_impulses);
  transfer(archive, memory.contact_torques);
  transfer(archive, memory.sensor_data);
}

template <class A>
void transfer(A& archive, Snapshot& s) {
  for (Vector* v : {&s.state.q, &s.state.v, &s.state.activation, &s.state.mocap, &s.state.node_position,
                    &s.state.node_velocity, &s.control, &s.force, &s.mocap_goal}) {
    transfer(archive, *v);
  }
  archive.value(s.state.time);
  numbers(archive, s.gravity.data(), 3);
  archive.value(s.steps);
  archive.value(s.missed);
  transfer(archive, s.memory);
}

void require(bool good, std::string_view what) {
  if (!good) throw InvalidInput(fmt::format("state: {}", what));
}

void check_memory(const StepMemory& memory, const World& world) {
  const auto trees = static_cast<std::size_t>(world.model.tree_count());
  const std::size_t all = trees + world.flexible_bodies.size();
  for (const auto& [settling, count] :
       {std::pair{&memory.settling, all}, std::pair{&memory.impact_settling, trees}}) {
    require(settling->steps.size() == count && settling->standing_error.size() == count,
            "its settling does not fit the trees of the model");
  }
  require(memory.sleeping.group.size() == trees && memory.sleeping.quiet.size() == trees,
          "its sleepers do not fit the trees of the model");
  for (const Index group : memory.sleeping.group) {
    require(group >= -1 && group < world.model.tree_count(), "a sleeper belongs to no tree");
  }
  const auto inside = [](Index number, std::size_t count) {
    return number >= 0 && static_cast<std::size_t>(number) < count;
  };
  const auto bodies = static_cast<std::size_t>(world.model.body_count());
  for (const Contact& c : memory.contacts) {
    require(inside(c.geom_a, world.geoms.size()) && inside(c.geom_b, world.geoms.size()) &&
                inside(c.body_a, bodies) && inside(c.body_b, bodies),
            "a contact names a geom or body that is not there");
  }
  require(memory.contact_impulses.size() == memory.contacts.size() &&
              memory.contact_torques.size() == memory.contacts.size(),
          "its contacts and impulses are not as many");
  Index readings = 0;
  for (const SensorDescription& sensor : world.sensors) readings += sensor.size();
  require(memory.sensor_data.size() == readings, "its readings do not fit the sensors of the world");
}

void check(const Snapshot& s, const World& world) {
  const Model& model = world.model;
  const auto actuators = static_cast<Eigen::Index>(model.actuators().size());
  const auto mocap = static_cast<Eigen::Index>(7 * model.mocap_bodies().size());
  const Index nodes = 3 * first_node(world, static_cast<Index>(world.flexible_bodies.size()));
  require(s.state.q.size() == model.coordinate_count() && s.state.v.size() == model.dof_count() &&
              s.state.activation.size() == model.activation_count() && s.state.mocap.size() == mocap &&
              s.mocap_goal.size() == mocap && s.control.size() == actuators &&
              s.force.size() == model.dof_count() && s.state.node_position.size() == nodes &&
              s.state.node_velocity.size() == nodes,
          "its sizes are not those of the model");
  require(s.state.q.allFinite() && s.state.v.allFinite() && s.state.activation.allFinite() &&
              s.state.mocap.allFinite() && s.state.node_position.allFinite() &&
              s.state.node_velocity.allFinite() && std::isfinite(s.state.time) && s.gravity.allFinite(),
          "it is not finite");
  require(s.steps >= 0 && s.missed >= 0, "its counters are negative");
  check_memory(s.memory, world);
}

}  // namespace

std::vector<std::uint8_t> encode(const Snapshot& snapshot, std::uint64_t world_hash) {
  Writer content;
  Snapshot copy = snapshot;
  transfer(content, copy);
  Writer all;
  for (const char letter : kMagic) all.bytes().push_back(static_cast<std::uint8_t>(letter));
  std::uint64_t version = kVersion, size = content.bytes().size();
  all.value(version);
  all.value(world_hash);
  all.value(size);
  all.bytes().insert(all.bytes().end(), content.bytes().begin(), content.bytes().end());
  std::uint64_t sum = sum_of(all.bytes());
  all.value(sum);
  return std::move(all.bytes());
}

Snapshot decode(std::span<const std::uint8_t> bytes, const World& world, std::uint64_t world_hash) {
  require(bytes.size() >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0,
          "these bytes are not a saved state of tribo");
  require(bytes.size() >= kHeader, "it is truncated");
  Reader header(bytes.subspan(kMagic.size()));
  std::uint64_t version = 0, hash = 0, size = 0, sum = 0;
  header.value(version);
  header.value(hash);
  header.value(size);
  require(version == kVersion,
          fmt::format("it has version {}: this program reads version {}", version, kVersion));
  require(bytes.size() - kHeader >= sizeof(sum) && size <= bytes.size() - kHeader - sizeof(sum),
          "it is truncated");
  require(size == bytes.size() - kHeader - sizeof(sum), "there are bytes after its end");
  std::memcpy(&sum, bytes.data() + kHeader + size, sizeof(sum));
  require(sum == sum_of(bytes.first(kHeader + size)), "it is damaged: its sum does not fit");
  require(hash == world_hash, "it was saved from another world");
  Reader content(bytes.subspan(kHeader, size));
  Snapshot snapshot;
  transfer(content, snapshot);
  require(content.at_end(), "there are bytes after its end");
  check(snapshot, world);
  return snapshot;
}

}  // namespace tribo
