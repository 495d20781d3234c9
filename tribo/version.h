// The version of the tribo library that was linked (which may differ from the headers compiled against).
#pragma once

namespace tribo {

// "major.minor.patch", for example "0.1.0".
const char* version() noexcept;

}  // namespace tribo
