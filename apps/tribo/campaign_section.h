// What a campaign's page says of one tolerance: table, performance profiles, time and iterations against size, failures.
#pragma once

#include <string>

#include "apps/tribo/campaign_data.h"
#include "apps/tribo/campaign_stats.h"

namespace tribo::cli {

std::string tolerance_section(const ResultTable& results, double tolerance, const CampaignSettings& settings);

}  // namespace tribo::cli
