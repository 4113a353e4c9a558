// The task graph of an iteration in which nothing names tasks: per rank the stretches of its own
// device work between communications, and the communications that relate ranks. One fidelity level
// of graph::TaskGraph beside the measured graph (measured_graph.h), replayed by the same code.
//
// Nodes: Work, what the rank's device computes and copies between two of its communications'
// begins or ends (its duration is the time it was busy; idle time within counts as the pause before
// it); Ready and Transfer as in the measured graph. Edges: a rank's stretches in order; a stretch
// to the communication that begins at its end; communications in order on a lane; a communication
// to the first stretch that begins, after the rank was idle, once it has ended. So a rank that only
// waited for a late one has no work for that time. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "graph/run_index.h"
#include "graph/task_graph.h"

namespace pleat::graph {

// Stretches of different ranks are alike when their ranks' communications in the iteration are the
// same in kind and order and as many of them had begun.
struct WorkPosition {
    std::uint64_t sequence = 0;  // of the rank's communications
    std::uint32_t begun = 0;
    friend auto operator<=>(const WorkPosition&, const WorkPosition&) = default;
};

struct WorkGraph {
    TaskGraph graph;
    base::IdVector<NodeTag, WorkPosition> positions;  // of Work nodes
};

// One per window, in their order. Linear in events and transfers but for sorting.
[[nodiscard]] std::vector<base::Result<WorkGraph>> workGraphs(
    const RunIndex& run, std::span<const IterationWindow> windows);

}  // namespace pleat::graph
