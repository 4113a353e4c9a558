// One iteration in full: what a picture of its pipeline shows. Where a report gives sums over a
// run, this gives places: every rank's partition of the window, its bubble in gaps with their
// causes, the critical path and the slack of every node, and the schedule that was meant to run.
// Pure functions; results are immutable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/accounting.h"
#include "analysis/bubbles.h"
#include "analysis/critical_path.h"
#include "base/result.h"
#include "graph/measured_graph.h"
#include "graph/run_index.h"
#include "graph/simulate.h"
#include "graph/task_graph.h"
#include "trace/trace.h"

namespace pleat::analysis {

struct RankIteration {
    trace::RankId rank;
    Partition parts;
    std::vector<IdleGap> bubble;
};

struct IterationAnalysis {
    graph::IterationWindow window;
    std::vector<RankIteration> ranks;  // training ranks, ascending by number
    // Nothing, with the reason, in a trace without tasks and where the dependencies contradict each
    // other; then there is no path and no slack either.
    std::optional<graph::TaskGraph> graph;
    std::string withoutGraph;
    std::vector<PathPiece> path;  // contiguous over the window
    base::IdVector<graph::NodeTag, base::Duration> slack;
    // The schedule recognised, with every forward, backward and weight gradient as long as they
    // were on average and messages free; from time 0. Nothing where none is recognised.
    std::optional<graph::Simulation> ideal;
};

// The iteration asked for, else the complete one closest to the median. Input error where there is
// none; Usage error naming the iterations there are for one that was not recorded.
[[nodiscard]] base::Result<IterationAnalysis> analyseIteration(
    const graph::RunIndex& run, std::optional<std::int32_t> iteration);

}  // namespace pleat::analysis
