// The task graph of one recorded iteration, and the time window an iteration is counted over.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
#include "base/result.h"
#include "graph/task_graph.h"
#include "trace/trace.h"

namespace pleat::graph {

// The common window of an iteration, one for all ranks, so that accounting and critical path speak
// of the same time. It begins where the rank that runs the iteration's first task begins its
// iteration (its recorded iteration range, else that task) and ends with the last recorded end of
// the iteration on any rank, or where the next iteration's window begins when that is earlier:
// windows never overlap.
struct IterationWindow {
    std::int32_t iteration = -1;
    base::Interval window;
    bool complete = false;  // every training rank has a closed iteration range (where the trace has
                            // any) with as many tasks as in most iterations
};

// Ascending. Without tasks, from one recorded iteration range to the next as devices see them
// (without ranges, one window of all device work); empty without device work either.
[[nodiscard]] std::vector<IterationWindow> iterationWindows(const trace::Trace& trace);

// Nodes: the iteration's tasks, phases and transfers, clipped to the window. Edges: order of tasks
// and phases on a rank, order of transfers on a lane, the schedule's dependency rule
// (schedule/dependencies.h), matches, gradient sync before the optimizer. `delay` of a node is the
// measured pause after all it depends on (for nodes that depend on nothing, after the window's
// begin). So earliestTimes(graph, window.begin) is the replay of the iteration.
[[nodiscard]] base::Result<TaskGraph> measuredGraph(const trace::Trace& trace,
                                                    const IterationWindow& window);

// The measured graph's own prediction of the iteration it was made from. What lies between the last
// node and the window's end is a measured pause like the others and is part of both times; an error
// comes only from dependencies that the measured times contradict.
struct Replay {
    base::Duration measured;
    base::Duration predicted;
    double errorFraction = 0;  // |predicted - measured| / measured
};

[[nodiscard]] Replay replay(const TaskGraph& graph, const IterationWindow& window);
[[nodiscard]] base::Result<Replay> replay(const trace::Trace& trace, const IterationWindow& window);

}  // namespace pleat::graph
