// TRIBO_HD marks the small fixed-size kernels that host and GPU code share. It is the only macro of the
// library.
#pragma once

#if defined(__CUDACC__)
#define TRIBO_HD __host__ __device__
#else
#define TRIBO_HD
#endif
