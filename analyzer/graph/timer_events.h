// The events of coarse timers, step by step, and what must be known of the whole timeline before a
// step can be made a graph. The step before timer_graph.cpp, apart so that each file has one task.
// Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/interval_set.h"
#include "trace/timers.h"
#include "trace/trace.h"

namespace pleat::graph {

struct TimerEvent {
    const trace::Timer* timer = nullptr;
    std::int64_t sequence = 0;  // 0 … trace::kMaximumNumber
    trace::RankId rank;
    base::Interval span;
};

// [stage]: name and sequence of its forwards and backwards in the order they run.
using ComputeOrders =
    std::map<std::int32_t, std::vector<std::pair<std::string_view, std::int64_t>>>;

struct TimerTimeline {
    std::map<std::int32_t, std::vector<TimerEvent>> steps;
    ComputeOrders orders;
};

// Nothing in it where the trace's tasks are no timers, or such as the rules do not cover
// (timer_graph.h).
[[nodiscard]] TimerTimeline readTimeline(const trace::Trace& trace);

// Where the steps of a trace whose tasks are timers lie; empty for others, and where timers do not
// say their step. From a step's first begin to its last end, or as the timeline was laid out
// (measuredSteps).
[[nodiscard]] std::map<std::int32_t, base::Interval> timerSteps(const trace::Trace& trace);

// How long each step took. A timeline may have been laid out step after step: the first from 0,
// each next after 1.1 times the length of the one before; the time before a step's first timer is
// then part of it. Where the steps do not lie so, a step is from its first begin to its last end.
[[nodiscard]] std::map<std::int32_t, base::Duration> measuredSteps(
    const std::map<std::int32_t, base::Interval>& extents);

}  // namespace pleat::graph
