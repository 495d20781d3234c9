// Elements of an XML file that is written from its beginning to its end.
//
// Example
//   tinyxml2::XMLPrinter printer;
//   Element body(printer, "body");
//   Element(printer, "joint").text("type", "hinge").numbers("axis", Vec3::UnitZ());
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tinyxml2.h>

#include <initializer_list>
#include <span>
#include <string>

#include "tribo/math/pose.h"

namespace tribo::detail {

// Open as long as the object lives.
class Element {
 public:
  Element(tinyxml2::XMLPrinter& printer, const char* name) : printer_(printer) { printer_.OpenElement(name); }
  ~Element() { printer_.CloseElement(); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

  Element& text(const char* name, const std::string& value) {
    printer_.PushAttribute(name, value.c_str());
    return *this;
  }
  Element& numbers(const char* name, std::span<const double> values) {
    return text(name, fmt::format("{}", fmt::join(values, " ")));
  }
  Element& numbers(const char* name, std::initializer_list<double> values) {
    return numbers(name, std::span(values.begin(), values.size()));
  }
  Element& numbers(const char* name, const Vec3& v) { return numbers(name, std::span(v.data(), 3)); }
  Element& numbers(const char* name, const Vector& v) {
    return numbers(name, std::span(v.data(), static_cast<std::size_t>(v.size())));
  }
  // Left out where it is what MJCF takes anyway.
  Element& unless(double usual, const char* name, double value) {
    return value == usual ? *this : numbers(name, {value});
  }
  Element& pose(const Vec3& position, const Quat& q) {
    if (!position.isZero(0.0)) numbers("pos", position);
    if (q.w() != 1.0) numbers("quat", {q.w(), q.x(), q.y(), q.z()});
    return *this;
  }
  Element& pose(const Pose& p) { return pose(p.position, Quat(p.rotation)); }

 private:
  tinyxml2::XMLPrinter& printer_;
};

}  // namespace tribo::detail
