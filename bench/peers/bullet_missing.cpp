// Stands in for bullet_peer.cpp where Bullet is not installed.
#include "studies/collide_scenes.h"

namespace tribo::bench {

double bullet_pair_time(const PairScene&) { return -1.0; }
double bullet_broad_time(Index, bool, double, int) { return -1.0; }

}  // namespace tribo::bench
