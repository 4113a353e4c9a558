// What a trace holds, before any analysis: what `pleat info` renders. Pure functions; results are
// immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/time.h"
#include "graph/run_index.h"
#include "trace/trace.h"

namespace pleat::analysis {

struct ProcessInfo {
    trace::Rank rank;
    std::int64_t lanes = 0, events = 0, tasks = 0, transfers = 0;
    std::int64_t iterations = 0;  // distinct ones with a task or range of this rank
    std::optional<base::Duration> firstEvent, lastEvent;  // from the trace's begin; none: no events
    base::Duration endsEarlyBy;                           // from its last event to the trace's end
};

struct RunInfo {
    base::Duration length;               // first start to last end
    std::vector<ProcessInfo> processes;  // ranks by number, then other processes
    std::int64_t lanes = 0, events = 0, tasks = 0, transfers = 0;
    std::vector<std::int32_t> completeIterations, incompleteIterations;
    std::optional<trace::RecognisedSchedule> schedule;
    base::Diagnostics diagnostics;
};

[[nodiscard]] RunInfo describeRun(const graph::RunIndex& run);

}  // namespace pleat::analysis
