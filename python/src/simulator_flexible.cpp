// Flexible bodies of a simulator: nodes as live views, contacts as a structured array.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstddef>

#include "arrays.h"
#include "simulator.h"

namespace tribo::python {
namespace {

using namespace nb::literals;
using Box = SimulatorBox;
using NodeView = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig>;

struct SideRecord {
  std::int32_t geom, body, flexible, count, nodes[3];
  double weights[3];
};

struct FlexibleContactRecord {
  SideRecord a, b;
  double position[3], normal[3], gap, impulse[3], friction;
  std::uint64_t key;
};

nb::object flexible_contact_dtype() {
  using R = FlexibleContactRecord;
  using S = SideRecord;
  const auto a = [](std::size_t offset) { return offsetof(R, a) + offset; };
  const auto b = [](std::size_t offset) { return offsetof(R, b) + offset; };
  return structured_dtype({{"geom_a", "i4", a(offsetof(S, geom))},
                           {"body_a", "i4", a(offsetof(S, body))},
                           {"flexible_a", "i4", a(offsetof(S, flexible))},
                           {"count_a", "i4", a(offsetof(S, count))},
                           {"nodes_a", "3i4", a(offsetof(S, nodes))},
                           {"weights_a", "3f8", a(offsetof(S, weights))},
                           {"flexible_b", "i4", b(offsetof(S, flexible))},
                           {"count_b", "i4", b(offsetof(S, count))},
                           {"nodes_b", "3i4", b(offsetof(S, nodes))},
                           {"weights_b", "3f8", b(offsetof(S, weights))},
                           {"position", "3f8", offsetof(R, position)},
                           {"normal", "3f8", offsetof(R, normal)},
                           {"gap", "f8", offsetof(R, gap)},
                           {"impulse", "3f8", offsetof(R, impulse)},
                           {"friction", "f8", offsetof(R, friction)},
                           {"key", "u8", offsetof(R, key)}},
                          sizeof(R));
}

void put(const Vec3& from, double* to) { std::copy(from.data(), from.data() + 3, to); }

SideRecord record_of(const FlexibleContact::Side& side) {
  const bool flexible = side.flexible >= 0;
  SideRecord r{.geom = side.geom,
               .body = flexible ? -1 : side.body,
               .flexible = side.flexible,
               .count = side.count,
               .nodes = {-1, -1, -1},
               .weights = {}};
  for (Index k = 0; k < side.count; ++k) {
    r.nodes[k] = side.nodes[static_cast<std::size_t>(k)];
    r.weights[k] = side.weights[k];
  }
  return r;
}

nb::object flexible_contacts(Box& box) {
  const InUse guard(box.owner, InUse::For::reading, "simulator");
  const std::vector<FlexibleContact>& all = box.simulator->flexible_contacts();
  const std::vector<Vec3>& impulses = box.simulator->flexible_contact_impulses();
  std::vector<FlexibleContactRecord> records;
  records.reserve(all.size());
  for (std::size_t k = 0; k < all.size(); ++k) {
    FlexibleContactRecord r{.a = record_of(all[k].a),
                            .b = record_of(all[k].b),
                            .position = {},
                            .normal = {},
                            .gap = all[k].gap,
                            .impulse = {},
                            .friction = all[k].friction,
                            .key = all[k].key};
    put(all[k].position, r.position);
    put(all[k].normal, r.normal);
    put(k < impulses.size() ? impulses[k] : Vec3::Zero(), r.impulse);
    records.push_back(r);
  }
  return structured(records.data(), records.size(), sizeof(FlexibleContactRecord),
                    nb::type<Box>().attr("flexible_contact_dtype"));
}

// Of one flexible body, or of all of them.
NodeView nodes_of(const Box& box, const Vector& numbers, nb::handle body) {
  const World& world = box.simulator->world();
  Index first = 0, end = static_cast<Index>(numbers.size()) / 3;
  if (!body.is_none()) {
    const Index f = flexible_number(world, body);
    first = first_node(world, f);
    end = first_node(world, f + 1);
  }
  return NodeView(numbers.data() + 3 * static_cast<std::ptrdiff_t>(first),
                  {static_cast<std::size_t>(end - first), std::size_t{3}}, box.memory);
}

}  // namespace

void bind_flexible(nb::class_<Box>& c) {
  c.attr("flexible_contact_dtype") = flexible_contact_dtype();
  c.def(
       "node_positions",
       [](Box& b, nb::handle body) { return nodes_of(b, b.simulator->state().node_position, body); },
       "body"_a = nb::none(), nb::rv_policy::automatic,
       nb::sig("def node_positions(self, body: int | str | None = None) -> numpy.ndarray"),
       "Nodes of a flexible body by name or number, or of all of them one after the other (nodes, 3), a live "
       "view: world axes, m. Change them by set_state().")
      .def(
          "node_velocities",
          [](Box& b, nb::handle body) { return nodes_of(b, b.simulator->state().node_velocity, body); },
          "body"_a = nb::none(), nb::rv_policy::automatic,
          nb::sig("def node_velocities(self, body: int | str | None = None) -> numpy.ndarray"),
          "As node_positions(), m/s.")
      .def_prop_ro(
          "flexible_contacts", &flexible_contacts, nb::sig("def flexible_contacts(self) -> numpy.ndarray"),
          R"(Contacts of flexible bodies in the last step, a structured array of its own. Side a is a geom (geom_a, body_a) or a
flexible body (flexible_a), what it is not being -1; side b is the flexible body flexible_b. count, nodes, weights: the nodes of the
body that carry the point, 1 to 3, and their shares. position [m], normal (from a to b), gap [m], impulse [N s] on side b, all in
world axes; friction, key.)");
}

}  // namespace tribo::python
