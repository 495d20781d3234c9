// The conclusions of Acary, Bremond and Huber (2018) beside what a campaign measured: each with the rule by which it is
// decided from the rows, so that nobody has to believe the verdict, and with the paper's own figures.
#pragma once

#include <string>
#include <vector>

#include "apps/tribo/campaign_data.h"

namespace tribo::cli {

enum class Verdict { holds, does_not_hold, not_measurable };
std::string_view to_string(Verdict verdict);

// What the paper says, with the section in brackets, and its figures, decoded from its plots: their curves end at a time
// ratio of 2 to 100, so that shares solved are lower bounds.
struct Statement {
  std::string text, figures;
};

struct Conclusion {
  Statement said;
  std::string rule;  // how it is decided here
  Verdict verdict = Verdict::not_measurable;
  std::string evidence;  // what was measured, or what is missing
};

std::vector<Conclusion> conclusions_of(const std::vector<CampaignRow>& rows);

}  // namespace tribo::cli
