// The critical path of one rank in one iteration as text for a person. Renders only. Pure.
#pragma once

#include <string>

#include "analysis/rank_path.h"

namespace pleat::report {

// The 20 longest pieces and the 20 pieces of work with the least slack, with a count of the rest.
[[nodiscard]] std::string renderText(const analysis::RankPath& path);

}  // namespace pleat::report
