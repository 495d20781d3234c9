// The page of `tribo compare`: one HTML file that needs nothing else.
#pragma once

#include <string>

#include "apps/tribo/comparison.h"

namespace tribo::cli {

// Up to this many problems the page shows how the error falls in each; beyond, one plot of error against
// time.
inline constexpr std::size_t kMostHistories = 8;

std::string compare_page(const Comparison& comparison);

}  // namespace tribo::cli
