// The time window an iteration is counted over. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/interval_set.h"
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
// (without ranges, one window of all device work); empty without device work either. O(n log n);
// an analysis takes them from its RunIndex (run_index.h) instead of finding them again.
[[nodiscard]] std::vector<IterationWindow> iterationWindows(const trace::Trace& trace);

}  // namespace pleat::graph
