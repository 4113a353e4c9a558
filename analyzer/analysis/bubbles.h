// Bubbles by cause. The iteration's measured task graph is replayed several times, from an ideal
// pipeline to the measured one, each replay adding one imperfection; idle time before a task is
// explained by the first replay that shows it there. Exact definition in docs/analysis.md. Pure
// functions in integer arithmetic.
#pragma once

#include <span>
#include <vector>

#include "analysis/accounting.h"
#include "analysis/activity.h"
#include "analysis/device_work.h"
#include "analysis/time_account.h"
#include "graph/task_graph.h"
#include "trace/trace.h"

namespace pleat::analysis {

// Idle time of a rank between the starts of two pieces of its work, one after the other, or within
// one stretch of its data loading. Which piece has which cause is not known: causes are of them
// all.
struct IdleGap {
    std::vector<base::Interval> pieces;  // ascending, disjoint; never none, none empty
    CauseDurations causes;               // sum to the pieces' lengths
};

// One entry per activity, ascending by begin: where each rank's bubble lies. All pieces of an entry
// are its partition's bubble. Arguments and cost as of attributeBubbles, which gives their sums.
[[nodiscard]] std::vector<std::vector<IdleGap>> locateBubbles(
    const trace::Trace& trace, const IdleExplainer& explainer, const graph::TaskGraph& graph,
    std::span<const RankActivity> activities, std::span<const Partition> partitions);

// Idle time of a rank before collectives whose timers begin only when their last member is there:
// no waiting is recorded, but this is whom it was for.
struct IdleWait {
    trace::RankId lateRank;
    trace::Dimension dimension = trace::Dimension::Other;
    base::Duration duration;
};

// One entry per activity. Disjoint, and within the partition's bubble.
[[nodiscard]] std::vector<std::vector<IdleWait>> idleWaits(const graph::TaskGraph& graph,
                                                           std::span<const RankActivity> activities,
                                                           std::span<const Partition> partitions);

// One entry per activity; each sums to its partition's bubble exactly, with no negative part.
// `graph` is the measured graph of the window; `partitions[i]` belongs to `activities[i]`.
// O(n log n) in nodes and edges, times the seven replays.
[[nodiscard]] std::vector<CauseDurations> attributeBubbles(const trace::Trace& trace,
                                                           const IdleExplainer& explainer,
                                                           const graph::TaskGraph& graph,
                                                           std::span<const RankActivity> activities,
                                                           std::span<const Partition> partitions);

// Of the iteration replayed with every task as long as the mean of its kind: the idle time of all
// ranks, and ranks x its length. What the order of tasks costs by itself.
struct IdealIdle {
    base::Duration idle, whole;
};
[[nodiscard]] IdealIdle idealIdle(const trace::Trace& trace, const graph::TaskGraph& graph,
                                  std::span<const RankActivity> activities);

// What can be said without tasks, or where no task graph could be made: data loading, and what the
// device's recording says.
[[nodiscard]] std::vector<IdleGap> locateWithoutTasks(const IdleExplainer& explainer,
                                                      const RankActivity& activity,
                                                      const Partition& partition);
[[nodiscard]] CauseDurations causesWithoutTasks(const IdleExplainer& explainer,
                                                const RankActivity& activity,
                                                const Partition& partition);

}  // namespace pleat::analysis
