// The pages of a campaign, self-contained HTML made from its rows and settings alone: one for all families and one per
// family, with tables, performance profiles, time and iterations against size, failures, and the paper's conclusions
// beside what was measured.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/tribo/campaign_data.h"

namespace tribo::cli {

std::string overview_page(const CampaignSettings& settings, const std::vector<CampaignRow>& rows);
std::string family_page(const CampaignSettings& settings, const std::vector<CampaignRow>& rows,
                        const std::string& family);
// The names of the families' pages, all different.
std::vector<std::string> page_names(const std::vector<std::string>& families);

// Writes index.html and the pages of the families into the folder.
void write_pages(const std::filesystem::path& folder, const CampaignSettings& settings,
                 const std::vector<CampaignRow>& rows);

}  // namespace tribo::cli
