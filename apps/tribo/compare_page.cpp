#include "apps/tribo/compare_page.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>

#include "apps/tribo/page_style.h"
#include "apps/tribo/support.h"
#include "apps/tribo/svg_plot.h"
#include "tribo/version.h"

namespace tribo::cli {

namespace {

std::size_t color_of(std::size_t solver) { return solver % kSeriesColors; }

std::string swatch(std::size_t solver) {
  return fmt::format("<i class=\"swatch\" style=\"background:var(--c{})\"></i>", color_of(solver));
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string legend(const Comparison& comparison) {
  std::string text = "<div class=\"legend\">";
  for (std::size_t s = 0; s < comparison.solvers.size(); ++s) {
    text += fmt::format("<span data-series=\"{}\">{}{}</span>", color_of(s), swatch(s),
                        escape_html(comparison.solvers[s]));
  }
  return text + "</div>\n";
}

std::string header(const Comparison& c) {
  std::string facts;
  const auto add = [&](const char* name, const std::string& value) {
    facts += fmt::format("<span>{} <b>{}</b></span>", name, escape_html(value));
  };
  add("Problems", std::to_string(c.problems.size()));
  if (!c.skipped.empty()) add("Skipped", std::to_string(c.skipped.size()));
  add("Tolerance", fmt::format("{:g} ({})", c.settings.tolerance, to_string(c.settings.measure)));
  add("Law", c.settings.law == Law::exact ? "exact" : "convex");
  add("Time limit", fmt::format("{:g} s", c.settings.time_limit));
  add("Repetitions", std::to_string(c.repeat));
  if (const std::string processor = processor_name(); !processor.empty()) add("Processor", processor);
  const std::time_t now = std::time(nullptr);
  add("Made", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(now)));
  return fmt::format(
      "<h1>{} on {}</h1>\n<p class=\"muted\">A problem counts as solved when the independent certificate, "
      "recomputed from the impulses alone, is within the tolerance.</p>\n<div class=\"facts\">{}</div>\n",
      counted(c.solvers.size(), "solver"), counted(c.problems.size(), "contact problem"), facts);
}

// A table head whose columns can be sorted; titles starting with '#' are numbers.
std::string sortable_head(const std::vector<std::string>& titles) {
  std::string text = "<thead><tr>";
  for (const std::string& title : titles) {
    const bool number = title.front() == '#';
    text += fmt::format("<th{}><button>{}</button></th>", number ? " class=\"number\"" : "",
                        escape_html(title.substr(number ? 1 : 0)));
  }
  return text + "</tr></thead>";
}

std::string number_cell(double value, const std::string& shown) {
  // Infinity sorts last; it is not a number that JavaScript would parse from "inf".
  const std::string key = std::isfinite(value) ? fmt::format("{:.9g}", value) : "Infinity";
  return fmt::format("<td class=\"number\" data-value=\"{}\">{}</td>", key, shown);
}

std::string summary_section(const Comparison& c) {
  std::string text =
      "<h2>Summary</h2>\n<div class=\"scroll\"><table>" +
      sortable_head({"Solver", "#Solved", "#Fastest on", "#Median ms", "#Mean slowdown", "Not solved"}) +
      "<tbody>\n";
  for (std::size_t s = 0; s < c.solvers.size(); ++s) {
    const SolverSummary summary = summarize(c, s);
    const double share = static_cast<double>(summary.solved) / static_cast<double>(c.problems.size());
    text += fmt::format("<tr><td>{}{}</td>", swatch(s), escape_html(c.solvers[s]));
    text += number_cell(summary.solved,
                        fmt::format("{} of {}<span class=\"share\" style=\"color:var(--c{})\"><i style=\""
                                    "width:{:.1f}%\"></i></span>",
                                    summary.solved, c.problems.size(), color_of(s), 100.0 * share));
    text += number_cell(summary.fastest, std::to_string(summary.fastest));
    text += number_cell(summary.median_ms, format_ms(summary.median_ms));
    text +=
        number_cell(summary.slowdown, summary.solved > 0 ? fmt::format("{:.3g}×", summary.slowdown) : "-");
    text += fmt::format("<td class=\"muted\">{}</td></tr>\n",
                        summary.failures.empty() ? "none" : summary.failures);
  }
  return text +
         "</tbody></table></div>\n<p class=\"note\">CPU time of cold solves. Median over the problems a "
         "solver solved; mean slowdown is the geometric mean of its time over the best solver's, on the same "
         "problems.</p>\n";
}

std::string profile_section(const Comparison& c) {
  Plot plot;
  plot.title = "Performance profiles: share of problems solved against the time ratio to the best solver";
  plot.width = 1032;
  plot.height = 400;
  double largest = 1.0;
  for (std::size_t s = 0; s < c.solvers.size(); ++s) {
    const std::vector<double> ratios = performance_ratios(c, s);
    if (!ratios.empty()) largest = std::max(largest, ratios.back());
  }
  plot.x = {"τ: time relative to the best solver", 1.0, std::max(10.0, 1.3 * largest), true};
  plot.y = {"share of problems solved within τ", 0.0, 1.0, false};
  for (std::size_t s = 0; s < c.solvers.size(); ++s) {
    Series series{c.solvers[s], color_of(s), {}, {}, {}, {}, {}};
    double height = 0.0;
    series.line.emplace_back(plot.x.lowest, 0.0);
    for (const double ratio : performance_ratios(c, s)) {
      series.line.emplace_back(ratio, height);
      height += 1.0 / static_cast<double>(c.problems.size());
      series.line.emplace_back(ratio, height);
    }
    series.line.emplace_back(plot.x.highest, height);
    plot.series.push_back(std::move(series));
  }
  return fmt::format(
      "<h2>Performance profiles</h2>\n<p class=\"note\">Dolan and Moré: the height of a curve at τ is the "
      "share of all problems that the solver solves in at most τ times the time of the best one. Left edge: "
      "how often it is the fastest. Right edge: how often it succeeds at all.</p>\n{}<div>{}</div>\n",
      legend(c), render_svg(plot));
}

// At most `most` points, evenly spread over the logarithm of the place; first and last are kept.
std::vector<std::pair<double, double>> thinned(const std::vector<std::pair<double, double>>& points,
                                               std::size_t most) {
  if (points.size() <= most) return points;
  std::vector<std::pair<double, double>> kept;
  std::size_t next = 0;
  const double step = std::log(static_cast<double>(points.size())) / static_cast<double>(most - 1);
  for (std::size_t k = 0; k < most; ++k) {
    const auto place =
        std::min(points.size() - 1, static_cast<std::size_t>(std::lround(std::exp(step * k))) - 1);
    if (place < next) continue;
    kept.push_back(points[place]);
    next = place + 1;
  }
  return kept;
}

std::string history_plot(const Comparison& c, std::size_t problem, bool by_time) {
  Plot plot;
  plot.title = "Error of " + c.problems[problem].name;
  plot.width = 480;
  plot.height = 320;
  plot.y.label = fmt::format("{} error", to_string(c.settings.measure));
  plot.x.label = by_time ? "time, ms" : "iteration";
  double x_low = 1e300, x_high = 0.0, y_low = c.settings.tolerance, y_high = c.settings.tolerance;
  for (std::size_t s = 0; s < c.solvers.size(); ++s) {
    Series series{c.solvers[s], color_of(s), {}, {}, {}, {}, {}};
    for (const Progress& p : c.run(problem, s).history) {
      const double x = by_time ? 1e3 * p.seconds : static_cast<double>(p.iteration);
      // Logarithms: the start itself (iteration 0) has no place, nor have exact zeros.
      if (p.iteration == 0 || !(x > 0.0) || !std::isfinite(p.error)) continue;
      const double error = std::max(p.error, 1e-3 * c.settings.tolerance);
      series.line.emplace_back(x, error);
      x_low = std::min(x_low, x);
      x_high = std::max(x_high, x);
      y_low = std::min(y_low, error);
      y_high = std::max(y_high, error);
    }
    series.line = thinned(series.line, 400);
    if (!series.line.empty()) {
      (c.run(problem, s).solved() ? series.dots : series.hollow).push_back(series.line.back());
    }
    plot.series.push_back(std::move(series));
  }
  if (x_high == 0.0) x_low = x_high = 1.0;
  fit_decades(plot.x, x_low, x_high);
  fit_decades(plot.y, y_low, std::min(y_high, 1e6));
  plot.horizontal_marks.emplace_back(c.settings.tolerance, "tolerance");
  return fmt::format("<div><h3>{} <span class=\"muted\">{}</span></h3>{}</div>\n",
                     escape_html(c.problems[problem].name), counted(c.problems[problem].contacts, "contact"),
                     render_svg(plot));
}

std::string history_section(const Comparison& c) {
  std::string by_time, by_iteration;
  for (std::size_t p = 0; p < c.problems.size(); ++p) {
    by_time += history_plot(c, p, true);
    by_iteration += history_plot(c, p, false);
  }
  return fmt::format(
      "<h2>Convergence</h2>\n<p class=\"note\">The error of every checked iterate against wall-clock time or "
      "iterations. A full dot: the tolerance was reached; a ring: the solver gave up there.</p>\n{}"
      "<div class=\"switch\"><button aria-pressed=\"true\" data-shows=\"by-time\">by time</button>"
      "<button aria-pressed=\"false\" data-shows=\"by-iteration\">by iteration</button></div>\n"
      "<div class=\"plots\" id=\"by-time\">\n{}</div>\n"
      "<div class=\"plots\" id=\"by-iteration\" hidden>\n{}</div>\n",
      legend(c), by_time, by_iteration);
}

std::string accuracy_section(const Comparison& c) {
  Plot plot;
  plot.title = "Final error against CPU time, one mark per solve";
  plot.width = 1032;
  plot.height = 400;
  plot.x.label = "CPU time, ms";
  plot.y.label = fmt::format("{} error", to_string(c.settings.measure));
  const double floor = 1e-4 * c.settings.tolerance;
  double x_low = 1e300, x_high = 0.0, y_low = c.settings.tolerance, y_high = c.settings.tolerance;
  for (std::size_t s = 0; s < c.solvers.size(); ++s) {
    Series series{c.solvers[s], color_of(s), {}, {}, {}, {}, {}};
    for (std::size_t p = 0; p < c.problems.size(); ++p) {
      const Run& run = c.run(p, s);
      const double error = value_of(run.certificate, c.settings.measure);
      if (!std::isfinite(error)) continue;
      const std::pair<double, double> point(std::max(run.cpu_ms, 1e-3), std::max(error, floor));
      (run.solved() ? series.dots : series.hollow).push_back(point);
      (run.solved() ? series.dot_names : series.hollow_names)
          .push_back(fmt::format("{} on {}: {} ms, error {}", c.solvers[s], c.problems[p].name,
                                 format_ms(run.cpu_ms), format_error(error)));
      x_low = std::min(x_low, point.first);
      x_high = std::max(x_high, point.first);
      y_low = std::min(y_low, point.second);
      y_high = std::max(y_high, point.second);
    }
    plot.series.push_back(std::move(series));
  }
  if (x_high == 0.0) x_low = x_high = 1.0;
  fit_decades(plot.x, x_low, x_high);
  fit_decades(plot.y, y_low, std::min(y_high, 1e6));
  plot.horizontal_marks.emplace_back(c.settings.tolerance, "tolerance");
  return fmt::format(
      "<h2>Accuracy and time</h2>\n<p class=\"note\">One mark per solve: full where the tolerance was "
      "reached, a ring where it was not. Hover for the problem.</p>\n{}<div>{}</div>\n",
      legend(c), render_svg(plot));
}

std::string times_section(const Comparison& c) {
  std::vector<std::string> titles = {"Problem", "#Contacts"};
  for (const std::string& solver : c.solvers) titles.push_back("#" + solver);
  std::string text =
      "<h2>Times</h2>\n<p class=\"note\">CPU milliseconds; where a solver failed, its status and the error "
      "it reached. Click a title to sort.</p>\n<div class=\"scroll\"><table>" +
      sortable_head(titles) + "<tbody>\n";
  for (std::size_t p = 0; p < c.problems.size(); ++p) {
    text += fmt::format("<tr><td>{}</td>{}", escape_html(c.problems[p].name),
                        number_cell(c.problems[p].contacts, std::to_string(c.problems[p].contacts)));
    for (std::size_t s = 0; s < c.solvers.size(); ++s) {
      const Run& run = c.run(p, s);
      const double error = value_of(run.certificate, c.settings.measure);
      if (!run.solved()) {
        text += number_cell(
            std::numeric_limits<double>::infinity(),
            fmt::format("<span class=\"failed\" title=\"{} iterations, {} ms\">{} {}</span>", run.iterations,
                        format_ms(run.cpu_ms), to_string(run.status), format_error(error)));
        continue;
      }
      const bool best = run.cpu_ms <= c.best_ms(p) && c.solvers.size() > 1;
      text += number_cell(run.cpu_ms, fmt::format("<span{} title=\"{} iterations, error {}\">{}</span>",
                                                  best ? " class=\"best\"" : "", run.iterations,
                                                  format_error(error), format_ms(run.cpu_ms)));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string details_section(const Comparison& c) {
  std::string text = "<details><summary>All measurements</summary><div class=\"scroll\"><table>" +
                     sortable_head({"Problem", "Solver", "Status", "#Iterations", "#Factorizations",
                                    "#CPU ms", "#Error", "#FCLIB error", "#Siconos error", "#Momentum",
                                    "#Penetration m/s", "#Creep m/s", "#Complementarity J"}) +
                     "<tbody>\n";
  const auto error_cell = [](double value) { return number_cell(value, format_error(value)); };
  for (std::size_t p = 0; p < c.problems.size(); ++p) {
    for (std::size_t s = 0; s < c.solvers.size(); ++s) {
      const Run& run = c.run(p, s);
      const Certificate& certificate = run.certificate;
      text += fmt::format("<tr><td>{}</td><td>{}{}</td><td{}>{}</td>", escape_html(c.problems[p].name),
                          swatch(s), escape_html(c.solvers[s]), run.solved() ? "" : " class=\"failed\"",
                          to_string(run.status));
      text += number_cell(run.iterations, std::to_string(run.iterations));
      text += number_cell(run.factorizations, std::to_string(run.factorizations));
      text += number_cell(run.cpu_ms, format_ms(run.cpu_ms));
      for (const double value : {certificate.error.value, certificate.fclib_error, certificate.siconos_error,
                                 certificate.momentum, certificate.penetration_velocity.value,
                                 certificate.stick_slip_velocity.value, certificate.complementarity.value}) {
        text += error_cell(value);
      }
      text += "</tr>\n";
    }
  }
  return text + "</tbody></table></div></details>\n";
}

std::string skipped_section(const Comparison& c) {
  if (c.skipped.empty()) return {};
  std::string text = "<h2>Skipped files</h2>\n<ul class=\"note\">";
  for (const SkippedFile& file : c.skipped) text += fmt::format("<li>{}</li>", escape_html(file.reason));
  return text + "</ul>\n";
}

}  // namespace

std::string compare_page(const Comparison& comparison) {
  const bool has_histories = std::any_of(comparison.runs.begin(), comparison.runs.end(),
                                         [](const Run& run) { return !run.history.empty(); });
  std::string page =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>tribo compare</title>\n<style>";
  page += kPageStyle;
  page += "</style></head>\n<body><main>\n";
  page += header(comparison);
  page += summary_section(comparison);
  page += profile_section(comparison);
  page += has_histories ? history_section(comparison) : accuracy_section(comparison);
  page += times_section(comparison);
  page += details_section(comparison);
  page += skipped_section(comparison);
  page += fmt::format("<footer>Written by tribo {} compare.</footer>\n</main>\n<script>", version());
  page += kPageScript;
  page += "</script></body></html>\n";
  return page;
}

}  // namespace tribo::cli
