#include "tribo/sim/world.h"
