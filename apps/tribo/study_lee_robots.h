// Lee et al. (2024), Fig. 1, sec. VII-A2 and VII-B2: a robot screws a nut on, a robot piles dishes, under a budget for each solve.
#pragma once

#include "apps/tribo/study.h"

namespace tribo::cli {

StudyFigure lee_assembly();
StudyFigure lee_piling();

}  // namespace tribo::cli
