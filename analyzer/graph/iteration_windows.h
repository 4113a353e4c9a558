// The time window an iteration is counted over. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/diagnostics.h"
#include "base/interval_set.h"
#include "graph/device_kinds.h"
#include "trace/trace.h"

namespace pleat::graph {

// The common window of an iteration, one for all ranks, so that accounting and critical path speak
// of the same time. It begins with the iteration's first recorded work of any kind: where the rank
// that runs its first task begins the iteration (its recorded iteration range, else that task), or
// with a phase or transfer before that, as far as it does not reach into the iteration before. It
// ends with the last recorded end of the iteration on any rank, or where the next iteration's
// window begins when that is earlier: windows never overlap.
struct IterationWindow {
    std::int32_t iteration = -1;
    base::Interval window;
    bool complete = false;  // every training rank has a closed iteration range (where the trace has
                            // any) with as many tasks as in most iterations
    base::Duration unsure = {};  // how far its bounds may be wrong, as far as that is known
};

// Ascending. Without tasks, from one recorded iteration range to the next as devices see them
// (device_steps.h; without ranges, one window of all device work); empty without device work
// either. Of ndtimeline's timers, steps as the timeline was laid out (timer_events.h). O(n log n);
// an analysis takes them from its RunIndex (run_index.h) instead of finding them again.
[[nodiscard]] std::vector<IterationWindow> iterationWindows(const trace::Trace& trace);

// The same, with what has to be said of them: "work_before_iterations", "iteration_bounds_unsure".
[[nodiscard]] std::vector<IterationWindow> iterationWindows(const trace::Trace& trace,
                                                            const DeviceWorkKinds& kinds,
                                                            base::Diagnostics& diagnostics);

}  // namespace pleat::graph
