// FCLIB files (HDF5), https://github.com/FrictionalContactLibrary: real frictional contact problems in a
// common format.
//
//   /fclib_local    u = W r + V l + q,  V^T r + R l + s = 0
//                   spacedim, W, [V, R], vectors/{q, mu, [s]}
//   /fclib_global   M v = H r + G l + f,  u = H^T v + w,  G^T v + b = 0
//                   spacedim, M, H, [G], vectors/{f, w, mu, [b]}
//   /guesses/1, /solution    r, u, [l], [v]
//
// A matrix is a group with m, n, nz and the arrays p, i, x. nz >= 0: triplets, of which p is the COLUMN and i
// the row; nz = -1: compressed columns; nz = -2: compressed rows. Sizes come from the datasets (nzmax may
// promise more), and triplets at the same place add up. Contacts have the normal first.
//
// Rolling friction (/fclib_global_rolling, /fclib_local_rolling; rows (n, t1, t2, r1, r2), vectors/mu_r [m]) has the cone
//   |r_t| <= mu r_n and |r_r| <= mu_r r_n,
// the intersection of two circular ones. Where mu_r = 0 the rolling rows carry nothing and are left out; where mu = 0 the
// tangential ones are, and the contact is one of friction mu_r on the rolling rows. Contacts with both are refused by
// name: their cone is not one of tribo's (docs/problem.md).
//
// Files that tribo wrote say more in the group /tribo (see fclib_writer.h), which makes reading them exact.
#pragma once

#include <filesystem>

#include "tribo/formats/problem_file.h"

namespace tribo::detail {

LoadedProblem read_fclib(const std::filesystem::path& path);

}  // namespace tribo::detail
