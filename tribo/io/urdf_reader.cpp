#include "tribo/io/load.h"
#include "tribo/math/errors.h"

namespace tribo {
World load_urdf(const std::filesystem::path&, const LoadOptions&, LoadReport&) { throw InvalidInput("urdf"); }
}  // namespace tribo
