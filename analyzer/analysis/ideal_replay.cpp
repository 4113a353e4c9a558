#include "analysis/ideal_replay.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/statistics.h"

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// What is alike enough to share a duration. The optimizer is a kind of its own.
struct WorkKind {
    bool optimizer = false;
    schedule::ActionKind action = schedule::ActionKind::Forward;
    std::int32_t rank = -1;   // -1: over all ranks
    std::int32_t stage = -1;  // -1: over all stages
    std::int32_t piece = 0, pieces = 1;
    friend auto operator<=>(const WorkKind&, const WorkKind&) = default;
};

bool isWork(const trace::Trace& trace, const Node& node) {
    return node.kind == NodeKind::Task || isOptimizer(trace, node);
}

WorkKind kindOf(const Node& node, bool perStage) {
    WorkKind kind;
    kind.optimizer = node.kind == NodeKind::Phase;
    if (!kind.optimizer) kind.action = node.action;
    kind.piece = node.piece;
    kind.pieces = node.pieces;
    if (perStage) {
        kind.rank = node.rank;
        kind.stage = node.stage;
    }
    return kind;
}

base::Duration meanOf(std::vector<base::Duration>& durations) {
    base::Duration sum;
    for (const base::Duration duration : durations) sum += duration;
    return {sum.ns / static_cast<std::int64_t>(durations.size())};
}

// Of two microbatches one of which is slow, the other is as usual.
base::Duration usualOf(std::vector<base::Duration>& durations) {
    return base::nearestRank(durations, 1, 2);
}

using Reduce = base::Duration (*)(std::vector<base::Duration>&);

std::map<WorkKind, base::Duration> typicalDurations(const trace::Trace& trace,
                                                    const graph::TaskGraph& graph, bool perStage,
                                                    Reduce reduce) {
    std::map<WorkKind, std::vector<base::Duration>> byKind;
    for (const Node& node : graph.nodes()) {
        if (isWork(trace, node)) byKind[kindOf(node, perStage)].push_back(node.duration);
    }
    std::map<WorkKind, base::Duration> typical;
    for (auto& [kind, durations] : byKind) typical[kind] = reduce(durations);
    return typical;
}

// Whether a node takes its measured time at a level; tasks and optimizers below Measured are
// replaced by what is typical, everything else by nothing.
bool measuredAt(ReplayLevel level, const trace::Trace& trace, const Node& node) {
    if (isWork(trace, node)) return level >= ReplayLevel::Measured;
    if (node.kind == NodeKind::Phase) return level >= ReplayLevel::Data;
    const bool message = node.dimension == trace::Dimension::Pp;
    return level >= (message ? ReplayLevel::Messages : ReplayLevel::Collectives);
}

}  // namespace

bool isDataPhase(const trace::Trace& trace, const Node& node) {
    return node.kind == NodeKind::Phase && !isOptimizer(trace, node);
}

bool isOptimizer(const trace::Trace& trace, const Node& node) {
    if (node.kind != NodeKind::Phase || node.source < 0) return false;
    const trace::Phase& phase = trace.annotations().phases[static_cast<std::size_t>(node.source)];
    return phase.kind == trace::PhaseKind::Optimizer;
}

std::vector<base::Duration> durationsAt(ReplayLevel level, const trace::Trace& trace,
                                        const graph::TaskGraph& graph) {
    const bool perStage = level == ReplayLevel::StageUsual;
    std::map<WorkKind, base::Duration> typical;
    if (level < ReplayLevel::Measured)
        typical = typicalDurations(trace, graph, perStage, perStage ? usualOf : meanOf);
    std::vector<base::Duration> durations;
    durations.reserve(graph.nodes().size());
    for (const Node& node : graph.nodes()) {
        if (measuredAt(level, trace, node)) {
            durations.push_back(node.duration);
        } else {
            durations.push_back(isWork(trace, node) ? typical.at(kindOf(node, perStage))
                                                    : base::Duration{});
        }
    }
    return durations;
}

Replicas replicasOf(const trace::Trace& trace) {
    Replicas replicas;
    std::map<std::int32_t, std::uint32_t> known;  // by coordinate
    for (const trace::Rank& rank : trace.ranks()) {
        const auto next = static_cast<std::uint32_t>(known.size());
        replicas.push_back(known.try_emplace(rank.coordinates.dp, next).first->second);
    }
    return replicas;
}

namespace {

// When each member of a collective may begin where it waits for its own replica only.
class ReadyApart {
  public:
    ReadyApart(const Replicas& replicas, const graph::TaskGraph& graph, base::TraceTime origin)
        : m_replicas(replicas),
          m_graph(graph),
          m_origin(origin),
          m_reached(replicas.size(), origin),
          m_of(graph.nodes().size(), origin) {}

    // Once what the collective waits for has its times.
    void reach(NodeId ready, const graph::Times& times) {
        for (const NodeId before : m_graph.predecessors(ready)) reached(before) = m_origin;
        for (const NodeId before : m_graph.predecessors(ready)) {
            base::TraceTime& latest = reached(before);
            latest = std::max(latest, times.of[before].end);
        }
        for (const NodeId member : m_graph.successors(ready)) {
            base::TraceTime& own = m_of[member];
            own = std::max(own, reached(member));
        }
        for (const NodeId before : m_graph.predecessors(ready)) reached(before) = m_origin;
    }
    [[nodiscard]] base::TraceTime of(NodeId member) const { return m_of[member]; }

  private:
    base::TraceTime& reached(NodeId id) {
        const std::int32_t rank = m_graph.nodes()[id].rank;
        return rank < 0 ? m_unknown : m_reached[m_replicas[static_cast<std::size_t>(rank)]];
    }

    const Replicas& m_replicas;
    const graph::TaskGraph& m_graph;
    const base::TraceTime m_origin;
    std::vector<base::TraceTime> m_reached;  // [replica]
    base::TraceTime m_unknown;
    base::IdVector<graph::NodeTag, base::TraceTime> m_of;
};

}  // namespace

graph::Times replayWithoutDelays(ReplayLevel level, const Replicas& replicas,
                                 const graph::TaskGraph& graph,
                                 const std::vector<base::Duration>& durations,
                                 base::TraceTime origin) {
    graph::Times times{base::IdVector<graph::NodeTag, base::Interval>(graph.nodes().size()),
                       origin};
    const bool apart = level < ReplayLevel::Replicas;
    ReadyApart ready(replicas, graph, origin);
    for (const NodeId id : graph.topologicalOrder()) {
        base::TraceTime start = apart ? ready.of(id) : origin;
        for (const NodeId before : graph.predecessors(id)) {
            if (!apart || graph.nodes()[before].kind != NodeKind::Ready)
                start = std::max(start, times.of[before].end);
        }
        if (apart && graph.nodes()[id].kind == NodeKind::Ready) ready.reach(id, times);
        times.of[id] = {start, start + durations[id.index()]};
        times.end = std::max(times.end, times.of[id].end);
    }
    return times;
}

}  // namespace pleat::analysis
