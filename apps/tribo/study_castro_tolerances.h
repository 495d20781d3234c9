// Castro et al. (2022), sec. VI-E: errors of the task of two arms against the solvers' tolerances.
#pragma once

#include "apps/tribo/study.h"

namespace tribo::cli {

StudyFigure castro_tolerances();  // Figs. 19, 20

}  // namespace tribo::cli
