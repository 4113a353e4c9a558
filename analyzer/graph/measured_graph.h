// The task graph of one recorded iteration.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "graph/iteration_windows.h"
#include "graph/run_index.h"
#include "graph/task_graph.h"
#include "trace/trace.h"

namespace pleat::graph {

// Nodes: the iteration's tasks, phases and transfers, clipped to the window. Edges: order of tasks
// and phases on a rank, order of transfers on a lane, the schedule's dependency rule
// (schedule/dependencies.h), matches, gradient sync before the optimizer. `delay` of a node is the
// measured pause after all it depends on (for nodes that depend on nothing, after the window's
// begin). So earliestTimes(graph, window.begin) is the replay of the iteration.
[[nodiscard]] base::Result<TaskGraph> measuredGraph(const RunIndex& run,
                                                    const IterationWindow& window);

// The same of several windows that follow each other, one at least: a rank goes on with the next
// iteration when it has done its part of the one before, so work that one leaves over holds up the
// next. Only the outer ends are clipped.
[[nodiscard]] base::Result<TaskGraph> measuredGraph(const RunIndex& run,
                                                    std::span<const IterationWindow> windows);

// The measured graph's own prediction of the iteration it was made from. What lies between the last
// node and the window's end is a measured pause like the others and is part of both times; an error
// comes only from dependencies that the measured times contradict.
struct Replay {
    base::Duration measured;
    base::Duration predicted;
    double errorFraction = 0;  // |predicted - measured| / measured
};

[[nodiscard]] Replay replay(const TaskGraph& graph, const IterationWindow& window);
[[nodiscard]] base::Result<Replay> replay(const RunIndex& run, const IterationWindow& window);

}  // namespace pleat::graph
