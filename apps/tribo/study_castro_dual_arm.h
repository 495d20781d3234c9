// Castro et al. (2022), sec. VI-E: the task of two arms with hands under several solvers.
#pragma once

#include "apps/tribo/study.h"

namespace tribo::cli {

StudyFigure castro_dual_arm();  // Figs. 18, 21

}  // namespace tribo::cli
