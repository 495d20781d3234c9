#include "apps/tribo/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tribo::cli {

namespace {

constexpr double kLeft = 58.0;
constexpr double kRight = 24.0;
constexpr double kTop = 12.0;
constexpr double kBottom = 46.0;

// 10^exponent: in plain digits on an axis of moderate numbers, otherwise as a power.
std::string power_of_ten(int exponent, bool plain) {
  if (plain || exponent == 0 || exponent == 1) return fmt::format("{:g}", std::pow(10.0, exponent));
  static const char* const kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

struct Tick {
  double value;
  std::string label;
};

std::vector<Tick> ticks_of(const Axis& axis) {
  std::vector<Tick> ticks;
  if (!axis.logarithmic) {
    for (int k = 0; k <= 5; ++k) {
      const double value = axis.lowest + (axis.highest - axis.lowest) * k / 5.0;
      ticks.push_back({value, fmt::format("{:g}", value)});
    }
    return ticks;
  }
  const int first = static_cast<int>(std::ceil(std::log10(axis.lowest) - 1e-9));
  const int last = static_cast<int>(std::floor(std::log10(axis.highest) + 1e-9));
  const bool plain = first >= -3 && last <= 4;
  if (last - first <= 1) {  // a short axis needs marks between the powers
    for (int exponent = first - 1; exponent <= last; ++exponent) {
      for (const int factor : {1, 2, 5}) {
        const double value = factor * std::pow(10.0, exponent);
        if (value < axis.lowest * (1 - 1e-9) || value > axis.highest * (1 + 1e-9)) continue;
        ticks.push_back({value, factor == 1 ? power_of_ten(exponent, plain) : fmt::format("{:g}", value)});
      }
    }
    return ticks;
  }
  const int stride = 1 + (last - first) / 8;
  for (int exponent = first; exponent <= last; exponent += stride) {
    ticks.push_back({std::pow(10.0, exponent), power_of_ten(exponent, plain)});
  }
  return ticks;
}

class Canvas {
 public:
  explicit Canvas(const Plot& plot) : plot_(plot) {}

  std::string render() {
    text_ = fmt::format("<svg class=\"plot\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                        plot_.width, plot_.height, escape_html(plot_.title));
    draw_axes();
    for (const auto& [value, label] : plot_.horizontal_marks) {
      if (value < plot_.y.lowest || value > plot_.y.highest) continue;
      text_ += fmt::format(
          "<line class=\"mark\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
          "<text class=\"tick\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
          kLeft, right(), y(value), y(value), right() - 4, y(value) - 5, escape_html(label));
    }
    for (const Series& series : plot_.series) draw_series(series);
    return text_ + "</svg>\n";
  }

 private:
  double right() const { return plot_.width - kRight; }
  double bottom() const { return plot_.height - kBottom; }

  static double share(const Axis& axis, double value) {
    const double clamped = std::clamp(value, axis.lowest, axis.highest);
    if (axis.logarithmic) return std::log(clamped / axis.lowest) / std::log(axis.highest / axis.lowest);
    return (clamped - axis.lowest) / (axis.highest - axis.lowest);
  }
  double x(double value) const { return kLeft + share(plot_.x, value) * (right() - kLeft); }
  double y(double value) const { return bottom() - share(plot_.y, value) * (bottom() - kTop); }

  void draw_axes() {
    for (const Tick& tick : ticks_of(plot_.x)) {
      const double at = x(tick.value);
      text_ += fmt::format(
          "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1:.1f}\" y2=\"{2:.1f}\"/>"
          "<text class=\"tick\" x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">{4}</text>\n",
          at, kTop, bottom(), bottom() + 17, tick.label);
    }
    for (const Tick& tick : ticks_of(plot_.y)) {
      const double at = y(tick.value);
      text_ += fmt::format(
          "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
          "<text class=\"tick\" x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
          kLeft, right(), at, kLeft - 7, at + 4, tick.label);
    }
    text_ += fmt::format("<text class=\"axis\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n",
                         0.5 * (kLeft + right()), plot_.height - 8.0, escape_html(plot_.x.label));
    text_ += fmt::format(
        "<text class=\"axis\" transform=\"translate(14,{:.1f}) rotate(-90)\" text-anchor=\"middle\">"
        "{}</text>\n",
        0.5 * (kTop + bottom()), escape_html(plot_.y.label));
  }

  void draw_dots(const Series& series, const std::vector<std::pair<double, double>>& dots,
                 const std::vector<std::string>& names, const char* style) {
    for (std::size_t k = 0; k < dots.size(); ++k) {
      text_ += fmt::format(
          "<circle class=\"{} c{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}</title></circle>", style,
          series.color, x(dots[k].first), y(dots[k].second),
          escape_html(k < names.size() ? names[k] : series.name));
    }
  }

  void draw_series(const Series& series) {
    text_ += fmt::format("<g class=\"series\" data-series=\"{}\">", series.color);
    if (!series.line.empty()) {
      std::string path;
      for (const auto& [px, py] : series.line) {
        path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x(px), y(py));
      }
      text_ += fmt::format("<path class=\"curve c{}\" d=\"{}\"><title>{}</title></path>", series.color, path,
                           escape_html(series.name));
    }
    draw_dots(series, series.dots, series.dot_names, "dot");
    draw_dots(series, series.hollow, series.hollow_names, "hollow");
    text_ += "</g>\n";
  }

  const Plot& plot_;
  std::string text_;
};

}  // namespace

std::string render_svg(const Plot& plot) { return Canvas(plot).render(); }

void fit_decades(Axis& axis, double lowest, double highest) {
  axis.logarithmic = true;
  axis.lowest = std::pow(10.0, std::floor(std::log10(lowest)));
  axis.highest = std::pow(10.0, std::ceil(std::log10(highest)));
  if (axis.highest <= axis.lowest) axis.highest = 10.0 * axis.lowest;
}

std::string escape_html(const std::string& text) {
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace tribo::cli
