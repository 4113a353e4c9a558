// What programs do around the pipeline of a step, by their timers (trace/timers.h): the rules
// that both graphs of such a trace stand on, that of rules alone (timer_graph.h) and the measured
// one. Source: docs/analysis.md, "Coarse timers".
#pragma once

#include <array>
#include <string_view>

#include "trace/timers.h"

namespace pleat::graph {

// After the last task of a rank, one after another. All reduce-scatters of a step come in a row.
inline constexpr std::array<std::string_view, 6> kTimersAfterTasks = {
    trace::kCollection,    trace::kLayernorm, trace::kEmbedding,
    trace::kReduceScatter, trace::kClip,      trace::kOptimizer};

// Parameters are there before the first forward.
inline constexpr std::string_view kTimerBeforeTasks = trace::kAllGather;

}  // namespace pleat::graph
