// Lee et al. (2024), sec. VII-C: pouring, as a task and as a series of problems of growing size.
#pragma once

#include "apps/tribo/study.h"

namespace tribo::cli {

StudyFigure lee_pouring_task();  // Fig. 10
StudyFigure lee_pouring_size();  // Fig. 11

}  // namespace tribo::cli
