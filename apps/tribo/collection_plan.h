// What `tribo collect` makes: families of contact problems shaped like those of FCLIB (Acary, Bremond and Huber 2018,
// Table 5), each from trajectories of built-in scenes with fixed seeds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tribo/scenes/scene.h"

namespace tribo::cli {

struct Trajectory {
  std::string scene;
  SceneValues values;
  Index problems = 1;           // taken from it, at steps spread evenly over it
  double begin = 0.0;           // share of the duration before the first one
  Index contacts_per_step = 0;  // > 0: single-contact problems instead, so many of each of those steps
};

struct Family {
  std::string_view name;
  std::string_view summary;
  std::string_view like;  // FCLIB's set and its sizes
  std::vector<Trajectory> trajectories;

  Index problems() const;  // at most: a step without contacts gives none
};

// `small`: fewer and smaller problems of every family, for tests and first looks.
std::vector<Family> collection_plan(bool small);

}  // namespace tribo::cli
