// A run that never ran: a schedule simulated with given costs, turned into the measured task graph
// and annotated trace of one iteration. Known ground truth for bubbles and critical paths.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/accounting.h"
#include "graph/simulate.h"
#include "schedule/generators.h"

namespace pleat::testing {

struct SimulatedRun {
    trace::Trace trace;
    graph::TaskGraph graph;  // measured
    base::Interval window;
    std::vector<analysis::RankActivity> activities;
    std::vector<analysis::Partition> partitions;
};

// `edit` may change the duration and delay of every node before the run is laid out from `origin`.
using EditNode = std::function<void(graph::Node&)>;

[[nodiscard]] SimulatedRun simulatedRun(std::string_view schedule,
                                        const schedule::GeneratorOptions& options,
                                        const graph::CostModel& costs, const EditNode& edit = {});

}  // namespace pleat::testing
