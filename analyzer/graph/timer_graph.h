// The task graph of a step that only coarse timers recorded (trace/timers.h): a few timers per
// rank and microbatch, without the host's calls and without what led to what. Dependencies come
// from the rules of such programs instead, so the graph has no delays: its replay is a step whose
// launches cost nothing. One fidelity level of graph::TaskGraph; the measured graph
// (measured_graph.h) is the other. Source of the rules: the model of the published straggler
// analysis (Lin et al., "Understanding Stragglers in Large Model Training Using What-if Analysis",
// 2025), described in docs/analysis.md. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "graph/measured_graph.h"
#include "graph/task_graph.h"
#include "trace/timers.h"
#include "trace/trace.h"

namespace pleat::graph {

struct TimerNode {
    const trace::Timer* timer = nullptr;  // none for a Ready node
    trace::RankId peer;                   // of a message whose other part was recorded
};

struct TimerStep {
    std::int32_t iteration = -1;
    base::Duration measured;
    TaskGraph graph;  // begins at 0; nodes have no source
    base::IdVector<NodeTag, TimerNode> timers;
};

// One graph per window, in the order of the windows. Empty where the trace's tasks are not timers
// that say their step and sequence, or where a rank holds several chunks, for which the rules say
// nothing. Input error where a timer stands twice or the dependencies have a cycle.
[[nodiscard]] base::Result<std::vector<TimerStep>> timerGraphs(
    const trace::Trace& trace, std::span<const IterationWindow> windows);

}  // namespace pleat::graph
