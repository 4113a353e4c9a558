#include "graph/measured_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "schedule/dependencies.h"

namespace pleat::graph {
namespace {

using base::Interval;
using schedule::Action;
using schedule::ActionKind;
using trace::RankId;

bool isBackward(ActionKind kind) {
    return kind == ActionKind::FullBackward || kind == ActionKind::WeightBackward;
}

bool isReceive(const trace::Transfer& transfer) {
    return transfer.operation == trace::Operation::Receive;
}

// A rank's task or phase, in order of time.
struct Computed {
    Interval span;
    NodeId node;
};

class MeasuredGraph {
  public:
    MeasuredGraph(const RunIndex& run, const IterationWindow& window)
        : m_trace(run.trace()),
          m_found(m_trace.annotations()),
          m_items(run.itemsOf(window.iteration)),
          m_window(window.window),
          m_iteration(window.iteration),
          m_computed(m_trace.ranks().size()) {}

    base::Result<TaskGraph> build() && {
        numberReplicas();
        addTasks();
        addPhases();
        orderOnRanks();
        addTransfers();
        orderOnLanes();
        linkTransfers();
        linkLateReceives();
        linkTasks();
        linkOptimizers();
        setDelays();
        return TaskGraph::build(std::move(m_nodes), std::move(m_edges));
    }

  private:
    // A rank's part of a communication. `entry` is where its dependencies go: the Ready node of its
    // match, or the transfer itself when it has none.
    struct Part {
        const trace::Transfer* transfer;
        NodeId node, entry;
    };

    // Stage and microbatch are below 2^20 (annotation sees to it), kinds below 2^4.
    using Key = std::uint64_t;

    Key keyOf(std::uint32_t replica, const Action& action) const {
        return (Key{replica} << 44) | (Key{static_cast<std::uint8_t>(action.kind)} << 40) |
               (Key{static_cast<std::uint32_t>(action.stage) & 0xfffffU} << 20) |
               (static_cast<std::uint32_t>(action.microbatch) & 0xfffffU);
    }

    // Ranks that differ only in their pipeline coordinate make up one pipeline.
    void numberReplicas() {
        std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t>, std::uint32_t>
            known;
        for (const trace::Rank& rank : m_trace.ranks()) {
            const trace::Coordinates& at = rank.coordinates;
            const auto next = static_cast<std::uint32_t>(known.size());
            m_replica.push_back(
                known.try_emplace({at.dp, at.tp, at.ep, at.cp}, next).first->second);
        }
    }

    Interval clip(Interval span) const {
        return {std::clamp(span.begin, m_window.begin, m_window.end),
                std::clamp(span.end, m_window.begin, m_window.end)};
    }

    // What lies wholly outside the window has no part in it.
    bool belongs(Interval span) const {
        return span.begin <= m_window.end && span.end >= m_window.begin;
    }

    NodeId addNode(NodeKind kind, RankId rank, Interval span, std::size_t source) {
        Node node;
        node.kind = kind;
        node.rank = rank.valid() ? static_cast<std::int32_t>(rank.index()) : -1;
        node.iteration = m_iteration;
        node.measured = clip(span);
        node.duration = node.measured.length();
        node.source = static_cast<std::int32_t>(source);
        return m_nodes.push(node);
    }

    void addTasks() {
        for (const std::uint32_t i : m_items.tasks) {
            const trace::Task& task = m_found.tasks[trace::TaskId::at(i)];
            if (!belongs(task.span)) continue;
            const NodeId id = addNode(NodeKind::Task, task.rank, task.span, i);
            m_nodes[id].action = task.kind;
            m_nodes[id].stage = task.stage;
            m_nodes[id].microbatch = task.microbatch;
            m_computed[task.rank.index()].push_back({m_nodes[id].measured, id});
            registerAction(task.rank, actionOf(task), id);
        }
    }

    // The parts of a composite stand only in its name.
    Action actionOf(const trace::Task& task) const {
        if (task.kind == ActionKind::OverlapForwardBackward) {
            if (auto action = schedule::parseAction(m_trace.name(task.event))) return *action;
        }
        return {task.stage, task.kind, task.microbatch, {}};
    }

    void registerAction(RankId rank, const Action& action, NodeId id) {
        for (const Action& part : action.parts) registerAction(rank, part, id);
        const std::int32_t pipelineRank = m_trace.ranks()[rank].coordinates.pp;
        m_byAction[keyOf(m_replica[rank.index()], action)] = id;
        m_microbatches = std::max(m_microbatches, action.microbatch + 1);
        if (action.stage >= 0) m_holder[action.stage] = pipelineRank;
        if (isBackward(action.kind)) {
            NodeId& last = m_lastBackward[{rank, action.stage}];
            if (!last.valid() || m_nodes[last].measured.end <= m_nodes[id].measured.end) last = id;
        }
    }

    void addPhases() {
        for (const std::uint32_t i : m_items.phases) {
            const trace::Phase& phase = m_found.phases[i];
            if (!belongs(phase.span)) continue;
            const NodeId id = addNode(NodeKind::Phase, phase.rank, phase.span, i);
            m_computed[phase.rank.index()].push_back({m_nodes[id].measured, id});
            if (phase.kind == trace::PhaseKind::Optimizer) m_optimizers[phase.rank].push_back(id);
        }
    }

    void orderOnRanks() {
        for (std::vector<Computed>& order : m_computed) {
            std::stable_sort(order.begin(), order.end(), [](const Computed& a, const Computed& b) {
                return std::tie(a.span.begin, a.span.end) < std::tie(b.span.begin, b.span.end);
            });
            for (std::size_t i = 1; i < order.size(); ++i) {
                addEdge(order[i - 1].node, order[i].node);
            }
        }
    }

    void addTransfers() {
        for (const std::uint32_t i : m_items.transfers) {
            const trace::Transfer& transfer = m_found.transfers[trace::TransferId::at(i)];
            if (!belongs(transfer.span)) continue;
            base::TraceTime begin = transfer.span.begin;
            if (transfer.match.valid()) {
                begin = std::max(begin, m_found.matches[transfer.match].ready);
            }
            const NodeId id = addNode(NodeKind::Transfer, transfer.rank,
                                      {begin, std::max(begin, transfer.span.end)}, i);
            describe(id, transfer);
            const NodeId entry = transfer.match.valid() ? readyNode(transfer) : id;
            if (entry != id) addEdge(entry, id);
            m_parts.push_back({&transfer, id, entry});
            if (transfer.action && isReceive(transfer)) {
                m_byAction[keyOf(m_replica[transfer.rank.index()],
                                 {transfer.stage, *transfer.action, transfer.microbatch, {}})] = id;
            }
        }
    }

    void describe(NodeId id, const trace::Transfer& transfer) {
        Node& node = m_nodes[id];
        if (transfer.action) node.action = *transfer.action;
        node.dimension = transfer.dimension;
        node.stage = transfer.stage;
        node.microbatch = transfer.microbatch;
    }

    NodeId readyNode(const trace::Transfer& transfer) {
        NodeId& ready = m_ready[transfer.match];
        if (!ready.valid()) {
            const base::TraceTime moment = m_found.matches[transfer.match].ready;
            ready = addNode(NodeKind::Ready, RankId(), {moment, moment}, transfer.match.index());
            describe(ready, transfer);
        }
        return ready;
    }

    void orderOnLanes() {
        std::map<trace::LaneId, std::vector<const Part*>> lanes;
        for (const Part& part : m_parts) {
            lanes[m_trace.columns().lane[part.transfer->event.index()]].push_back(&part);
        }
        for (auto& [lane, parts] : lanes) {
            std::stable_sort(parts.begin(), parts.end(), [](const Part* a, const Part* b) {
                return a->transfer->event < b->transfer->event;
            });
            for (std::size_t i = 1; i < parts.size(); ++i) {
                addEdge(parts[i - 1]->node, parts[i]->entry);
            }
        }
    }

    void linkTransfers() {
        for (const Part& part : m_parts) {
            const trace::Transfer& transfer = *part.transfer;
            if (transfer.action == ActionKind::ReduceGradient) {
                linkSync(part);
            } else if (transfer.action && isCommunication(*transfer.action)) {
                if (!isReceive(transfer)) linkSend(part);
            } else {
                linkByTime(part);
            }
        }
    }

    void linkSync(const Part& part) {
        const trace::Transfer& transfer = *part.transfer;
        const auto backward = m_lastBackward.find({transfer.rank, transfer.stage});
        if (backward != m_lastBackward.end()) addEdge(backward->second, part.entry);
        const auto optimizers = m_optimizers.find(transfer.rank);
        if (optimizers == m_optimizers.end()) return;
        for (const NodeId optimizer : optimizers->second) addEdge(part.node, optimizer);
    }

    void linkSend(const Part& part) {
        const trace::Transfer& transfer = *part.transfer;
        const std::uint32_t replica = m_replica[transfer.rank.index()];
        const Action send{transfer.stage, *transfer.action, transfer.microbatch, {}};
        // What a send needs never depends on where stages lie.
        const schedule::Placement anywhere;
        forEachDependency(send, context(replica, anywhere), [&](const Action& needed) {
            if (const auto node = find(replica, needed)) addEdge(*node, part.entry);
        });
    }

    // A receive is posted ahead, or once its rank has computed what comes before: where it is what
    // a message waited for, that is what it was late by. Nothing recorded names the task; of those
    // that had ended the last one explains most. Timers of some engines begin on both ends when
    // data begins to move: which end is some nanoseconds later says nothing then.
    void linkLateReceives() {
        const auto explained = explainedTimes();
        for (const Part& part : m_parts) {
            const trace::Transfer& transfer = *part.transfer;
            const base::TraceTime begin = clip(transfer.span).begin;
            if (!isReceive(transfer) || !transfer.action || part.entry == part.node ||
                m_nodes[part.entry].measured.begin - begin > togetherWithin(transfer.rank))
                continue;
            const std::optional<Computed> before = lastEndedBy(transfer.rank, begin);
            if (before && before->span.end > explained[part.entry])
                addEdge(before->node, part.entry);
        }
    }

    // Begins on two ranks that are no further apart are one moment, as far as can be told.
    base::Duration togetherWithin(RankId rank) const {
        constexpr base::Duration kOfATimer{1'000};
        return std::max(kOfATimer, m_trace.ranks()[rank].clockBound.value_or(base::Duration{}));
    }

    // An engine may let its sends run on and wait for them at the end: where messages of the rank
    // ended in the pause before its optimizer, that waited for them. Nothing recorded says so.
    void linkOptimizers() {
        const auto explained = explainedTimes();
        for (const Part& part : m_parts) {
            const auto optimizers = m_optimizers.find(part.transfer->rank);
            if (optimizers == m_optimizers.end() || !isMessage(part.transfer->operation)) continue;
            for (const NodeId optimizer : optimizers->second) {
                const base::TraceTime end = m_nodes[part.node].measured.end;
                if (end > explained[optimizer] && end <= m_nodes[optimizer].measured.begin)
                    addEdge(part.node, optimizer);
            }
        }
    }

    // When all that a node is known to depend on had ended.
    base::IdVector<NodeTag, base::TraceTime> explainedTimes() const {
        base::IdVector<NodeTag, base::TraceTime> explained(m_nodes.size(), m_window.begin);
        for (const auto& [from, to] : m_edges)
            explained[to] = std::max(explained[to], m_nodes[from].measured.end);
        return explained;
    }

    // What the rank computed last before `time`.
    std::optional<Computed> lastEndedBy(RankId rank, base::TraceTime time) const {
        const auto& order = m_computed[rank.index()];
        auto candidate =
            std::upper_bound(order.begin(), order.end(), time,
                             [](base::TraceTime t, const Computed& c) { return t < c.span.begin; });
        while (candidate != order.begin()) {
            --candidate;
            if (candidate->span.end <= time) return *candidate;
        }
        return std::nullopt;
    }

    // Nothing says what it belongs to: between what its rank computed before and after.
    void linkByTime(const Part& part) {
        const Interval span = clip(part.transfer->span);
        const auto& order = m_computed[part.transfer->rank.index()];
        const auto after =
            std::lower_bound(order.begin(), order.end(), span.end,
                             [](const Computed& c, base::TraceTime t) { return c.span.begin < t; });
        if (after != order.end()) addEdge(part.node, after->node);
        if (const auto before = lastEndedBy(part.transfer->rank, span.begin))
            addEdge(before->node, part.entry);
    }

    void linkTasks() {
        const schedule::Placement placement = placementOf();
        for (std::size_t r = 0; r < m_computed.size(); ++r) {
            for (const Computed& computed : m_computed[r]) {
                const Node& node = m_nodes[computed.node];
                if (node.kind != NodeKind::Task) continue;
                const Action action = actionOf(
                    m_found.tasks[trace::TaskId::at(static_cast<std::size_t>(node.source))]);
                linkTask(m_replica[r], action, computed.node, placement);
            }
        }
    }

    void linkTask(std::uint32_t replica, const Action& action, NodeId id,
                  const schedule::Placement& placement) {
        forEachDependency(action, context(replica, placement), [&](const Action& needed) {
            const auto node = find(replica, needed);
            if (node) return addEdge(*node, id);
            // The message was not recorded: what its sender had to compute stands for it.
            if (needed.kind == ActionKind::ReceiveForward) {
                addEdgeFrom(replica, {needed.stage - 1, ActionKind::Forward, needed.microbatch, {}},
                            id);
            } else if (needed.kind == ActionKind::ReceiveBackward) {
                const bool split = isSplit(replica, needed.stage + 1, needed.microbatch);
                addEdgeFrom(replica,
                            {needed.stage + 1,
                             split ? ActionKind::InputBackward : ActionKind::FullBackward,
                             needed.microbatch,
                             {}},
                            id);
            }
        });
    }

    void addEdgeFrom(std::uint32_t replica, const Action& needed, NodeId to) {
        if (const auto node = find(replica, needed)) addEdge(*node, to);
    }

    schedule::Placement placementOf() const {
        std::map<std::int32_t, std::int32_t> dense;  // pipeline coordinate -> 0, 1, …
        std::vector<std::int32_t> rankOfStage(
            m_holder.empty() ? 0 : static_cast<std::size_t>(m_holder.rbegin()->first) + 1, 0);
        for (const auto& [stage, pipelineRank] : m_holder) {
            const auto next = static_cast<std::int32_t>(dense.size());
            rankOfStage[static_cast<std::size_t>(stage)] =
                dense.try_emplace(pipelineRank, next).first->second;
        }
        return {std::max(1, static_cast<std::int32_t>(dense.size())), std::move(rankOfStage)};
    }

    schedule::DependencyContext context(std::uint32_t replica,
                                        const schedule::Placement& placement) const {
        return {placement, m_microbatches, true,
                [this, replica](std::int32_t stage, std::int32_t microbatch) {
                    return isSplit(replica, stage, microbatch);
                }};
    }

    bool isSplit(std::uint32_t replica, std::int32_t stage, std::int32_t microbatch) const {
        return find(replica, {stage, ActionKind::InputBackward, microbatch, {}}).has_value();
    }

    std::optional<NodeId> find(std::uint32_t replica, const Action& action) const {
        const auto found = m_byAction.find(keyOf(replica, action));
        return found == m_byAction.end() ? std::nullopt : std::optional(found->second);
    }

    // A dependency that the measured times contradict (clocks that disagree, overlapping ranges) is
    // left out: so time itself keeps the graph free of cycles.
    void addEdge(NodeId from, NodeId to) {
        const Interval before = m_nodes[from].measured;
        const Interval after = m_nodes[to].measured;
        if (from == to || before.begin > after.begin || before.end > after.end) return;
        m_edges.emplace_back(from, to);
    }

    void setDelays() {
        const auto free = explainedTimes();
        for (std::size_t i = 0; i < m_nodes.size(); ++i) {
            Node& node = m_nodes[NodeId::at(i)];
            node.delay = std::max(base::Duration{}, node.measured.begin - free[NodeId::at(i)]);
        }
    }

    const trace::Trace& m_trace;
    const trace::Annotations& m_found;
    const IterationItems m_items;
    Interval m_window;
    std::int32_t m_iteration;
    std::int32_t m_microbatches = 0;
    base::IdVector<NodeTag, Node> m_nodes;
    std::vector<std::pair<NodeId, NodeId>> m_edges;
    std::vector<std::uint32_t> m_replica;           // [RankId index]
    std::vector<std::vector<Computed>> m_computed;  // [RankId index]
    std::unordered_map<Key, NodeId> m_byAction;     // tasks and receives
    std::map<std::int32_t, std::int32_t> m_holder;  // stage -> pipeline coordinate
    std::map<std::pair<RankId, std::int32_t>, NodeId> m_lastBackward;  // of a rank's stage
    std::map<RankId, std::vector<NodeId>> m_optimizers;
    std::unordered_map<trace::MatchId, NodeId> m_ready;
    std::vector<Part> m_parts;
};

}  // namespace

base::Result<TaskGraph> measuredGraph(const RunIndex& run, const IterationWindow& window) {
    return MeasuredGraph(run, window).build();
}

Replay replay(const TaskGraph& graph, const IterationWindow& window) {
    base::TraceTime last = window.window.begin;
    for (const Node& node : graph.nodes()) last = std::max(last, node.measured.end);
    const Times times = earliestTimes(graph, window.window.begin);
    Replay result;
    result.measured = window.window.length();
    result.predicted = (times.end - window.window.begin) + (window.window.end - last);
    if (result.measured.ns > 0) {
        result.errorFraction =
            std::abs(static_cast<double>((result.predicted - result.measured).ns)) /
            static_cast<double>(result.measured.ns);
    }
    return result;
}

base::Result<Replay> replay(const RunIndex& run, const IterationWindow& window) {
    const auto graph = measuredGraph(run, window);
    if (!graph) return graph.error();
    return replay(*graph, window);
}

}  // namespace pleat::graph
