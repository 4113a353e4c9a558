// What programs do around the pipeline of a step, by their timers (annotate/timers.h): the rules
// that both graphs of such a trace stand on, that of rules alone (timer_graph.h) and the measured
// one. Source: docs/analysis.md, "Coarse timers".
#pragma once

#include <array>
#include <string_view>

#include "annotate/timers.h"

namespace pleat::graph {

// After the last task of a rank, one after another. All reduce-scatters of a step come in a row.
inline constexpr std::array<std::string_view, 6> kTimersAfterTasks = {
    annotate::kCollection,    annotate::kLayernorm, annotate::kEmbedding,
    annotate::kReduceScatter, annotate::kClip,      annotate::kOptimizer};

// Parameters are there before the first forward.
inline constexpr std::string_view kTimerBeforeTasks = annotate::kAllGather;

}  // namespace pleat::graph
