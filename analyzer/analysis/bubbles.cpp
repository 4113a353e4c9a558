#include "analysis/bubbles.h"

#include <algorithm>
#include <map>
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
        // Where timers begin with the last member, waiting for it is idle time here as there.
        if (part.isCollective() && !graph.nodes()[id].startsTogether)
            part.waiting.begin = ownStart(graph, times, id, window.begin);
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
                                         const RankNodes& nodes, base::Interval window) {
    const RankActivity activity = replayedActivity(graph, times, nodes, window);
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
        case ReplayLevel::Replicas:
            return BubbleCause::ReplicaImbalance;
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
    std::vector<base::Duration> paused;  // by the rank itself; the rest is a pause of others
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
            base::Duration own = std::min(rest, paused[gap]);
            const auto take = [&](BubbleCause cause, base::Duration most) {
                const base::Duration taken = std::min(rest, most);
                causes[gap][cause] += taken;
                rest -= taken;
                own -= std::min(own, taken);
            };
            take(BubbleCause::HostLate, hostLate[gap]);
            take(BubbleCause::UntracedWork, untraced[gap]);
            take(BubbleCause::Unknown, own);
            // What is left is a pause of others, for whom this rank waited.
            causes[gap][BubbleCause::LatePeer] += rest;
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
    result.paused = result.measured;
    result.explained.resize(result.measured.size());
    result.causes.resize(result.measured.size());
    return result;
}

// The measured predecessor that ended last, which a node waited for.
NodeId waitedFor(const graph::TaskGraph& graph, NodeId id) {
    NodeId last;
    for (const NodeId before : graph.predecessors(id)) {
        if (!last.valid() || graph.nodes()[before].measured.end >= graph.nodes()[last].measured.end)
            last = before;
    }
    return last;
}

// How long the rank itself paused on the chain that leads to a node, as far back as `from` and no
// further than to another rank: what that one paused, others waited for.
base::Duration ownPause(const graph::TaskGraph& graph, NodeId id, std::int32_t rank,
                        base::TraceTime from) {
    base::Duration paused;
    while (id.valid()) {
        const Node& node = graph.nodes()[id];
        const NodeId before = waitedFor(graph, id);
        const std::int32_t of = node.kind != NodeKind::Ready ? node.rank
                                : before.valid()             ? graph.nodes()[before].rank
                                                             : rank;
        if (of != rank) break;
        paused += node.delay;
        if (!before.valid() || graph.nodes()[before].measured.end <= from) break;
        id = before;
    }
    return paused;
}

// By gap; the last one is that behind all work, at whose end nobody does anything for `atEnd`.
std::vector<base::Duration> ownPauses(const graph::TaskGraph& graph, const RankNodes& nodes,
                                      std::int32_t rank, base::TraceTime begin,
                                      base::Duration atEnd) {
    std::vector<base::Duration> pauses;
    base::TraceTime from = begin;
    for (const NodeId id : nodes.work) {
        pauses.push_back(ownPause(graph, id, rank, from));
        from = graph.nodes()[id].measured.end;
    }
    NodeId last;
    for (const NodeId id : nodes.transfers) {
        const base::TraceTime end = graph.nodes()[id].measured.end;
        if (end > from && (!last.valid() || end > graph.nodes()[last].measured.end)) last = id;
    }
    pauses.push_back(ownPause(graph, last, rank, from) + atEnd);
    return pauses;
}

// Until when each rank's last gap lasts in a replay: to the end of its own replica where replicas
// do not wait for each other, else of all.
std::vector<base::TraceTime> endsOf(ReplayLevel level, const Replicas& replicas,
                                    const graph::TaskGraph& graph, const graph::Times& times) {
    std::vector<base::TraceTime> ends(replicas.size(), times.end);
    if (level >= ReplayLevel::Replicas) return ends;
    std::vector<base::TraceTime> ofReplica(replicas.size());
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[NodeId::at(i)];
        if (node.rank < 0) continue;
        base::TraceTime& end = ofReplica[replicas[static_cast<std::size_t>(node.rank)]];
        end = std::max(end, times.of[NodeId::at(i)].end);
    }
    for (std::size_t rank = 0; rank < ends.size(); ++rank) ends[rank] = ofReplica[replicas[rank]];
    return ends;
}

// One entry per activity.
std::vector<Explained> explain(const trace::Trace& trace, const IdleExplainer& explainer,
                               const graph::TaskGraph& graph,
                               std::span<const RankActivity> activities,
                               std::span<const Partition> partitions) {
    std::vector<Explained> ranks;
    if (activities.empty()) return ranks;
    const base::Interval window = activities.front().window;
    const std::vector<RankNodes> nodes = nodesByRank(trace, graph, activities);
    base::TraceTime last = window.begin;
    for (const Node& node : graph.nodes()) last = std::max(last, node.measured.end);
    const base::Duration atEnd = std::max(base::Duration{}, window.end - last);
    for (std::size_t i = 0; i < activities.size(); ++i) {
        std::vector<base::TraceTime> starts;
        for (const NodeId id : nodes[i].work) starts.push_back(graph.nodes()[id].measured.begin);
        ranks.push_back(startOf(explainer, std::move(starts), activities[i], partitions[i]));
        ranks.back().paused =
            ownPauses(graph, nodes[i], static_cast<std::int32_t>(activities[i].rank.index()),
                      window.begin, atEnd);
    }
    const Replicas replicas = replicasOf(trace);
    for (std::size_t l = 0; l < kReplayLevelCount; ++l) {
        const auto level = static_cast<ReplayLevel>(l);
        const graph::Times times = replayWithoutDelays(
            level, replicas, graph, durationsAt(level, trace, graph), window.begin);
        const std::vector<base::TraceTime> ends = endsOf(level, replicas, graph, times);
        for (std::size_t i = 0; i < ranks.size(); ++i) {
            const base::TraceTime end = ends[activities[i].rank.index()];
            ranks[i].raise(
                level,
                replayedGaps(graph, times, nodes[i], {window.begin, std::max(window.begin, end)}),
                nodes[i].firstBackward);
        }
    }
    for (Explained& rank : ranks) rank.finish();
    return ranks;
}

}  // namespace

IdealIdle idealIdle(const trace::Trace& trace, const graph::TaskGraph& graph,
                    std::span<const RankActivity> activities) {
    IdealIdle ideal;
    if (activities.empty()) return ideal;
    const base::TraceTime origin = activities.front().window.begin;
    const std::vector<base::Duration> durations = durationsAt(ReplayLevel::Ideal, trace, graph);
    const graph::Times times =
        replayWithoutDelays(ReplayLevel::Ideal, replicasOf(trace), graph, durations, origin);
    const base::Duration length = times.end - origin;
    for (std::size_t i = 0; i < activities.size(); ++i) ideal.whole += length;
    ideal.idle = ideal.whole;
    for (std::size_t i = 0; i < durations.size(); ++i) {
        if (graph.nodes()[NodeId::at(i)].rank >= 0) ideal.idle -= durations[i];
    }
    return ideal;
}

std::vector<std::vector<IdleWait>> idleWaits(const graph::TaskGraph& graph,
                                             std::span<const RankActivity> activities,
                                             std::span<const Partition> partitions) {
    std::map<std::int32_t, std::size_t> position;
    for (std::size_t i = 0; i < activities.size(); ++i)
        position[static_cast<std::int32_t>(activities[i].rank.index())] = i;
    std::vector<std::map<std::pair<trace::RankId, trace::Dimension>, base::Duration>> sums(
        activities.size());
    std::vector<base::TraceTime> reached(activities.size());
    for (const NodeId ready : graph.topologicalOrder()) {
        const Node& node = graph.nodes()[ready];
        if (node.kind != NodeKind::Ready || !node.startsTogether) continue;
        const NodeId last = waitedFor(graph, ready);
        if (!last.valid()) continue;
        const std::int32_t late = graph.nodes()[last].rank;
        std::map<std::int32_t, base::TraceTime> free;  // when each member had nothing else to do
        for (const NodeId before : graph.predecessors(ready)) {
            base::TraceTime& end = free[graph.nodes()[before].rank];
            end = std::max(end, graph.nodes()[before].measured.end);
        }
        for (const auto& [rank, since] : free) {
            const auto at = position.find(rank);
            if (at == position.end() || rank == late || late < 0) continue;
            base::TraceTime& until = reached[at->second];
            const base::Interval idle{std::max(since, until), graph.nodes()[last].measured.end};
            if (idle.empty()) continue;
            until = idle.end;
            const base::Duration time =
                (partitions[at->second].bubble & base::IntervalSet(idle)).total();
            if (time.ns > 0)
                sums[at->second]
                    [{trace::RankId(static_cast<std::uint32_t>(late)), node.dimension}] += time;
        }
    }
    std::vector<std::vector<IdleWait>> waits(activities.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
        for (const auto& [of, time] : sums[i]) waits[i].push_back({of.first, of.second, time});
    }
    return waits;
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
