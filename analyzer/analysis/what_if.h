// What an iteration would take if some of its work were faster, slower or ideal: the run's graphs
// replayed with other durations. What `pleat whatif` renders. Definitions in docs/analysis.md. Pure
// functions; results are immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/bootstrap.h"
#include "analysis/iterations.h"
#include "analysis/suspects.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::analysis {

struct ScaledKey {
    std::string key;
    double factor = 1;  // >= 0, at most kLargestFactor
};
inline constexpr double kLargestFactor = 1000;

// Keys as toString(Suspect) writes them. First `ideal` takes ideal durations, then `scale`
// multiplies, one after the other, and what `keep` covers stays as recorded in spite of both.
struct WhatIfOptions {
    std::vector<IterationRange> iterations = {};  // none: all
    std::vector<std::string> ideal = {};
    std::vector<ScaledKey> scale = {};
    std::vector<std::string> keep = {};
};

struct WhatIfIteration {
    std::int32_t iteration = -1;
    base::Duration measured, replay, predicted;
};

// Durations are means over the iterations.
struct WhatIf {
    WhatIfOptions asked;
    base::Duration measured, replay;
    double replayError = 0;  // mean of |replay - measured| over mean measured
    // ReplaySummary: how much of the replay rests on repeating pauses.
    base::Duration withoutPauses;
    double pauseShare = 0;
    base::Duration predicted;
    double gain = 0;      // 1 - predicted / replay
    double slowdown = 0;  // replay / predicted
    // Of the mean prediction: its spread over iterations, from the prediction with pauses as
    // recorded to the one where they change along with the rest, wider by the replay error.
    std::optional<std::pair<base::Duration, base::Duration>> ci95;
    bool ofTimers = false;  // ReplayModel::ofTimers
    std::vector<WhatIfIteration> iterations;
    base::Diagnostics diagnostics;  // the trace's and the analysis' own
};

// Usage error for an iteration range that was not recorded, a key that matches nothing or a
// factor out of range. Input error if no complete iteration can be replayed.
[[nodiscard]] base::Result<WhatIf> analyseWhatIf(const graph::RunIndex& run,
                                                 const WhatIfOptions& options);

}  // namespace pleat::analysis
