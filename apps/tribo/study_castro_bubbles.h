// Castro et al. (2022), sec. VI-D: soft bubbles hold a spatula, tight and loose in turn.
#pragma once

#include "apps/tribo/study.h"

namespace tribo::cli {

StudyFigure castro_bubbles();  // Figs. 16, 17

}  // namespace tribo::cli
