// The critical path of one rank in one iteration, below the level of tasks: operators and calls of
// its host, launches, kernels, copies and waits. What `pleat critical-path --of-rank` renders, and
// `pleat critical-path` where nothing names tasks. Pure functions; results are immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "graph/run_index.h"
#include "trace/trace.h"

namespace pleat::analysis {

struct RankPathOptions {
    std::optional<std::int32_t> rank;       // number; none: the only one whose device was recorded
    std::optional<std::int32_t> iteration;  // none: the complete one closest to the median
};

struct RankPathPiece {
    std::string kind;  // host launch kernel communication copy synchronisation pause
    std::string name;  // of a launch and a pause: what it precedes; empty at the window's end
    std::optional<trace::LaneKind> laneKind;  // where it lies, or what it precedes
    std::int64_t lane = 0;                    // thread id, stream id
    base::Duration offset;                    // from the window's begin
    base::Duration length;
};

struct WorkSlack {
    std::string name;
    std::int64_t stream = 0;
    base::Duration offset, duration;
    base::Duration slack;  // how much longer it may take before the window's last event is later
    bool onPath = false;
};

struct RankPath {
    std::int32_t iteration = -1;
    std::int32_t rank = -1;  // number
    base::Duration length;
    std::map<std::string, base::Duration> byKind;  // sums to length
    std::vector<RankPathPiece> pieces;             // contiguous; lengths sum to length
    std::vector<std::size_t> longest;              // of pieces, longest first
    std::vector<WorkSlack> work;                   // least slack first, longer first among equals
    base::Diagnostics diagnostics;
};

// Without iteration ranges the window is all that the rank's host called and its device did. Usage
// error naming the ranks there are where one has to be chosen, or the one asked for is none of
// them; Input error where no device was recorded.
[[nodiscard]] base::Result<RankPath> analyseRankPath(const graph::RunIndex& run,
                                                     const RankPathOptions& options);

}  // namespace pleat::analysis
