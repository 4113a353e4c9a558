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
    Ideal,        // every task the mean of its kind over all ranks; nothing else takes time, and
                  // replicas do not wait for each other
    StageUsual,   // every task the median of its kind on its stage and rank
    Measured,     // every task and optimizer as measured
    Replicas,     // and replicas wait for each other in collectives
    Messages,     // and pipeline messages take their time
    Collectives,  // and collectives
    Data,         // and data loading
};
inline constexpr std::size_t kReplayLevelCount = 7;

// Which ranks train on the same data: those of one data-parallel coordinate.
using Replicas = std::vector<std::uint32_t>;  // [RankId index], 0, 1, …
[[nodiscard]] Replicas replicasOf(const trace::Trace& trace);

[[nodiscard]] bool isDataPhase(const trace::Trace& trace, const graph::Node& node);
[[nodiscard]] bool isOptimizer(const trace::Trace& trace, const graph::Node& node);

// Durations of every node at a level.
[[nodiscard]] std::vector<base::Duration> durationsAt(ReplayLevel level, const trace::Trace& trace,
                                                      const graph::TaskGraph& graph);

// Earliest times from `origin` without any node's own delay. Below Replicas a member of a
// collective waits for those of its own replica only.
[[nodiscard]] graph::Times replayWithoutDelays(ReplayLevel level, const Replicas& replicas,
                                               const graph::TaskGraph& graph,
                                               const std::vector<base::Duration>& durations,
                                               base::TraceTime origin);

}  // namespace pleat::analysis
