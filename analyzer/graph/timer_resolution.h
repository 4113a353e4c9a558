// How well the timers of a trace resolve time, read from where they contradict the order of what
// they measured: a message cannot leave before its task has ended, yet its timer may begin some
// microseconds before the task's does end. Such overlaps are noise of the timers, not parallel
// work, and nothing that is shorter can say which of two came first. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/diagnostics.h"
#include "base/time.h"
#include "trace/trace.h"

namespace pleat::graph {

struct TimerResolution {
    base::Duration value;  // the longest overlap that is short beside the tasks; 0 without any
    std::int64_t overlaps = 0;
    std::string example;  // the longest, in words

    // "timer_resolution", where there is any.
    void note(base::Diagnostics& diagnostics) const;
};

// O(n log n) in tasks and transfers.
[[nodiscard]] TimerResolution timerResolution(const trace::Trace& trace);

}  // namespace pleat::graph
