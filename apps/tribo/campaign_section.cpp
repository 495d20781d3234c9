#include "apps/tribo/campaign_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "apps/tribo/campaign_html.h"
#include "apps/tribo/page_style.h"
#include "apps/tribo/support.h"
#include "apps/tribo/svg_plot.h"
#include "tribo/solve/catalogue.h"

namespace tribo::cli {

namespace {

constexpr std::size_t kCurves = kSeriesColors;  // more cannot be told apart

// The colours of a section: by a solver's place in the campaign, so that all pages agree, where there are enough; or else
// by its place among those shown.
class Colors {
 public:
  Colors(const ResultTable& results, const std::vector<std::size_t>& shown,
         const std::vector<std::string>& campaign) {
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const auto place = static_cast<std::size_t>(
          std::find(campaign.begin(), campaign.end(), results.solvers()[shown[k]]) - campaign.begin());
      colors_.emplace_back(shown[k], campaign.size() <= kSeriesColors ? place % kSeriesColors : k);
    }
  }
  std::optional<std::size_t> of(std::size_t solver) const {
    for (const auto& [shown, color] : colors_) {
      if (shown == solver) return color;
    }
    return std::nullopt;
  }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> colors_;
};

std::string seconds(double value) { return std::isfinite(value) ? format_ms(1e3 * value) : "-"; }
std::string ratio(double value) {
  if (!std::isfinite(value)) return "-";
  return value >= 100.0 ? fmt::format("{:.0f}×", value) : fmt::format("{:.3g}×", value);
}

std::string summary(const ResultTable& results, const Colors& colors) {
  std::string body;
  const std::vector<std::size_t> order = best_solvers(results, results.solvers().size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    const SolverFigures f = figures_of(results, order[k]);
    const std::optional<std::size_t> color = colors.of(order[k]);
    body += fmt::format("<tr><td>{}{}</td>", color ? swatch(*color) : "",
                        escape_html(results.solvers()[order[k]]));
    body += heat_cell(f.share(), fmt::format("{:.1f} %", 100.0 * f.share()));
    body += number_cell(f.solved, fmt::format("{} of {}", f.solved, f.problems));
    body += number_cell(f.fastest, std::to_string(f.fastest));
    body += number_cell(f.median_s, seconds(f.median_s));
    body += number_cell(f.median_ratio, ratio(f.median_ratio));
    body += number_cell(f.worst_ratio, ratio(f.worst_ratio)) + "</tr>\n";
  }
  return table(
      {"Solver", "#Solved", "#Problems", "#Fastest on", "#Median ms", "#Median ratio", "#Worst ratio"}, body);
}

std::string legend(const ResultTable& results, const std::vector<std::size_t>& order, const Colors& colors) {
  std::string text = "<div class=\"legend\">";
  for (const std::size_t solver : order) {
    const std::size_t color = colors.of(solver).value_or(0);
    text += fmt::format("<span data-series=\"{}\">{}{}</span>", color, swatch(color),
                        escape_html(results.solvers()[solver]));
  }
  return text + "</div>\n";
}

std::string profiles(const ResultTable& results, const std::vector<std::size_t>& order, const Colors& colors,
                     int width, int tall) {
  Plot plot;
  plot.title = "Performance profiles: share of problems solved against the time ratio to the best solver";
  plot.width = width;
  plot.height = tall;
  double largest = 1.0;
  for (const std::size_t s : order) {
    const std::vector<double> ratios = time_ratios(results, s);
    if (!ratios.empty()) largest = std::max(largest, ratios.back());
  }
  plot.x = {"τ: time relative to the best solver", 1.0, std::max(10.0, 1.3 * largest), true};
  plot.y = {"share of problems solved within τ", 0.0, 1.0, false};
  for (std::size_t k = 0; k < order.size(); ++k) {
    Series series{results.solvers()[order[k]], colors.of(order[k]).value_or(0), {}, {}, {}, {}, {}};
    double height = 0.0;
    series.line.emplace_back(1.0, 0.0);
    for (const double r : time_ratios(results, order[k])) {
      series.line.emplace_back(r, height);
      height += 1.0 / static_cast<double>(results.problems().size());
      series.line.emplace_back(r, height);
    }
    series.line.emplace_back(plot.x.highest, height);
    plot.series.push_back(std::move(series));
  }
  return "<div>" + render_svg(plot) + "</div>\n";
}

// `value` of every solve against the number of contacts.
std::string against_size(const ResultTable& results, const std::vector<std::size_t>& order,
                         const Colors& colors, const char* label,
                         const std::function<double(const CampaignRow&)>& value) {
  Plot plot;
  plot.title = std::string(label) + " against contacts";
  plot.width = 520;
  plot.height = 360;
  plot.x.label = "contacts";
  plot.y.label = label;
  double x_low = 1e300, x_high = 0.0, y_low = 1e300, y_high = 0.0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    Series series{results.solvers()[order[k]], colors.of(order[k]).value_or(0), {}, {}, {}, {}, {}};
    for (std::size_t p = 0; p < results.problems().size(); ++p) {
      const CampaignRow* row = results.row(p, order[k]);
      if (row == nullptr || row->contacts == 0 || row->outcome == Outcome::refused) continue;
      const std::pair<double, double> point(row->contacts, value(*row));
      if (!(point.second > 0.0)) continue;
      (row->solved() ? series.dots : series.hollow).push_back(point);
      (row->solved() ? series.dot_names : series.hollow_names)
          .push_back(fmt::format("{} on {}: {} ms, {} iterations, {}", row->solver, row->file,
                                 seconds(row->cpu_s), row->iterations, to_string(row->outcome)));
      x_low = std::min(x_low, point.first);
      x_high = std::max(x_high, point.first);
      y_low = std::min(y_low, point.second);
      y_high = std::max(y_high, point.second);
    }
    plot.series.push_back(std::move(series));
  }
  if (x_high == 0.0) x_low = x_high = y_low = y_high = 1.0;
  fit_decades(plot.x, x_low, x_high);
  fit_decades(plot.y, y_low, y_high);
  return fmt::format("<div><h3>{}</h3>{}</div>\n", label, render_svg(plot));
}

std::string failures(const ResultTable& results) {
  std::array<int, kOutcomes> total{};
  std::vector<SolverFigures> figures;
  for (std::size_t s = 0; s < results.solvers().size(); ++s) {
    figures.push_back(figures_of(results, s));
    for (std::size_t k = 0; k < kOutcomes; ++k) total[k] += figures.back().outcomes[k];
  }
  std::vector<std::string> titles{"Solver"};
  std::vector<std::size_t> shown;
  const auto false_claims = static_cast<std::size_t>(Outcome::false_claim);
  for (std::size_t k = 1; k < kOutcomes; ++k) {
    if (total[k] == 0 && k != false_claims) continue;
    shown.push_back(k);
    std::string name(to_string(static_cast<Outcome>(k)));
    std::replace(name.begin(), name.end(), '_', ' ');
    titles.push_back("#" + name);
  }
  std::string body;
  std::size_t without = 0;
  for (const std::size_t s : best_solvers(results, results.solvers().size())) {
    if (figures[s].solved == figures[s].problems) {
      ++without;
      continue;
    }
    body += fmt::format("<tr><td>{}</td>", escape_html(results.solvers()[s]));
    for (const std::size_t k : shown) {
      const int count = figures[s].outcomes[k];
      const char* kind = count == 0 ? "number zero" : k == false_claims ? "number failed" : "number";
      body += number_cell(count, std::to_string(count), kind);
    }
    body += "</tr>\n";
  }
  const std::string all =
      fmt::format("<p class=\"note\">{} solved everything, so without a false claim.</p>\n",
                  counted(static_cast<long long>(without), "solver"));
  return (body.empty() ? std::string() : table(titles, body)) + (without > 0 ? all : "");
}

// The solvers of a kind, as in the paper's figures; the ratios are to the best of all, so that the plots can be compared.
std::string profiles_by_kind(const ResultTable& results, const std::vector<std::string>& campaign) {
  const std::vector<std::size_t> order = best_solvers(results, results.solvers().size());
  std::string text;
  for (int kind = 0; kind < kSolverFamilies; ++kind) {
    std::vector<std::size_t> own;
    std::size_t all = 0;
    for (const std::size_t s : order) {
      const std::string& name = results.solvers()[s];
      const auto info =
          std::find_if(solver_catalogue().begin(), solver_catalogue().end(),
                       [&](const SolverInfo& i) { return i.name == name.substr(0, name.find(':')); });
      if (info == solver_catalogue().end() || info->family != static_cast<SolverFamily>(kind)) continue;
      ++all;
      if (own.size() < kCurves) own.push_back(s);
    }
    if (own.empty()) continue;
    const Colors colors(results, own, campaign);
    const std::string best = all > own.size() ? fmt::format(", the best {} of {}", own.size(), all) : "";
    text += fmt::format("<div class=\"colors\"><h3>{}{}</h3>{}{}</div>\n",
                        to_string(static_cast<SolverFamily>(kind)), best, legend(results, own, colors),
                        profiles(results, own, colors, 520, 330));
  }
  return "<h3>Profiles by kind</h3>\n<div class=\"plots\">\n" + text + "</div>\n";
}

}  // namespace

std::string tolerance_section(const ResultTable& results, double tolerance,
                              const CampaignSettings& settings) {
  const std::vector<std::size_t> order = best_solvers(results, kCurves);
  const Colors colors(results, order, settings.solvers);
  std::string text = fmt::format("<h2>Tolerance {} <span class=\"muted\">({} error)</span></h2>\n",
                                 tolerance_text(tolerance), escape_html(settings.measure));
  text += summary(results, colors);
  text +=
      "<p class=\"note\">CPU time of cold solves on one core. Ratios are to the fastest solver of this table "
      "on the same "
      "problem, over the problems the solver solved.</p>\n";
  const bool many = results.solvers().size() > kCurves;
  text += "<div class=\"colors\">\n<h3>Performance profiles</h3>\n" + legend(results, order, colors) +
          profiles(results, order, colors, 1032, 380);
  if (many)
    text +=
        fmt::format("<p class=\"note\">The {} solvers that solve most; all are in the table.</p>\n", kCurves);
  text += "<div class=\"plots\">\n";
  text += against_size(results, order, colors, "CPU time, ms",
                       [](const CampaignRow& r) { return 1e3 * r.cpu_s; });
  text += against_size(results, order, colors, "iterations",
                       [](const CampaignRow& r) { return static_cast<double>(r.iterations); });
  text += "</div>\n<p class=\"note\">Full marks: solved; rings: not.</p>\n</div>\n";
  if (many) text += profiles_by_kind(results, settings.solvers);
  return text + "<h3>What was not solved, by class</h3>\n" + failures(results);
}

}  // namespace tribo::cli
