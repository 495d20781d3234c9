#include "apps/tribo/campaign_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/tribo/campaign_conclusions.h"
#include "apps/tribo/campaign_html.h"
#include "apps/tribo/campaign_section.h"
#include "apps/tribo/campaign_stats.h"
#include "apps/tribo/page_style.h"
#include "apps/tribo/support.h"
#include "apps/tribo/svg_plot.h"

namespace tribo::cli {

namespace {

// Only what compare pages do not have.
constexpr const char* kCampaignStyle = R"css(
main { max-width: 1280px; }
h3 { margin: 22px 0 6px; }
.plots h3 { margin-top: 6px; }
.dot { fill-opacity: .75; }
.tight th, .tight td { padding: 6px 9px; }
.plots { grid-template-columns: repeat(auto-fill, minmax(min(460px, 100%), 1fr)); }
td.heat { text-align: right; background: color-mix(in srgb, var(--good) calc(var(--s) * 55%), var(--page)); }
tbody tr:hover td.heat { background: color-mix(in srgb, var(--good) calc(var(--s) * 55%), var(--panel)); }
td.wrap { white-space: normal; min-width: 230px; overflow-wrap: anywhere; }
.verdict { font-weight: 600; white-space: nowrap; }
.holds { color: var(--good); } .fails { color: var(--bad); } .open { color: var(--muted); }
.zero { color: var(--muted); }
a { color: var(--c0); }
nav { display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 8px 0 0; font-size: 14px; }
)css";

// ----- pages --------------------------------------------------------------------------------------------------------

std::string facts(const CampaignSettings& s, const std::vector<CampaignRow>& rows) {
  std::string text = "<div class=\"facts\">";
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("<span>{} <b>{}</b></span>", name, escape_html(value));
  };
  int false_claims = 0;
  std::vector<double> spreads;
  for (const CampaignRow& row : rows) {
    false_claims += row.outcome == Outcome::false_claim ? 1 : 0;
    if (row.spread) spreads.push_back(*row.spread);
  }
  std::sort(spreads.begin(), spreads.end());
  add("Solves", std::to_string(rows.size()));
  add("Measure", s.measure);
  add("Law", s.law);
  add("Time limit", fmt::format("{:g} s of CPU time", s.time_limit));
  add("False claims", std::to_string(false_claims));
  if (!spreads.empty())
    add("Spread of repeated times",
        fmt::format(
            "median {:.0f} %, 90 % below {:.0f} %", 100.0 * median_of(spreads),
            100.0 * spreads[static_cast<std::size_t>(0.9 * static_cast<double>(spreads.size() - 1))]));
  add("tribo", s.version);
  return text + "</div>\n";
}

std::string page(const std::string& title, const std::string& body) {
  std::string text =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>" +
      escape_html(title) + "</title>\n<style>";
  text += kPageStyle;
  text += kCampaignStyle;
  text += "</style></head>\n<body><main>\n" + body;
  text +=
      "<footer>Made by tribo campaign from results.csv; <code>tribo campaign --report</code> makes it "
      "again.</footer>\n"
      "</main>\n<script>";
  text += kPageScript;
  return text + "</script></body></html>\n";
}

std::string family_table(const std::vector<CampaignRow>& rows, double tolerance) {
  const ResultTable all(rows, tolerance);
  std::vector<std::string> titles{"Solver", "#all"};
  std::vector<ResultTable> tables;
  const std::vector<std::string> families = families_of(rows);
  for (const std::string& family : families) {
    titles.push_back("#" + family);
    tables.emplace_back(rows, tolerance, family);
  }
  std::string body;
  for (const std::size_t s : best_solvers(all, all.solvers().size())) {
    const std::string& name = all.solvers()[s];
    body += fmt::format("<tr><td>{}</td>", escape_html(name));
    const SolverFigures whole = figures_of(all, s);
    body += heat_cell(whole.share(), fmt::format("{:.1f} %", 100.0 * whole.share()));
    for (const ResultTable& own : tables) {
      const auto found = std::find(own.solvers().begin(), own.solvers().end(), name);
      if (found == own.solvers().end()) {
        body += "<td class=\"number zero\">-</td>";
        continue;
      }
      const SolverFigures f = figures_of(own, static_cast<std::size_t>(found - own.solvers().begin()));
      body += heat_cell(f.share(), fmt::format("{}/{}", f.solved, f.problems));
    }
    body += "</tr>\n";
  }
  return fmt::format("<h3>Solved at {}, by family</h3>\n", tolerance_text(tolerance)) +
         "<div class=\"tight\">" + table(titles, body) + "</div>\n";
}

std::string conclusion_section(const std::vector<CampaignRow>& rows) {
  std::string body;
  for (const Conclusion& c : conclusions_of(rows)) {
    const char* kind = c.verdict == Verdict::holds           ? "holds"
                       : c.verdict == Verdict::does_not_hold ? "fails"
                                                             : "open";
    body += fmt::format(
        "<tr><td class=\"wrap\">{}</td><td class=\"verdict {}\">{}</td><td class=\"wrap\">{}</td><td "
        "class=\"wrap\">{}</td><td class=\"wrap muted\">{}</td></tr>\n",
        escape_html(c.said.text), kind, to_string(c.verdict), escape_html(c.evidence),
        escape_html(c.said.figures), escape_html(c.rule));
  }
  return "<h2 id=\"conclusions\">The paper's conclusions beside what was measured</h2>\n<p "
         "class=\"note\">Acary, Brémond and "
         "Huber (2018), sections "
         "in brackets. Their problems, machine and time limits were others; the families here are shaped "
         "like theirs. Their figures are decoded from their plots, whose curves end at time ratios of 2 to "
         "100: shares solved are lower bounds. Each verdict follows from results.csv by the rule in the last "
         "column.</p>\n" +
         table({"Conclusion", "Here", "Measured", "The paper's figures", "Rule"}, body);
}

}  // namespace

std::vector<std::string> page_names(const std::vector<std::string>& families) {
  std::vector<std::string> names;
  for (const std::string& family : families) {
    std::string stem = "family-";
    for (const char c : family) {
      const bool plain =
          (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
      stem += plain ? c : '_';
    }
    std::string name = stem + ".html";
    for (int k = 2; std::find(names.begin(), names.end(), name) != names.end(); ++k)
      name = fmt::format("{}-{}.html", stem, k);
    names.push_back(std::move(name));
  }
  return names;
}

std::string overview_page(const CampaignSettings& settings, const std::vector<CampaignRow>& rows) {
  const std::vector<std::string> families = families_of(rows);
  const std::vector<double> tolerances = tolerances_of(rows);
  const ResultTable first(rows, tolerances.empty() ? 0.0 : tolerances.front());
  std::string body = fmt::format(
      "<h1>{} on {}</h1>\n<p class=\"muted\">A problem counts as solved when the certificate, recomputed "
      "from the impulses "
      "alone, is within the tolerance.</p>\n",
      counted(static_cast<long long>(first.solvers().size()), "solver"),
      counted(static_cast<long long>(first.problems().size()), "contact problem"));
  body += facts(settings, rows) + "<nav>";
  const std::vector<std::string> pages = page_names(families);
  for (std::size_t k = 0; k < families.size(); ++k)
    body += fmt::format("<a href=\"{}\">{}</a>", pages[k], escape_html(families[k]));
  body += "<a href=\"#conclusions\">the paper's conclusions</a></nav>\n<h2>Families</h2>\n";
  for (const double tolerance : tolerances) body += family_table(rows, tolerance);
  for (const double tolerance : tolerances)
    body += tolerance_section(ResultTable(rows, tolerance), tolerance, settings);
  body += conclusion_section(rows);
  return page("tribo campaign", body);
}

std::string family_page(const CampaignSettings& settings, const std::vector<CampaignRow>& rows,
                        const std::string& family) {
  std::vector<CampaignRow> own;
  for (const CampaignRow& row : rows) {
    if (row.family == family) own.push_back(row);
  }
  const std::vector<double> tolerances = tolerances_of(own);
  const ResultTable first(own, tolerances.empty() ? 0.0 : tolerances.front());
  std::string body = fmt::format(
      "<nav><a href=\"index.html\">all families</a></nav>\n<h1>{} <span class=\"muted\">{}</span></h1>\n",
      escape_html(family), counted(static_cast<long long>(first.problems().size()), "problem"));
  body += facts(settings, own);
  for (const double tolerance : tolerances)
    body += tolerance_section(ResultTable(own, tolerance), tolerance, settings);
  return page(family + " - tribo campaign", body);
}

void write_pages(const std::filesystem::path& folder, const CampaignSettings& settings,
                 const std::vector<CampaignRow>& rows) {
  const std::vector<std::string> families = families_of(rows), pages = page_names(families);
  for (std::size_t k = 0; k < families.size(); ++k)
    write_file(folder / pages[k], family_page(settings, rows, families[k]));
  write_file(folder / "index.html", overview_page(settings, rows));
}

}  // namespace tribo::cli
