// Uses an installed tribo the way another project would.
#include "tribo/version.h"

#include <cstdio>

int main() {
  std::printf("linked with tribo %s\n", tribo::version());
  return 0;
}
