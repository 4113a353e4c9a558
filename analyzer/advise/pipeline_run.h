// What a schedule would take under given costs: iteration time in the steady state, where each
// rank's time goes, memory over time.
#pragma once

#include <cstdint>
#include <vector>

#include "advise/pipeline_costs.h"
#include "base/result.h"
#include "base/time.h"
#include "schedule/schedule.h"

namespace pleat::advise {

struct MemoryPoint {
    base::TraceTime time;
    std::int64_t bytes = 0;  // from this moment on
};

// Of the last iteration, per pipeline rank.
struct RankRun {
    base::Duration busy;         // compute and optimizer
    base::Duration idle;         // the rest of the iteration
    base::Duration sync;         // gradient sync, hidden or not
    base::Duration exposedSync;  // while the rank's device idles
    std::int64_t peakBytes = 0;  // parameters and activations
    std::vector<MemoryPoint> memory;
};

struct PipelineRun {
    base::Duration iteration;  // from one iteration's end to the next one's
    double idleFraction = 0;   // of all ranks' time
    std::vector<RankRun> ranks;
};

// As many iterations are run as it takes for the last to be like those that follow.
[[nodiscard]] base::Result<PipelineRun> predict(const schedule::Schedule& schedule,
                                                const PipelineCosts& costs,
                                                const SyncPolicy& policy);

}  // namespace pleat::advise
