// The account of one iteration over all ranks: the partition of its window, the causes of its
// bubbles, and the task graph they were read from. What the report adds up and what a comparison
// takes sample by sample. Pure functions; results are plain values.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/accounting.h"
#include "analysis/activity.h"
#include "analysis/bubbles.h"
#include "analysis/device_work.h"
#include "base/diagnostics.h"
#include "graph/measured_graph.h"
#include "trace/trace.h"

namespace pleat::analysis {

// Entry i of the lists belongs to activities[i]; the causes sum to the partition's bubble.
struct IterationAccount {
    std::vector<Partition> partitions;
    std::vector<CauseDurations> causes;
    std::vector<std::vector<IdleWait>> idleWaits;
    std::optional<graph::TaskGraph> graph;  // none without tasks, or where none can be made
};

// `activities` are those of `window`, as collectActivities has them. Where tasks make no graph the
// causes are those of a trace without tasks, and the Error "task_graph_unusable" says why.
[[nodiscard]] IterationAccount accountIteration(const graph::RunIndex& run,
                                                const IdleExplainer& explainer,
                                                const graph::IterationWindow& window,
                                                std::span<const RankActivity> activities,
                                                base::Diagnostics& diagnostics);

}  // namespace pleat::analysis
