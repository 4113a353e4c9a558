#include "analysis/bubbles.h"

#include <algorithm>
#include <utility>

#include "analysis/ideal_replay.h"

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// A rank's nodes: its work in measured order, which every replay keeps because the graph orders a
// rank's tasks, and what else shows in its accounting.
struct RankNodes {
    std::vector<NodeId> work;  // tasks and optimizers
    std::vector<NodeId> data;
    std::vector<NodeId> transfers;
    std::size_t firstBackward = 0;  // position in work; its size when there is none
};

bool isBackward(const Node& node) {
    return node.kind == NodeKind::Task && node.action != schedule::ActionKind::Forward;
}

std::vector<RankNodes> nodesByRank(const trace::Trace& trace, const graph::TaskGraph& graph,
                                   std::span<const RankActivity> activities) {
    std::vector<std::size_t> position(trace.ranks().size(), activities.size());
    for (std::size_t i = 0; i < activities.size(); ++i) position[activities[i].rank.index()] = i;
    std::vector<RankNodes> ranks(activities.size());
    for (const NodeId id : graph.topologicalOrder()) {
        const Node& node = graph.nodes()[id];
        if (node.rank < 0 || node.kind == NodeKind::Ready) continue;
        const std::size_t at = position[static_cast<std::size_t>(node.rank)];
        if (at == activities.size()) continue;
        if (node.kind == NodeKind::Transfer) {
            ranks[at].transfers.push_back(id);
        } else {
            (isDataPhase(trace, node) ? ranks[at].data : ranks[at].work).push_back(id);
        }
    }
    for (RankNodes& rank : ranks) {
        std::stable_sort(rank.work.begin(), rank.work.end(), [&](NodeId a, NodeId b) {
            return graph.nodes()[a].measured.begin < graph.nodes()[b].measured.begin;
        });
        const auto first = std::find_if(rank.work.begin(), rank.work.end(),
                                        [&](NodeId id) { return isBackward(graph.nodes()[id]); });
        rank.firstBackward = static_cast<std::size_t>(first - rank.work.begin());
    }
    return ranks;
}

// When a transfer's own rank had done what it had to before it, in a replay. A transfer that no
// Ready node precedes has no partners to wait for.
base::TraceTime ownStart(const graph::TaskGraph& graph, const graph::Times& times, NodeId transfer,
                         base::TraceTime origin) {
    base::TraceTime start = origin;
    bool hasPartners = false;
    for (const NodeId ready : graph.predecessors(transfer)) {
        if (graph.nodes()[ready].kind != NodeKind::Ready) continue;
        hasPartners = true;
        for (const NodeId before : graph.predecessors(ready)) {
            if (graph.nodes()[before].rank == graph.nodes()[transfer].rank)
                start = std::max(start, times.of[before].end);
        }
    }
    const base::TraceTime begin = times.of[transfer].begin;
    return hasPartners ? std::min(start, begin) : begin;
}

// What the rank would have done in a replay, in the same words as what it did.
RankActivity replayedActivity(const graph::TaskGraph& graph, const graph::Times& times,
                              const RankNodes& nodes, base::Interval window) {
    RankActivity activity;
    activity.window = window;
    for (const NodeId id : nodes.work) activity.compute.push_back(times.of[id]);
    for (const NodeId id : nodes.data) activity.data.push_back(times.of[id]);
    for (const NodeId id : nodes.transfers) {
        TransferPart part;
        part.dimension = graph.nodes()[id].dimension;
        part.operation = part.dimension == trace::Dimension::Pp ? trace::Operation::Receive
                                                                : trace::Operation::AllReduce;
        part.moving = times.of[id];
        part.waiting = {part.moving.begin, part.moving.begin};
        if (part.isCollective()) part.waiting.begin = ownStart(graph, times, id, window.begin);
        activity.transfers.push_back(part);
    }
    return activity;
}

// Idle time by the work it precedes: gap i lies between the starts of work i-1 and i, the last one
// between the last start and the window's end. `idle` is disjoint from the work itself.
// Calls `use(gap, piece)` for each of its pieces.
template <class Use>
void forEachIdle(const base::IntervalSet& idle, const std::vector<base::TraceTime>& starts,
                 Use use) {
    std::size_t gap = 0;
    for (base::Interval piece : idle.intervals()) {
        while (!piece.empty()) {
            while (gap < starts.size() && starts[gap] <= piece.begin) ++gap;
            const base::TraceTime end =
                gap < starts.size() ? std::min(piece.end, starts[gap]) : piece.end;
            use(gap, base::Interval{piece.begin, end});
            piece.begin = end;
        }
    }
}

std::vector<base::Duration> idleByGap(const base::IntervalSet& idle,
                                      const std::vector<base::TraceTime>& starts) {
    std::vector<base::Duration> gaps(starts.size() + 1);
    forEachIdle(idle, starts,
                [&](std::size_t gap, base::Interval piece) { gaps[gap] += piece.length(); });
    return gaps;
}

std::vector<base::Duration> replayedGaps(const graph::TaskGraph& graph, const graph::Times& times,
                                         const RankNodes& nodes, base::TraceTime origin) {
    const RankActivity activity = replayedActivity(graph, times, nodes, {origin, times.end});
    std::vector<base::TraceTime> starts;
    for (const NodeId id : nodes.work) starts.push_back(times.of[id].begin);
    return idleByGap(partition(activity).bubble - base::IntervalSet(activity.data), starts);
}

BubbleCause causeOf(ReplayLevel level, bool beforeBackward) {
    switch (level) {
        case ReplayLevel::Ideal:
            return beforeBackward ? BubbleCause::Fill : BubbleCause::Drain;
        case ReplayLevel::StageUsual:
            return BubbleCause::Imbalance;
        case ReplayLevel::Measured:
            return BubbleCause::LatePeer;
        case ReplayLevel::Messages:
            return BubbleCause::MessageLatency;
        case ReplayLevel::Collectives:
            return BubbleCause::GradientSync;
        case ReplayLevel::Data:
            return BubbleCause::DataLoading;
    }
    return BubbleCause::Unknown;
}

// What the levels so far have explained of a rank's gaps.
struct Explained {
    base::IntervalSet data;  // idle time within the rank's own data loading
    base::IntervalSet idle;  // all other; in gaps between `starts`, those of the rank's work
    std::vector<base::TraceTime> starts;
    std::vector<base::Duration> measured;
    std::vector<base::Duration> explained;
    std::vector<base::Duration> hostLate, untraced;  // parts of `measured`
    std::vector<CauseDurations> causes;

    void raise(ReplayLevel level, const std::vector<base::Duration>& replayed,
               std::size_t firstBackward) {
        for (std::size_t gap = 0; gap < measured.size(); ++gap) {
            const base::Duration reached = std::min(measured[gap], replayed[gap]);
            if (reached <= explained[gap]) continue;
            causes[gap][causeOf(level, gap <= firstBackward)] += reached - explained[gap];
            explained[gap] = reached;
        }
    }

    void finish() {
        for (std::size_t gap = 0; gap < measured.size(); ++gap) {
            base::Duration rest = measured[gap] - explained[gap];
            const auto take = [&](BubbleCause cause, base::Duration most) {
                const base::Duration taken = std::min(rest, most);
                causes[gap][cause] += taken;
                rest -= taken;
            };
            take(BubbleCause::HostLate, hostLate[gap]);
            take(BubbleCause::UntracedWork, untraced[gap]);
            causes[gap][BubbleCause::Unknown] += rest;
        }
    }

    [[nodiscard]] CauseDurations sum() const {
        CauseDurations all;
        for (const CauseDurations& gap : causes) all += gap;
        all[BubbleCause::DataLoading] += data.total();
        return all;
    }

    [[nodiscard]] std::vector<IdleGap> gaps() const {
        std::vector<IdleGap> all(causes.size());
        forEachIdle(idle, starts, [&](std::size_t gap, base::Interval piece) {
            all[gap].pieces.push_back(piece);
        });
        for (std::size_t gap = 0; gap < all.size(); ++gap) all[gap].causes = causes[gap];
        std::erase_if(all, [](const IdleGap& gap) { return gap.pieces.empty(); });
        for (const base::Interval piece : data.intervals()) {
            all.push_back({{piece}, {}});
            all.back().causes[BubbleCause::DataLoading] = piece.length();
        }
        std::sort(all.begin(), all.end(), [](const IdleGap& a, const IdleGap& b) {
            return a.pieces.front().begin < b.pieces.front().begin;
        });
        return all;
    }
};

Explained startOf(const IdleExplainer& explainer, std::vector<base::TraceTime> starts,
                  const RankActivity& activity, const Partition& parts) {
    Explained result;
    result.data = parts.bubble & base::IntervalSet(activity.data);
    result.idle = parts.bubble - result.data;
    result.starts = std::move(starts);
    const IdleReasons reasons = explainer.of(activity.rank, result.idle);
    result.measured = idleByGap(result.idle, result.starts);
    result.hostLate = idleByGap(reasons.hostLate, result.starts);
    result.untraced = idleByGap(reasons.untraced, result.starts);
    result.explained.resize(result.measured.size());
    result.causes.resize(result.measured.size());
    return result;
}

// One entry per activity.
std::vector<Explained> explain(const trace::Trace& trace, const IdleExplainer& explainer,
                               const graph::TaskGraph& graph,
                               std::span<const RankActivity> activities,
                               std::span<const Partition> partitions) {
    std::vector<Explained> ranks;
    if (activities.empty()) return ranks;
    const base::TraceTime origin = activities.front().window.begin;
    const std::vector<RankNodes> nodes = nodesByRank(trace, graph, activities);
    for (std::size_t i = 0; i < activities.size(); ++i) {
        std::vector<base::TraceTime> starts;
        for (const NodeId id : nodes[i].work) starts.push_back(graph.nodes()[id].measured.begin);
        ranks.push_back(startOf(explainer, std::move(starts), activities[i], partitions[i]));
    }
    for (std::size_t l = 0; l < kReplayLevelCount; ++l) {
        const auto level = static_cast<ReplayLevel>(l);
        const graph::Times times =
            replayWithoutDelays(graph, durationsAt(level, trace, graph), origin);
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            ranks[i].raise(level, replayedGaps(graph, times, nodes[i], origin),
                           nodes[i].firstBackward);
        }
    }
    for (Explained& rank : ranks) rank.finish();
    return ranks;
}

}  // namespace

std::string_view toString(BubbleCause cause) {
    switch (cause) {
        case BubbleCause::DataLoading:
            return "data_loading";
        case BubbleCause::Fill:
            return "fill";
        case BubbleCause::Drain:
            return "drain";
        case BubbleCause::Imbalance:
            return "imbalance";
        case BubbleCause::LatePeer:
            return "late_peer";
        case BubbleCause::GradientSync:
            return "gradient_sync";
        case BubbleCause::MessageLatency:
            return "p2p_latency";
        case BubbleCause::HostLate:
            return "host_late";
        case BubbleCause::UntracedWork:
            return "untraced_device_work";
        case BubbleCause::Unknown:
            return "unknown";
    }
    return "unknown";
}

base::Duration CauseDurations::total() const {
    base::Duration sum;
    for (const base::Duration duration : of) sum += duration;
    return sum;
}

CauseDurations& CauseDurations::operator+=(const CauseDurations& other) {
    for (std::size_t i = 0; i < kBubbleCauseCount; ++i) of[i] += other.of[i];
    return *this;
}

std::vector<CauseDurations> attributeBubbles(const trace::Trace& trace,
                                             const IdleExplainer& explainer,
                                             const graph::TaskGraph& graph,
                                             std::span<const RankActivity> activities,
                                             std::span<const Partition> partitions) {
    std::vector<CauseDurations> causes;
    for (const Explained& rank : explain(trace, explainer, graph, activities, partitions))
        causes.push_back(rank.sum());
    return causes;
}

std::vector<std::vector<IdleGap>> locateBubbles(const trace::Trace& trace,
                                                const IdleExplainer& explainer,
                                                const graph::TaskGraph& graph,
                                                std::span<const RankActivity> activities,
                                                std::span<const Partition> partitions) {
    std::vector<std::vector<IdleGap>> gaps;
    for (const Explained& rank : explain(trace, explainer, graph, activities, partitions))
        gaps.push_back(rank.gaps());
    return gaps;
}

std::vector<IdleGap> locateWithoutTasks(const IdleExplainer& explainer,
                                        const RankActivity& activity, const Partition& partition) {
    Explained all = startOf(explainer, {}, activity, partition);
    all.finish();
    return all.gaps();
}

CauseDurations causesWithoutTasks(const IdleExplainer& explainer, const RankActivity& activity,
                                  const Partition& partition) {
    Explained all = startOf(explainer, {}, activity, partition);
    all.finish();
    return all.sum();
}

}  // namespace pleat::analysis
