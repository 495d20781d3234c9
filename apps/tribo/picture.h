// Pictures of pages with the Chromium that is installed, without a window.
#pragma once

#include <filesystem>
#include <string>

namespace tribo::cli {

// The browser, from TRIBO_CHROMIUM or the search path. InvalidInput that says what to install where there is none.
std::filesystem::path find_browser();

// Writes what `page` shows, 1280 x 800 pixels, as PNG. `state`: what follows # in its address. InvalidInput when the browser
// fails or takes too long; nothing is written then.
void take_picture(const std::filesystem::path& page, const std::string& state,
                  const std::filesystem::path& picture);

}  // namespace tribo::cli
