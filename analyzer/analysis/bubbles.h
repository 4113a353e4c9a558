// Bubbles by cause. The iteration's measured task graph is replayed several times, from an ideal
// pipeline to the measured one, each replay adding one imperfection; idle time before a task is
// explained by the first replay that shows it there. Exact definition in docs/analysis.md. Pure
// functions in integer arithmetic.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/accounting.h"
#include "analysis/activity.h"
#include "analysis/device_work.h"
#include "graph/task_graph.h"
#include "trace/trace.h"

namespace pleat::analysis {

enum class BubbleCause : std::uint8_t {
    DataLoading,       // a rank loads data: this one, or the one it waits for
    Fill,              // of an ideal pipeline, before the rank's first backward
    Drain,             // of an ideal pipeline, after it
    Imbalance,         // stages differ in their usual duration
    ReplicaImbalance,  // a replica waits for the slowest one
    LatePeer,          // a task took longer than is usual for its stage, or a rank paused
    GradientSync,      // collectives delay tasks
    MessageLatency,    // messages between stages take time
    HostLate,          // no replay shows it, and the host called what ran next too late
    UntracedWork,      // nor that, and the host started work that was not recorded
    Unknown,           // a pause of the rank itself that nothing explains
};
inline constexpr std::size_t kBubbleCauseCount = 11;

// data_loading fill drain imbalance replica_imbalance late_peer gradient_sync p2p_latency host_late
// untraced_device_work unknown
[[nodiscard]] std::string_view toString(BubbleCause cause);

struct CauseDurations {
    std::array<base::Duration, kBubbleCauseCount> of{};

    [[nodiscard]] base::Duration& operator[](BubbleCause cause) {
        return of[static_cast<std::size_t>(cause)];
    }
    [[nodiscard]] base::Duration operator[](BubbleCause cause) const {
        return of[static_cast<std::size_t>(cause)];
    }
    [[nodiscard]] base::Duration total() const;
    CauseDurations& operator+=(const CauseDurations& other);
};

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
