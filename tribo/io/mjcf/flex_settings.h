// What <flexcomp> and <flex> of MJCF have in common: elasticity, contact, colour, elements, and what stands in the way.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "tribo/io/mjcf/assets.h"

namespace tribo::detail {

// Why there can be no flexible body; empty: there can. `usual_dim`: without attribute 'dim'.
std::string flex_obstacle(const Attributes& attributes, int usual_dim);
// Warns of children, and of their attributes, that are not read.
void check_flex_children(const SourceElement& element, std::initializer_list<std::string_view> known,
                         LoadLog& log);
const SourceElement* flex_child(const SourceElement& element, std::string_view name);  // nullptr: none
Index flex_number(const SourceElement& element, std::string_view attribute, double value, std::size_t count);
// Of attribute 'element', four points each.
std::vector<TetMesh::Tet> read_flex_elements(const SourceElement& element, std::size_t points);
// Elasticity, contact and colour of a body that has its mesh; `mass` in kg.
void read_flex_settings(const Attributes& attributes, double mass, const AssetTable& assets, LoadLog& log,
                        FlexibleBody& body);

}  // namespace tribo::detail
