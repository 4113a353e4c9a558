// The ladder of replays behind bubble attribution: the same task graph without host delays, with
// durations from ideal (lowest level) to measured (highest). Each level differs from the one before
// by one imperfection. Pure; immutable after construction.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "graph/task_graph.h"
#include "trace/trace.h"

namespace pleat::analysis {

enum class ReplayLevel : std::uint8_t {
    Ideal,        // every task the mean of its kind over all ranks; nothing else takes time
    StageUsual,   // every task the median of its kind on its stage and rank
    Measured,     // every task and optimizer as measured
    Messages,     // and pipeline messages take their time
    Collectives,  // and collectives
    Data,         // and data loading
};
inline constexpr std::size_t kReplayLevelCount = 6;

[[nodiscard]] bool isDataPhase(const trace::Trace& trace, const graph::Node& node);
[[nodiscard]] bool isOptimizer(const trace::Trace& trace, const graph::Node& node);

// Durations of every node at a level.
[[nodiscard]] std::vector<base::Duration> durationsAt(ReplayLevel level, const trace::Trace& trace,
                                                      const graph::TaskGraph& graph);

// Earliest times from `origin` without any node's own delay.
[[nodiscard]] graph::Times replayWithoutDelays(const graph::TaskGraph& graph,
                                               const std::vector<base::Duration>& durations,
                                               base::TraceTime origin);

}  // namespace pleat::analysis
