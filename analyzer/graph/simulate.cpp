#include "graph/simulate.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/in_order_run.h"
#include "schedule/lower.h"

namespace pleat::graph {
namespace {

using schedule::Action;
using schedule::ActionKind;
using Edges = std::vector<std::pair<NodeId, NodeId>>;

std::size_t at(std::int32_t value) { return static_cast<std::size_t>(value); }

// The share of one of `parts` equal parts of `whole`; the remainder goes to the first, so that the
// parts sum to it.
base::Duration share(base::Duration whole, std::int32_t part, std::int32_t parts) {
    return {whole.ns / parts + (part < whole.ns % parts ? 1 : 0)};
}

// Builds the graph of a lowered schedule: a node per action, a rank's compute in order, messages
// and syncs on lanes of their own, everything else by the dependency rule.
class GraphMaker {
  public:
    GraphMaker(const schedule::Schedule& lowered, const schedule::ActionIndex& index,
               const CostModel& costs)
        : m_schedule(lowered), m_index(index), m_context(index.context(lowered)), m_costs(costs) {}

    base::Result<TaskGraph> make() && {
        for (std::int32_t rank = 0; rank < m_schedule.ranks(); ++rank) addRank(rank);
        for (std::int32_t rank = 0; rank < m_schedule.ranks(); ++rank) addDependencies(rank);
        return TaskGraph::build(std::move(m_nodes), std::move(m_edges));
    }

  private:
    void addRank(std::int32_t rank) {
        NodeId lastCompute, lastSync;
        std::vector<NodeId>& nodes = m_nodeAt.emplace_back();
        for (const Action& action : m_schedule.order[at(rank)]) {
            const NodeId id = m_nodes.push(makeNode(action, rank));
            nodes.push_back(id);
            const bool sync = action.kind == ActionKind::ReduceGradient;
            if (!sync && !schedule::isCompute(action.kind)) continue;
            NodeId& last = sync ? lastSync : lastCompute;
            if (last.valid()) m_edges.emplace_back(last, id);
            last = id;
        }
    }

    Node makeNode(const Action& action, std::int32_t rank) const {
        Node node;
        node.kind = schedule::isCompute(action.kind) ? NodeKind::Task : NodeKind::Transfer;
        node.action = action.kind;
        node.dimension =
            action.kind == ActionKind::ReduceGradient ? trace::Dimension::Dp : trace::Dimension::Pp;
        node.rank = rank;
        node.stage = action.stage;
        node.microbatch = action.microbatch;
        node.duration = durationOf(action, rank);
        return node;
    }

    // A message costs its time once, on its way in; the sending side only hands it over.
    base::Duration durationOf(const Action& action, std::int32_t rank) const {
        const auto chunks = static_cast<std::int32_t>(m_schedule.placement.stagesOf(rank).size());
        const std::int32_t chunk = m_schedule.placement.chunkOf(action.stage);
        switch (action.kind) {
            case ActionKind::Forward:
                return share(m_costs.forward, chunk, chunks);
            case ActionKind::FullBackward:
            case ActionKind::InputBackward:
                return share(m_costs.backward, chunk, chunks);
            case ActionKind::WeightBackward:
                return share(m_costs.weight, chunk, chunks);
            case ActionKind::ReceiveForward:
            case ActionKind::ReceiveBackward:
                return m_costs.message;
            case ActionKind::ReduceGradient:
                return share(m_costs.sync, chunk, chunks);
            case ActionKind::OverlapForwardBackward:
                return durationOf(action.parts[0], rank) + durationOf(action.parts[1], rank);
            case ActionKind::SendForward:
            case ActionKind::SendBackward:
            case ActionKind::Unshard:
            case ActionKind::Reshard:
                return {};
        }
        return {};
    }

    void addDependencies(std::int32_t rank) {
        const std::vector<Action>& order = m_schedule.order[at(rank)];
        for (std::size_t i = 0; i < order.size(); ++i) {
            const NodeId id = m_nodeAt[at(rank)][i];
            schedule::forEachDependency(order[i], m_context, [&](const Action& needed) {
                const auto position = m_index.find(needed);
                if (!position) return;
                const NodeId before = m_nodeAt[at(position->rank)][at(position->index)];
                if (before != id) m_edges.emplace_back(before, id);
            });
        }
    }

    const schedule::Schedule& m_schedule;
    const schedule::ActionIndex& m_index;
    const schedule::DependencyContext m_context;
    const CostModel& m_costs;
    base::IdVector<NodeTag, Node> m_nodes;
    Edges m_edges;
    std::vector<std::vector<NodeId>> m_nodeAt;  // [rank][position]
};

// What happened to one chunk's activations and gradients while its rank ran in order.
SimulatedRank summariseRank(const schedule::Schedule& lowered, std::int32_t rank,
                            const TaskGraph& graph, const Times& times, NodeId first) {
    SimulatedRank result;
    const auto chunks = lowered.placement.stagesOf(rank).size();
    std::vector<base::TraceTime> lastBackward(chunks);
    base::TraceTime endOfBackward;
    std::int32_t alive = 0, peak = 0;
    const auto visit = [&](const Action& action, base::TraceTime finish) {
        const std::size_t chunk = at(lowered.placement.chunkOf(action.stage));
        if (action.kind == ActionKind::Forward) peak = std::max(peak, ++alive);
        const bool releases =
            action.kind == ActionKind::FullBackward || action.kind == ActionKind::WeightBackward;
        if (releases) --alive;
        if (!releases && action.kind != ActionKind::InputBackward) return;
        lastBackward[chunk] = std::max(lastBackward[chunk], finish);
        endOfBackward = std::max(endOfBackward, finish);
    };
    std::uint32_t id = first.index();
    for (const Action& action : lowered.order[at(rank)]) {
        const NodeId node(id++);
        if (!schedule::isCompute(action.kind)) continue;
        result.busy += graph.nodes()[node].duration;
        for (const Action& part : action.parts) visit(part, times.of[node].end);
        if (action.parts.empty()) visit(action, times.of[node].end);
    }
    result.peakActivations = static_cast<double>(peak) / static_cast<double>(chunks);
    for (const base::TraceTime last : lastBackward)
        result.syncWindow.push_back(endOfBackward - last);
    return result;
}

}  // namespace

base::Result<Simulation> simulate(const schedule::Schedule& given, const CostModel& costs) {
    const base::Result<schedule::Schedule> lowered = schedule::lower(given);
    if (!lowered) return lowered.error();
    const base::Result<schedule::ActionIndex> index = schedule::ActionIndex::build(*lowered);
    if (!index) return index.error();
    base::Result<TaskGraph> graph = GraphMaker(*lowered, *index, costs).make();
    if (!graph) return graph.error();

    Simulation result{std::move(*graph), {}, {}, 0, 0, {}};
    result.times = earliestTimes(result.graph);
    result.makespan = result.times.end - base::TraceTime{};
    base::Duration busy;
    std::uint32_t first = 0;
    for (std::int32_t rank = 0; rank < lowered->ranks(); ++rank) {
        result.ranks.push_back(
            summariseRank(*lowered, rank, result.graph, result.times, NodeId(first)));
        busy += result.ranks.back().busy;
        first += static_cast<std::uint32_t>(lowered->order[at(rank)].size());
    }
    const std::int64_t total = result.makespan.ns * lowered->ranks();
    const auto idle = static_cast<double>(total - busy.ns);
    result.bubbleFractionIdeal = busy.ns > 0 ? idle / static_cast<double>(busy.ns) : 0;
    result.bubbleFractionTotal = total > 0 ? idle / static_cast<double>(total) : 0;
    return result;
}

}  // namespace pleat::graph
