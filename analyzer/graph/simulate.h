// A schedule and a cost model give a predicted task graph: what an iteration would take.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "graph/task_graph.h"
#include "schedule/schedule.h"

namespace pleat::graph {

// Costs of one microbatch over a rank's whole share of the model (all its chunks), so that
// schedules with different numbers of chunks compare; a chunk takes 1/v of it (the remainder of the
// division goes to the first chunks).
struct CostModel {
    base::Duration forward{1'000'000};
    base::Duration backward{
        2'000'000};                    // full backward; input gradient where the schedule splits it
    base::Duration weight{1'000'000};  // weight gradient, only where the schedule splits it
    base::Duration message{0};         // one hop between ranks
    base::Duration sync{0};            // gradient sync of a rank's whole share
};

struct SimulatedRank {
    base::Duration busy;  // compute
    // Largest number of microbatch activations alive at once, in units of one microbatch's
    // activations for the rank's whole share (M_a): chunks alive divided by v.
    double peakActivations = 0;
    std::vector<base::Duration>
        syncWindow;  // [chunk]: from its last backward to the end of backward on the rank
};

struct Simulation {
    TaskGraph graph;
    Times times;
    base::Duration makespan;  // of compute, messages and exposed sync, over the common window
    double bubbleFractionIdeal = 0;  // idle / ideal work (sum over ranks)
    double bubbleFractionTotal = 0;  // idle / total
    std::vector<SimulatedRank> ranks;
};

// Input error when the schedule is invalid.
[[nodiscard]] base::Result<Simulation> simulate(const schedule::Schedule& schedule,
                                                const CostModel& costs);

}  // namespace pleat::graph
