#include "apps/tribo/campaign_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/tribo/support.h"
#include "apps/tribo/svg_plot.h"

namespace tribo::cli {

namespace {

std::string head(const std::vector<std::string>& titles) {
  std::string text = "<thead><tr>";
  for (const std::string& title : titles) {
    const bool number = title.front() == '#';
    text += fmt::format("<th{}><button>{}</button></th>", number ? " class=\"number\"" : "",
                        escape_html(title.substr(number ? 1 : 0)));
  }
  return text + "</tr></thead>";
}

}  // namespace

std::string tolerance_text(double tolerance) {
  std::string text = fmt::format("{:.3e}", tolerance);
  const std::size_t e = text.find('e');
  std::string digits = text.substr(0, e), exponent = text.substr(e + 2);
  while (digits.back() == '0') digits.pop_back();
  if (digits.back() == '.') digits.pop_back();
  exponent.erase(0, std::min(exponent.find_first_not_of('0'), exponent.size() - 1));
  return digits + "e" + (text[e + 1] == '-' ? "-" : "") + exponent;
}

std::string swatch(std::size_t color) {
  return fmt::format("<i class=\"swatch\" style=\"background:var(--c{})\"></i>", color);
}

std::string number_cell(double value, const std::string& shown, const char* kind) {
  const std::string key = std::isfinite(value) ? fmt::format("{:.9g}", value) : "Infinity";
  return fmt::format("<td class=\"{}\" data-value=\"{}\">{}</td>", kind, key, shown);
}

std::string heat_cell(double share, const std::string& shown) {
  return fmt::format("<td class=\"heat\" style=\"--s:{:.3f}\" data-value=\"{:.6g}\">{}</td>", share, share,
                     shown);
}

std::string table(const std::vector<std::string>& titles, const std::string& body) {
  return "<div class=\"scroll\"><table>" + head(titles) + "<tbody>\n" + body + "</tbody></table></div>\n";
}

}  // namespace tribo::cli
