// The rows of a text report that say where each rank's time went. From analysis::kManyRanks ranks
// on they show the shape (analysis/rank_shape.h): slowest, median and fastest rank, and what stands
// out by pipeline rank, replica and rank. Renders only; pure.
#pragma once

#include <string>
#include <vector>

#include "analysis/run_analysis.h"

namespace pleat::report {

// `allRanks`: a row for every rank, however many there are.
[[nodiscard]] std::string renderRanks(const std::vector<analysis::RankSummary>& ranks,
                                      bool allRanks);

}  // namespace pleat::report
