// The critical path of one iteration as text for a person. Renders only. Pure.
#pragma once

#include <string>

#include "analysis/path_analysis.h"

namespace pleat::report {

// At most 40 pieces and 20 tasks, with a count of the rest.
[[nodiscard]] std::string renderText(const analysis::PathAnalysis& analysis);

}  // namespace pleat::report
