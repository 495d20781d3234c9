// Attributes of an element as numbers, words and vectors, with the defaults of its class beneath.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/base/types.h"
#include "tribo/io/xml/source_xml.h"

namespace tribo::detail {

// Numbers separated by blanks; InvalidInput naming element and attribute where one is not a finite number.
std::vector<double> parse_numbers(const SourceElement& element, std::string_view attribute,
                                  const std::string& text);

// Layers of the same kind of element, the strongest first: the element itself, then its default class, then the
// class that one is derived from. A short vector replaces only the first entries of the layer beneath it.
class Attributes {
 public:
  explicit Attributes(const SourceElement& element) : layers_{&element} {}
  Attributes(const SourceElement& element, std::span<const SourceElement* const> defaults);

  const SourceElement& element() const { return *layers_.front(); }
  // Warns of every attribute, of the element and of its defaults, that is in neither list.
  void check(LoadLog& log, std::initializer_list<std::string_view> used,
             std::initializer_list<std::string_view> harmless = {}) const;
  bool has(std::string_view attribute) const { return find(attribute) != nullptr; }
  std::string text(std::string_view attribute) const;
  // The layer that gives one of several attributes which exclude each other; nullptr: none.
  const SourceElement* strongest(std::initializer_list<std::string_view> attributes) const;

  double number(std::string_view attribute, double fallback) const;
  int integer(std::string_view attribute, int fallback) const;
  bool flag(std::string_view attribute, bool fallback) const;
  // Position of the attribute's word among `words`; InvalidInput when it is none of them.
  int word(std::string_view attribute, std::initializer_list<std::string_view> words, int fallback) const;
  // Overlays the given entries on `values`; the number of entries known is returned. Between `least` and the size.
  std::size_t fill(std::string_view attribute, std::span<double> values, std::size_t least = 1) const;
  Vec3 vector3(std::string_view attribute, const Vec3& fallback) const;

 private:
  const std::string* find(std::string_view attribute, const SourceElement** where = nullptr) const;

  std::vector<const SourceElement*> layers_;
};

}  // namespace tribo::detail
