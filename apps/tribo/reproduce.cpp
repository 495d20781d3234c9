// tribo reproduce: the figures and tables of the papers, measured again and judged.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "apps/tribo/commands.h"
#include "apps/tribo/progress.h"
#include "apps/tribo/study.h"
#include "apps/tribo/study_page.h"
#include "apps/tribo/text_table.h"
#include "tribo/base/errors.h"

namespace tribo::cli {

namespace {

namespace fs = std::filesystem;

struct ReproduceCommand {
  std::string study, data, out = "papers";
  std::vector<std::string> figures;
  bool quick = false, again = false, list = false;

  ExitCode run() const;

 private:
  std::vector<const StudyFigure*> chosen(const Study& found) const;
  StudyTable measure(const Study& found, const StudyFigure& figure, const StudyOptions& options,
                     ProgressBar& bar, std::vector<std::string>& failures) const;
  fs::path file_of(const Study& found, const StudyFigure& figure, const std::string& ending) const {
    return fs::path(out) / fmt::format("{}-{}{}", found.name, figure.name, ending);
  }
};

std::vector<const StudyFigure*> ReproduceCommand::chosen(const Study& found) const {
  std::vector<const StudyFigure*> list_of;
  std::vector<std::string> names;
  for (const StudyFigure& figure : found.figures) names.push_back(figure.name);
  for (const std::string& name : figures)
    list_of.push_back(&found.figures[index_of_name("figure", name, names)]);
  if (figures.empty()) {
    for (const StudyFigure& figure : found.figures) list_of.push_back(&figure);
  }
  return list_of;
}

// The table on disk is whole after every case: a run that is stopped loses the case it was at.
StudyTable ReproduceCommand::measure(const Study& found, const StudyFigure& figure,
                                     const StudyOptions& options, ProgressBar& bar,
                                     std::vector<std::string>& failures) const {
  const fs::path file = file_of(found, figure, ".csv");
  StudyTable known = again ? StudyTable{figure.columns, {}} : read_table(file, figure.columns);
  StudyTable table{figure.columns, {}};
  for (const StudyCase& one : figure.cases(options)) {
    if (const StudyRow* row = known.find(one.name)) {
      table.rows.push_back(*row);
      continue;
    }
    bar.show(fmt::format("{} {}: {}", found.name, figure.name, one.name));
    StudyRow row{one.name, {}};
    try {
      row.values = one.measure();
    } catch (const InvalidInput& error) {  // a simulation that left the finite numbers is a result, too
      failures.push_back(fmt::format("{} {}: {}", figure.name, one.name, error.what()));
      row.values.assign(figure.columns.size(), std::numeric_limits<double>::quiet_NaN());
    }
    if (row.values.size() != figure.columns.size())
      throw std::logic_error(fmt::format("{} {}: {} numbers for {} columns", found.name, figure.name,
                                         row.values.size(), figure.columns.size()));
    table.rows.push_back(row);
    known.rows.push_back(row);
    write_file(file, table_text(known));
    bar.advance();
  }
  return table;
}

void list_studies() {
  std::string text;
  for (const Study& study : study_catalogue()) {
    text += fmt::format("{}  {}\n", study.name, study.citation);
    for (const StudyFigure& figure : study.figures)
      text += fmt::format("    {:<16}{}\n", figure.name, figure.title);
  }
  fmt::print("{}", text);
}

void print_claims(const std::vector<StudyResult>& results) {
  using Align = TextTable::Align;
  TextTable table({{"claim", Align::left}, {"paper", Align::left}, {"ours", Align::left}, {"", Align::left}});
  for (const StudyResult& result : results) {
    for (const StudyClaim& c : result.finding.claims)
      table.add_row({c.statement, c.paper, c.ours, std::string(to_string(c.verdict))});
  }
  fmt::print("{}", table.str());
}

ExitCode ReproduceCommand::run() const {
  if (list) {
    list_studies();
    return ExitCode::success;
  }
  if (study.empty())
    throw InvalidInput("name a study; 'tribo reproduce --list' shows them and their figures");
  const std::vector<Study> all = study_catalogue();
  std::vector<std::string> names;
  for (const Study& one : all) names.push_back(one.name);
  const Study& found = all[index_of_name("study", study, names)];
  const std::vector<const StudyFigure*> figures_of_run = chosen(found);
  const StudyOptions options{quick, data};
  int cases = 0, done = 0;
  for (const StudyFigure* figure : figures_of_run) {
    const StudyTable known =
        again ? StudyTable{} : read_table(file_of(found, *figure, ".csv"), figure->columns);
    for (const StudyCase& one : figure->cases(options)) {
      ++cases;
      done += known.find(one.name) != nullptr ? 1 : 0;
    }
  }
  make_folder("--out", out);
  std::vector<StudyResult> results;
  std::vector<std::string> failures;
  {
    ProgressBar bar(cases, done);
    for (const StudyFigure* figure : figures_of_run)
      results.push_back({figure, measure(found, *figure, options, bar, failures), {}});
  }
  for (StudyResult& result : results) {
    result.finding = result.figure->judge(result.table, options);
    for (const StudyPlot& plot : result.finding.plots)
      write_file(fs::path(out) / plot_file(found, *result.figure, plot), standalone_svg(plot.plot));
  }
  const fs::path page = fs::path(out) / (found.name + ".html");
  write_file(page, study_page(found, results, quick));
  write_file(fs::path(out) / (found.name + ".md"), study_markdown(found, results, quick));
  for (const std::string& failure : failures) print_error(failure);
  print_claims(results);
  fmt::print("page: {}\n", page.string());
  return ExitCode::success;
}

}  // namespace

void add_reproduce_command(CLI::App& app, ExitCode& exit_code) {
  CLI::App* command =
      app.add_subcommand("reproduce", "Measure the figures of a paper again and judge its claims");
  const auto state = std::make_shared<ReproduceCommand>();
  command
      ->add_option("STUDY", state->study,
                   "lee2024, acary2018, mangoni, carpentier2024, castro, friction or reality")
      ->type_name("");
  command->add_option("FIGURE", state->figures, "Only these of its figures (default: all)")->type_name("");
  command->add_flag("--quick", state->quick, "Fewer and shorter cases: minutes in place of hours");
  command
      ->add_option(
          "--data", state->data,
          "What the study reads: reality: measured tosses (.h5); acary2018: the folder of a campaign")
      ->type_name("PATH");
  command->add_option("-o,--out", state->out, "Folder of tables, plots and the page")
      ->type_name("DIR")
      ->capture_default_str();
  command->add_flag("--again", state->again, "Measure everything again, also what is in the folder already");
  command->add_flag("--list", state->list, "List the studies and their figures");
  command->footer(
      "Writes DIR/STUDY-FIGURE.csv after every case, DIR/STUDY-FIGURE-*.svg and DIR/STUDY.html (and .md) "
      "with the "
      "claims: the paper's\n"
      "value, ours, whether it holds and by which rule. A run that was stopped goes on where it was. Exit "
      "code 0 when the page\n"
      "was made, whatever the verdicts; 2 for invalid input.\n"
      "Examples:\n"
      "  tribo reproduce castro fig7 --quick\n"
      "  tribo reproduce reality --data cube_tosses.h5");
  command->callback([state, &exit_code] { exit_code = state->run(); });
}

}  // namespace tribo::cli
