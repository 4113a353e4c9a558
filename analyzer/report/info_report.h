// What a trace holds, as text for a person. Renders only. Pure.
#pragma once

#include <string>

#include "analysis/run_info.h"

namespace pleat::report {

[[nodiscard]] std::string renderText(const analysis::RunInfo& info);

}  // namespace pleat::report
