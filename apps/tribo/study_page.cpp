#include "apps/tribo/study_page.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>

#include "apps/tribo/page_style.h"
#include "tribo/base/errors.h"
#include "tribo/version.h"

namespace tribo::cli {

namespace {

constexpr const char* kStudyStyle = R"css(
main { max-width: 1280px; }
td.wrap { white-space: normal; min-width: 180px; overflow-wrap: anywhere; }
.verdict { font-weight: 600; white-space: nowrap; }
.holds { color: var(--good); } .fails { color: var(--bad); } .open { color: var(--muted); }
)css";

std::string legend(const Plot& plot) {
  std::string text = "<div class=\"legend\">";
  for (const Series& series : plot.series) {
    text += fmt::format(
        "<span data-series=\"{0}\"><i class=\"swatch\" style=\"background:var(--c{0})\"></i>{1}</span>",
        series.color, escape_html(series.name));
  }
  return text + "</div>\n";
}

std::string claim_table(const std::vector<StudyResult>& results) {
  std::string body;
  for (const StudyResult& result : results) {
    for (const StudyClaim& c : result.finding.claims) {
      const char* kind = c.verdict == Verdict::holds           ? "holds"
                         : c.verdict == Verdict::does_not_hold ? "fails"
                                                               : "open";
      body += fmt::format(
          "<tr><td class=\"wrap\">{}</td><td class=\"wrap\">{}</td><td class=\"wrap\">{}</td><td "
          "class=\"verdict "
          "{}\">{}</td><td class=\"wrap muted\">{}</td><td><a href=\"#{}\">{}</a></td></tr>\n",
          escape_html(c.statement), escape_html(c.paper), escape_html(c.ours), kind, to_string(c.verdict),
          escape_html(c.why), result.figure->name, result.figure->name);
    }
  }
  return "<div class=\"scroll\"><table><thead><tr><th>Claim</th><th>The paper's "
         "value</th><th>Ours</th><th>Here</th>"
         "<th>Rule, and why</th><th>Figure</th></tr></thead><tbody>\n" +
         body + "</tbody></table></div>\n";
}

std::string number_table(const StudyTable& table) {
  std::string text = "<div class=\"scroll\"><table><thead><tr><th><button>case</button></th>";
  for (const std::string& column : table.columns)
    text += fmt::format("<th class=\"number\"><button>{}</button></th>", escape_html(column));
  text += "</tr></thead><tbody>\n";
  for (const StudyRow& row : table.rows) {
    text += fmt::format("<tr><td>{}</td>", escape_html(row.name));
    for (const double x : row.values) {
      text += fmt::format("<td class=\"number\" data-value=\"{}\">{}</td>",
                          std::isfinite(x) ? fmt::format("{:.9g}", x) : "Infinity",
                          std::isfinite(x) ? fmt::format("{:.4g}", x) : "-");
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

[[noreturn]] void bad_line(const std::filesystem::path& file, std::size_t line, const std::string& message) {
  throw InvalidInput(
      fmt::format("{}:{}: {}; remove the file to measure again", file.string(), line, message));
}

}  // namespace

std::string standalone_svg(const Plot& plot) {
  std::string svg = render_svg(plot);
  std::string style =
      "<style>svg{font-family:sans-serif;background:#fff}.grid{stroke:#e2e5ea}.mark{stroke:#667085;stroke-"
      "dasharray:4 4}"
      ".tick,.axis{fill:#667085;font-size:12px}.curve{fill:none;stroke:var(--c);stroke-width:2.2}.dot{fill:"
      "var(--c)}"
      ".hollow{fill:#fff;stroke:var(--c)}.name{font-size:12px}";
  constexpr const char* kColors[kSeriesColors] = {"#0b6bcb", "#d9560b", "#0a8f6c", "#b4499a",
                                                  "#a37400", "#2e9bd6", "#7a5af5", "#5f6b7a"};
  for (std::size_t k = 0; k < kSeriesColors; ++k) style += fmt::format(".c{}{{--c:{}}}", k, kColors[k]);
  style += "</style>";
  std::string names;
  for (std::size_t k = 0; k < plot.series.size(); ++k) {
    names += fmt::format("<text class=\"name\" x=\"{}\" y=\"{}\" fill=\"{}\">{}</text>", plot.width - 150,
                         26 + 15 * k, kColors[plot.series[k].color % kSeriesColors],
                         escape_html(plot.series[k].name));
  }
  const std::size_t open = svg.find('>');
  svg.insert(open + 1, style);
  if (svg.find("xmlns=") == std::string::npos) svg.insert(4, " xmlns=\"http://www.w3.org/2000/svg\"");
  return svg.insert(svg.rfind("</svg>"), names) + "\n";
}

std::string study_page(const Study& study, const std::vector<StudyResult>& results, bool quick) {
  std::string body = fmt::format("<h1>{}</h1>\n<p class=\"muted\">{}</p>\n", escape_html(study.title),
                                 escape_html(study.citation));
  if (quick) body += "<p class=\"note\">Quick run: fewer and shorter cases than the papers'.</p>\n";
  body += "<h2>Claims</h2>\n" + claim_table(results);
  for (const StudyResult& result : results) {
    body += fmt::format("<h2 id=\"{}\">{}</h2>\n", result.figure->name, escape_html(result.figure->title));
    if (!result.finding.plots.empty()) body += "<div class=\"plots\">\n";
    for (const StudyPlot& plot : result.finding.plots)
      body += fmt::format("<div><h3>{}</h3>{}{}</div>\n", escape_html(plot.plot.title), legend(plot.plot),
                          render_svg(plot.plot));
    if (!result.finding.plots.empty()) body += "</div>\n";
    if (!result.table.rows.empty()) body += number_table(result.table);
  }
  if (!study.missing.empty()) {
    body += "<h2>Not shown here</h2>\n<ul>\n";
    for (const std::string& line : study.missing) body += fmt::format("<li>{}</li>\n", escape_html(line));
    body += "</ul>\n";
  }
  std::string text =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\"><title>" +
      escape_html(study.title) + " - tribo</title>\n<style>";
  text += kPageStyle;
  text += kStudyStyle;
  text += "</style></head>\n<body><main>\n" + body +
          fmt::format(
              "<footer>Made by tribo {} with <code>tribo reproduce {}{}</code>.</footer>\n</main>\n<script>",
              version(), study.name, quick ? " --quick" : "");
  text += kPageScript;
  return text + "</script></body></html>\n";
}

std::string plot_file(const Study& study, const StudyFigure& figure, const StudyPlot& plot) {
  return fmt::format("{}-{}-{}.svg", study.name, figure.name, plot.name);
}

std::string study_markdown(const Study& study, const std::vector<StudyResult>& results, bool quick) {
  const auto cell = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.replace(at, 1, "\\|");
    return text;
  };
  std::string text = fmt::format("# {}\n{}.\n\n", study.title, study.citation);
  if (quick) text += "Quick run: fewer and shorter cases than the paper's.\n\n";
  std::string plots;
  for (const StudyResult& result : results) {
    if (result.finding.claims.empty() && result.finding.plots.empty()) continue;
    text += fmt::format("## {}\n", result.figure->title);
    if (!result.finding.claims.empty())
      text += "| claim | paper | ours | | by which rule, and why |\n|---|---|---|---|---|\n";
    for (const StudyClaim& c : result.finding.claims)
      text += fmt::format("| {} | {} | {} | {} | {} |\n", cell(c.statement), cell(c.paper), cell(c.ours),
                          to_string(c.verdict), cell(c.why));
    for (const StudyPlot& plot : result.finding.plots)
      text += fmt::format("\n![{}]({})", plot.plot.title, plot_file(study, *result.figure, plot));
    text += result.finding.plots.empty() ? "\n" : "\n\n";
  }
  if (!study.missing.empty()) text += "## Not shown here\n";
  for (const std::string& line : study.missing) text += fmt::format("- {}\n", line);
  return text + fmt::format("\nMade by `tribo reproduce {}{}`.\n", study.name, quick ? " --quick" : "");
}

std::string table_text(const StudyTable& table) {
  std::string text = "case";
  for (const std::string& column : table.columns) text += "," + column;
  text += '\n';
  for (const StudyRow& row : table.rows) {
    text += row.name;
    for (const double x : row.values) text += fmt::format(",{}", x);
    text += '\n';
  }
  return text;
}

StudyTable read_table(const std::filesystem::path& file, const std::vector<std::string>& columns) {
  StudyTable table{columns, {}};
  std::ifstream stream(file);
  if (!stream) return table;
  std::string head = "case", line;
  for (const std::string& column : columns) head += "," + column;
  if (!std::getline(stream, line) || line != head) return table;
  for (std::size_t number = 2; std::getline(stream, line); ++number) {
    StudyRow row;
    row.values.assign(columns.size(), 0.0);
    // From the end, so that names may have commas.
    for (std::size_t k = columns.size(); k-- > 0;) {
      const std::size_t comma = line.rfind(',');
      if (comma == std::string::npos)
        bad_line(file, number, fmt::format("{} numbers are needed", columns.size()));
      const char *begin = line.data() + comma + 1, *end = line.data() + line.size();
      const auto parsed = std::from_chars(begin, end, row.values[k]);
      if (parsed.ec != std::errc{} || parsed.ptr != end)
        bad_line(file, number, fmt::format("'{}' is no number", std::string(begin, end)));
      line.resize(comma);
    }
    row.name = line;
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tribo::cli
