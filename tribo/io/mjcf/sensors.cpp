#include "tribo/io/mjcf/sensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tribo/io/assets/principal_axes.h"

namespace tribo::detail {
namespace {

using Name = WorldAssembly::NameAttribute;

// An attribute that names something; none where it is not given.
using MaybeName = std::optional<Name>;

constexpr std::array<std::string_view, 5> kFrameTypes{"body", "xbody", "geom", "site", "camera"};

// What the attributes of a sensor name: the copies of what is replicated follow from it.
struct References {
  MaybeName first, second;              // object and reference, or the two sides of a contact
  int first_type = 0, second_type = 0;  // of frames: among kFrameTypes
};

NameKind kind_of_frame(int type) {
  constexpr std::array kinds{NameKind::body, NameKind::body, NameKind::geom, NameKind::site,
                             NameKind::camera};
  return kinds[static_cast<std::size_t>(type)];
}

class SensorReader {
 public:
  SensorReader(WorldAssembly& assembly, const ModelPart& part) : assembly_(assembly), part_(part) {}

  std::vector<SensorDescription> read(const SourceElement& element) {
    const SensorTraits* traits = find_sensor_kind(element.name);
    if (traits == nullptr) {
      assembly_.log().warn(
          element, fmt::format("this sensor is not supported and is left out ('{}')", element.text("name")));
      return {};
    }
    const References references =
        traits->kind == SensorKind::contact ? sides(element) : objects(element, *traits);
    check(element, *traits);
    std::vector<SensorDescription> result;
    for (const std::string& suffix : copies(element, references)) {
      result.push_back(read_copy(element, *traits, references, suffix));
    }
    return result;
  }

 private:
  static int frame_type(const SourceElement& element, std::string_view attribute) {
    const std::string type = element.text(attribute);
    for (std::size_t k = 0; k < kFrameTypes.size(); ++k) {
      if (type == kFrameTypes[k]) return static_cast<int>(k);
    }
    fail(element, fmt::format("attribute '{}' must be body, xbody, geom, site or camera", attribute));
  }

  static bool on_any_frame(SensorKind kind) {
    return kind >= SensorKind::frame_position && kind <= SensorKind::frame_angular_acceleration;
  }

  References objects(const SourceElement& element, const SensorTraits& traits) const {
    References result;
    switch (traits.object) {
      case SensorObject::joint:
      case SensorObject::ball:
        result.first = Name{NameKind::joint, "joint"};
        break;
      case SensorObject::tendon:
        result.first = Name{NameKind::tendon, "tendon"};
        break;
      case SensorObject::actuator:
        result.first = Name{NameKind::actuator, "actuator"};
        break;
      case SensorObject::subtree:
        result.first = Name{NameKind::body, "body"};
        break;
      case SensorObject::frame:
        if (!on_any_frame(traits.kind)) {
          result.first = Name{NameKind::site, "site"};
          result.first_type = 3;
          break;
        }
        result.first_type = frame_type(element, "objtype");
        result.first = Name{kind_of_frame(result.first_type), "objname"};
        if (element.find("reftype") == nullptr && element.find("refname") == nullptr) break;
        result.second_type = frame_type(element, "reftype");
        result.second = Name{kind_of_frame(result.second_type), "refname"};
        break;
      case SensorObject::none:
        break;
    }
    return result;
  }

  // The two sides of a contact sensor.
  References sides(const SourceElement& element) const {
    const auto side = [&](std::initializer_list<Name> names) {
      MaybeName found;
      for (const Name& name : names) {
        if (element.find(name.attribute) == nullptr) continue;
        if (found) {
          fail(element,
               fmt::format("attributes '{}' and '{}' exclude each other", found->attribute, name.attribute));
        }
        found = name;
      }
      return found;
    };
    References result;
    result.first = side({{NameKind::geom, "geom1"},
                         {NameKind::body, "body1"},
                         {NameKind::body, "subtree1"},
                         {NameKind::site, "site"}});
    result.second =
        side({{NameKind::geom, "geom2"}, {NameKind::body, "body2"}, {NameKind::body, "subtree2"}});
    return result;
  }

  std::vector<std::string> copies(const SourceElement& element, const References& references) {
    if (references.first && references.second) {
      return assembly_.copies(part_, element, {*references.first, *references.second});
    }
    if (references.first) return assembly_.copies(part_, element, {*references.first});
    if (references.second) return assembly_.copies(part_, element, {*references.second});
    return {""};
  }

  // What is not known, and what is known and left out.
  void check(const SourceElement& element, const SensorTraits& traits) {
    LoadLog& log = assembly_.log();
    static const std::initializer_list<std::string_view> harmless{"user"};
    switch (traits.object) {
      case SensorObject::joint:
      case SensorObject::ball:
        log.check_attributes(element, {"name", "cutoff", "noise", "joint"}, harmless);
        break;
      case SensorObject::tendon:
        log.check_attributes(element, {"name", "cutoff", "noise", "tendon"}, harmless);
        break;
      case SensorObject::actuator:
        log.check_attributes(element, {"name", "cutoff", "noise", "actuator"}, harmless);
        break;
      case SensorObject::subtree:
        log.check_attributes(element, {"name", "cutoff", "noise", "body"}, harmless);
        break;
      case SensorObject::frame:
        log.check_attributes(element,
                             {"name", "cutoff", "noise", "site", "objtype", "objname", "reftype", "refname"},
                             harmless);
        break;
      case SensorObject::none:
        log.check_attributes(element,
                             {"name", "cutoff", "noise", "geom1", "body1", "subtree1", "site", "geom2",
                              "body2", "subtree2", "num", "data", "reduce"},
                             harmless);
    }
    if (Attributes(element).number("noise", 0.0) > 0.0) {
      log.warn(element, "noise of sensors is left out: readings are exact");
    }
    const bool cut = traits.kind == SensorKind::force || traits.kind == SensorKind::torque;
    for (Index k = 0; cut && k < assembly_.tendon_count(); ++k) {
      if (!assembly_.tendon(k).is_spatial()) continue;
      log.warn(element, "force and torque sensors do not see the pull of spatial tendons");
      break;
    }
  }

  SensorDescription read_copy(const SourceElement& element, const SensorTraits& traits,
                              const References& references, const std::string& suffix) const {
    const Attributes attributes(element);
    SensorDescription sensor;
    sensor.name = assembly_.own_name(part_, element, suffix);
    sensor.kind = traits.kind;
    sensor.cutoff = attributes.number("cutoff", 0.0);
    if (!(sensor.cutoff >= 0.0)) fail(element, "attribute 'cutoff' must not be negative");
    if (traits.kind == SensorKind::contact) {
      sensor.contact = read_query(element, references, suffix);
    } else if (traits.object == SensorObject::frame) {
      const Index first = assembly_.find(part_, element, *references.first, suffix);
      sensor.frame = frame_of(references.first_type, first);
      if (references.second) {
        sensor.reference =
            frame_of(references.second_type, assembly_.find(part_, element, *references.second, suffix));
      }
      if (traits.kind == SensorKind::touch) sensor.volume = volume_of(element, first);
    } else if (references.first) {
      sensor.object = assembly_.find(part_, element, *references.first, suffix);
      check_joint(element, traits, sensor.object);
    }
    return sensor;
  }

  void check_joint(const SourceElement& element, const SensorTraits& traits, Index joint) const {
    if (traits.object == SensorObject::joint) assembly_.require_scalar(joint, element);
    if (traits.object != SensorObject::ball) return;
    const JointDescription& description = assembly_.joint(joint).description;
    if (description.kind != JointKind::ball)
      fail(element, fmt::format("joint '{}' must be a ball", description.name));
  }

  const Shape& volume_of(const SourceElement& element, Index site) const {
    const std::optional<Shape>& volume = assembly_.site_volume(site);
    if (!volume) fail(element, "the site must be a sphere, capsule, ellipsoid, cylinder or box");
    return *volume;
  }

  SensorFrame frame_of(int type, Index number) const {
    switch (type) {
      case 0: {  // where the mass is, along its principal axes
        const BodyDescription& body = assembly_.tree().bodies[static_cast<std::size_t>(number)].description;
        if (!(body.inertia.mass > 0.0)) return {number, {}};
        if (!body.inertia_axes)
          return {number, principal_frame(body.inertia.center, body.inertia.rotational)};
        return {number, {body.inertia.center, body.inertia_axes->toRotationMatrix()}};
      }
      case 1:
        return {number, {}};
      case 2: {
        const Geom& geom = assembly_.world().geoms[static_cast<std::size_t>(number)];
        return {geom.body, geom.pose};
      }
      case 3:
        return {assembly_.site(number).body, assembly_.site(number).pose};
      default:
        return {assembly_.camera(number).body, assembly_.camera(number).pose};
    }
  }

  ContactSide side_of(const SourceElement& element, const MaybeName& name, const std::string& suffix) const {
    using Kind = ContactSide::Kind;
    if (!name) return {};
    const Index number = assembly_.find(part_, element, *name, suffix);
    if (name->kind == NameKind::geom) return {.kind = Kind::geom, .object = number};
    if (name->kind == NameKind::site) {
      return {.kind = Kind::volume, .frame = frame_of(3, number), .volume = volume_of(element, number)};
    }
    return {.kind = name->attribute.starts_with("body") ? Kind::body : Kind::subtree, .object = number};
  }

  ContactQuery read_query(const SourceElement& element, const References& references,
                          const std::string& suffix) const {
    const Attributes attributes(element);
    ContactQuery query;
    query.first = side_of(element, references.first, suffix);
    query.second = side_of(element, references.second, suffix);
    query.count = attributes.integer("num", 1);
    if (query.count < 1 || query.count > 10000) fail(element, "attribute 'num' must be between 1 and 10000");
    query.reduce = static_cast<ContactQuery::Reduce>(
        attributes.word("reduce", {"none", "mindist", "maxforce", "netforce"}, 0));
    if (query.reduce == ContactQuery::Reduce::net_force && query.count > 1) {
      query.count = 1;
      assembly_.log().warn(element, "a net force is one contact: 'num' is 1");
    }
    query.fields = read_fields(element);
    return query;
  }

  // Words in the order of ContactQuery's fields.
  static std::uint8_t read_fields(const SourceElement& element) {
    constexpr std::array<std::string_view, 7> words{"found", "force",  "torque", "dist",
                                                    "pos",   "normal", "tangent"};
    const std::string text = element.find("data") != nullptr ? element.text("data") : "found";
    std::uint8_t fields = 0;
    std::size_t last = 0;
    for (std::size_t at = 0; (at = text.find_first_not_of(" \t\n", at)) != std::string::npos;) {
      const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
      const auto word = std::find(words.begin(), words.end(), std::string_view(text).substr(at, end - at));
      const auto place = static_cast<std::size_t>(word - words.begin());
      if (word == words.end() || (fields != 0 && place <= last)) {
        fail(element,
             "attribute 'data' must be words of found force torque dist pos normal tangent, in this order");
      }
      fields = static_cast<std::uint8_t>(fields | 1U << place);
      last = place;
      at = end;
    }
    if (fields == 0) fail(element, "attribute 'data' is empty");
    return fields;
  }

  WorldAssembly& assembly_;
  const ModelPart& part_;
};

}  // namespace

void read_sensors(WorldAssembly& assembly, const ModelPart& part) {
  SensorReader reader(assembly, part);
  std::vector<std::vector<SensorDescription>> columns;
  for (const SourceElement* element : part.file->entries("sensor")) columns.push_back(reader.read(*element));
  copy_by_copy(columns,
               [&](SensorDescription& sensor) { assembly.world().sensors.push_back(std::move(sensor)); });
}

}  // namespace tribo::detail
