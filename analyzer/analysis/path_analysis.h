// The critical path of one iteration with its attribution and the slack of its tasks: what `pleat
// critical-path` renders. Pure functions; results are immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::analysis {

struct PathOptions {
    std::optional<std::int32_t> iteration;  // none: the complete one closest to the median
};

// Neighbouring pieces of one kind, rank and stage.
struct PathRun {
    std::string kind;
    std::int32_t rank = -1;  // number; -1 unknown
    std::int32_t stage = -1;
    std::int64_t pieces = 0;
    base::Duration offset;  // from the window's begin
    base::Duration length;
};

struct TaskSlack {
    std::string name;  // its action, e.g. 2F0; optimizer, data
    std::int32_t rank = -1;
    base::Duration duration;
    base::Duration slack;  // how much longer it may take before the iteration does
};

struct PathAnalysis {
    std::int32_t iteration = -1;
    PathSummary summary;
    ReplaySummary replay;           // of this iteration
    std::vector<PathRun> runs;      // contiguous; lengths sum to summary.length
    std::vector<TaskSlack> tasks;   // least slack first, longer first among equals
    base::Diagnostics diagnostics;  // the trace's
};

// Input error without a complete iteration or a usable graph. Usage error for an iteration that was
// not recorded; it names the recorded ones.
[[nodiscard]] base::Result<PathAnalysis> analysePath(const graph::RunIndex& run,
                                                     const PathOptions& options);

}  // namespace pleat::analysis
