// The analyses as JSON, one object each, with the keys of docs/command_line.md;
// schemas/report.schema.json describes exactly what is emitted. Renders only. Pure; the text ends
// with a newline.
#pragma once

#include <string>

#include "analysis/compare.h"
#include "analysis/path_analysis.h"
#include "analysis/rank_path.h"
#include "analysis/run_analysis.h"
#include "analysis/run_info.h"
#include "analysis/what_if.h"
#include "graph/simulate.h"

namespace pleat::report {

[[nodiscard]] std::string renderJson(const analysis::RunAnalysis& analysis);  // pleat-report/1
[[nodiscard]] std::string renderJson(
    const analysis::PathAnalysis& analysis);                           // pleat-critical-path/1
[[nodiscard]] std::string renderJson(const analysis::RankPath& path);  // pleat-rank-path/1
[[nodiscard]] std::string renderJson(const analysis::RunInfo& info);   // pleat-info/1
[[nodiscard]] std::string renderJson(const analysis::WhatIf& answer);  // pleat-whatif/1
[[nodiscard]] std::string renderJson(const analysis::Comparison& comparison);  // pleat-diff/1
[[nodiscard]] std::string renderJson(const graph::Simulation& simulation);     // pleat-simulation/1

}  // namespace pleat::report
