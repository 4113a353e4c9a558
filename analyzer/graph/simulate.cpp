#include "graph/simulate.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/in_order_run.h"
#include "schedule/validate.h"

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

// Messages are made from the dependency rule and sharding takes no time, so neither SEND and RECV
// nor UNSHARD and RESHARD have a node of their own.
bool hasNode(ActionKind kind) {
    return schedule::isCompute(kind) || kind == ActionKind::ReduceGradient;
}

// Builds the graph of a valid schedule: a node per compute action and sync, rank after rank in the
// order of their lists; a rank's compute in order, its syncs in order on a lane of their own, and
// the dependency rule between ranks, with a Transfer node for each message that takes time.
class GraphMaker {
  public:
    GraphMaker(const schedule::Schedule& valid, const schedule::ActionIndex& index,
               const CostModel& costs)
        : m_schedule(valid), m_index(index), m_context(index.context(valid)), m_costs(costs) {
        m_context.withCommunication = false;
    }

    base::Result<TaskGraph> make() && {
        std::size_t actions = 0;
        for (const auto& order : m_schedule.order) actions += order.size();
        const bool transfers = m_costs.message > base::Duration{};
        m_nodes.reserve(transfers ? 2 * actions : actions);
        m_edges.reserve(transfers ? 3 * actions : 2 * actions);
        for (std::int32_t rank = 0; rank < m_schedule.ranks(); ++rank) addRank(rank);
        for (std::int32_t rank = 0; rank < m_schedule.ranks(); ++rank) addDependencies(rank);
        return TaskGraph::build(std::move(m_nodes), std::move(m_edges));
    }

  private:
    void addRank(std::int32_t rank) {
        NodeId lastCompute, lastSync;
        std::vector<NodeId>& nodes = m_nodeAt.emplace_back();
        nodes.reserve(m_schedule.order[at(rank)].size());
        for (const Action& action : m_schedule.order[at(rank)]) {
            NodeId& id = nodes.emplace_back();
            if (!hasNode(action.kind)) continue;
            id = m_nodes.push(makeNode(action, rank));
            NodeId& last = schedule::isCompute(action.kind) ? lastCompute : lastSync;
            if (last.valid()) m_edges.emplace_back(last, id);
            last = id;
        }
    }

    Node makeNode(const Action& action, std::int32_t rank) const {
        Node node;
        const bool sync = action.kind == ActionKind::ReduceGradient;
        node.kind = sync ? NodeKind::Transfer : NodeKind::Task;
        node.action = action.kind;
        node.dimension = sync ? trace::Dimension::Dp : trace::Dimension::Other;
        node.rank = rank;
        node.stage = action.stage;
        node.microbatch = action.microbatch;
        node.duration = durationOf(action, rank);
        return node;
    }

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
            case ActionKind::ReduceGradient:
                return share(m_costs.sync, chunk, chunks);
            case ActionKind::OverlapForwardBackward:
                return durationOf(action.parts[0], rank) + durationOf(action.parts[1], rank);
            default:
                return {};
        }
    }

    void addDependencies(std::int32_t rank) {
        const std::vector<Action>& order = m_schedule.order[at(rank)];
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (!hasNode(order[i].kind)) continue;
            const NodeId id = m_nodeAt[at(rank)][i];
            // Of what lies on the rank itself the latest is enough, and a compute action has even
            // that from the order of its rank.
            NodeId latestHere;
            schedule::forEachDependency(order[i], m_context, [&](const Action& needed) {
                const auto position = m_index.find(needed);
                if (!position) return;
                const NodeId before = m_nodeAt[at(position->rank)][at(position->index)];
                if (position->rank != rank) return addHop(before, id, needed);
                if (!latestHere.valid() || latestHere < before) latestHere = before;
            });
            if (order[i].kind == ActionKind::ReduceGradient && latestHere.valid())
                m_edges.emplace_back(latestHere, id);
        }
    }

    // What `sent` produced travels to the rank of `to`.
    void addHop(NodeId from, NodeId to, const Action& sent) {
        if (m_costs.message <= base::Duration{}) {
            m_edges.emplace_back(from, to);
            return;
        }
        const bool forward = sent.kind == ActionKind::Forward;
        Node node;
        node.kind = NodeKind::Transfer;
        node.action = forward ? ActionKind::ReceiveForward : ActionKind::ReceiveBackward;
        node.dimension = trace::Dimension::Pp;
        node.rank = m_nodes[to].rank;
        node.stage = sent.stage + (forward ? 1 : -1);
        node.microbatch = sent.microbatch;
        node.duration = m_costs.message;
        const NodeId hop = m_nodes.push(node);
        m_edges.emplace_back(from, hop);
        m_edges.emplace_back(hop, to);
    }

    const schedule::Schedule& m_schedule;
    const schedule::ActionIndex& m_index;
    schedule::DependencyContext m_context;
    const CostModel& m_costs;
    base::IdVector<NodeTag, Node> m_nodes;
    Edges m_edges;
    std::vector<std::vector<NodeId>> m_nodeAt;  // [rank][position]; invalid without a node
};

// One rank's figures. Its nodes are `first` and those that follow, in the order of its list, which
// `first` is moved past.
SimulatedRank summariseRank(const schedule::Schedule& valid, std::int32_t rank,
                            const TaskGraph& graph, const Times& times, std::uint32_t& first) {
    SimulatedRank result;
    const auto chunks = valid.placement.stagesOf(rank).size();
    std::vector<base::TraceTime> lastBackward(chunks);
    base::TraceTime endOfBackward;
    std::int32_t alive = 0, peak = 0;
    const auto visit = [&](const Action& action, base::TraceTime finish) {
        const std::size_t chunk = at(valid.placement.chunkOf(action.stage));
        if (action.kind == ActionKind::Forward) peak = std::max(peak, ++alive);
        const bool releases =
            action.kind == ActionKind::FullBackward || action.kind == ActionKind::WeightBackward;
        if (releases) --alive;
        if (!releases && action.kind != ActionKind::InputBackward) return;
        lastBackward[chunk] = std::max(lastBackward[chunk], finish);
        endOfBackward = std::max(endOfBackward, finish);
    };
    for (const Action& action : valid.order[at(rank)]) {
        if (!hasNode(action.kind)) continue;
        const NodeId node(first++);
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
    const base::Result<schedule::ActionIndex> index = schedule::validatedIndex(given);
    if (!index) return index.error();
    base::Result<TaskGraph> graph = GraphMaker(given, *index, costs).make();
    if (!graph) return graph.error();

    Simulation result{std::move(*graph), {}, {}, 0, 0, {}};
    result.times = earliestTimes(result.graph);
    result.makespan = result.times.end - base::TraceTime{};
    // Sums over ranks need not fit into 64 bits: 1024 ranks x 1e16 ns do not.
    double busy = 0, idle = 0;
    std::uint32_t first = 0;
    for (std::int32_t rank = 0; rank < given.ranks(); ++rank) {
        result.ranks.push_back(summariseRank(given, rank, result.graph, result.times, first));
        busy += static_cast<double>(result.ranks.back().busy.ns);
        idle += static_cast<double>((result.makespan - result.ranks.back().busy).ns);
    }
    result.bubbleFractionIdeal = busy > 0 ? idle / busy : 0;
    result.bubbleFractionTotal = busy + idle > 0 ? idle / (busy + idle) : 0;
    return result;
}

}  // namespace pleat::graph
