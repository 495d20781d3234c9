// Line and dot plots as SVG text for the compare page. Colours come from the page's style sheet: class "c<k>"
// is the colour of series k, so that one plot serves light and dark screens.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tribo::cli {

struct Axis {
  std::string label;
  double lowest = 0.0;
  double highest = 1.0;
  bool logarithmic = false;
};

struct Series {
  std::string name;
  std::size_t color = 0;
  std::vector<std::pair<double, double>> line;       // joined
  std::vector<std::pair<double, double>> dots;       // filled
  std::vector<std::pair<double, double>> hollow;     // rings
  std::vector<std::string> dot_names, hollow_names;  // shown on hover; may be empty
};

struct Plot {
  std::string title;  // read out by screen readers
  Axis x, y;
  std::vector<Series> series;
  std::vector<std::pair<double, std::string>> horizontal_marks;  // dashed lines with a text
  int width = 640;
  int height = 360;
};

std::string render_svg(const Plot& plot);

// Widens a logarithmic axis to whole powers of ten around the given values (all > 0).
void fit_decades(Axis& axis, double lowest, double highest);

// &, <, >, " and ' replaced.
std::string escape_html(const std::string& text);

}  // namespace tribo::cli
