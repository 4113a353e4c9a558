#include "graph/timer_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "graph/timer_events.h"
#include "graph/timer_rules.h"

namespace pleat::graph {
namespace {

using base::Interval;
using trace::RankId;
using trace::Timer;
using trace::TimerGroup;
using trace::TimerRole;

// Whose parts of a communication belong together; -1 for a coordinate in which members differ.
using GroupKey =
    std::tuple<std::string_view, std::int32_t, std::int32_t, std::int32_t, std::int64_t>;

class StepGraph {
  public:
    StepGraph(const trace::Trace& trace, std::int32_t step, const ComputeOrders& orders)
        : m_trace(trace), m_step(step), m_orders(orders) {}

    base::Result<TimerStep> build(std::span<const TimerEvent> events) && {
        for (const TimerEvent& event : events) {
            if (!add(event)) {
                return base::Error{base::ErrorCode::Input,
                                   fmt::format("timer \"{}\" of sequence {} appears twice on rank "
                                               "{} in step {}; a file must contain one run",
                                               event.timer->name, event.sequence,
                                               m_trace.ranks()[event.rank].number, m_step)};
            }
        }
        gatherGroups();
        for (const auto& [rank, chain] : m_chains) linkRank(rank);
        base::Result<TaskGraph> graph = TaskGraph::build(std::move(m_nodes), std::move(m_edges));
        if (!graph) return graph.error().within(fmt::format("step {}", m_step));
        return TimerStep{m_step, {}, std::move(*graph), std::move(m_timers)};
    }

  private:
    using Key = std::tuple<RankId, std::string_view, std::int64_t>;
    struct Group {
        std::vector<NodeId> members;
        base::TraceTime ready;
        NodeId node;
    };

    bool add(const TimerEvent& event) {
        const trace::Coordinates& at = m_trace.ranks()[event.rank].coordinates;
        const Timer& timer = *event.timer;
        Node node;
        node.kind = timer.role == TimerRole::Task         ? NodeKind::Task
                    : timer.group != TimerGroup::Alone    ? NodeKind::Transfer
                    : timer.role == TimerRole::Collective ? NodeKind::Transfer
                                                          : NodeKind::Phase;
        node.action = timer.action;
        node.dimension = timer.dimension;
        node.rank = static_cast<std::int32_t>(event.rank.index());
        node.iteration = m_step;
        node.stage = at.pp;
        const bool ofMicrobatch = timer.role == TimerRole::Task || timer.role == TimerRole::Message;
        node.microbatch = ofMicrobatch ? static_cast<std::int32_t>(event.sequence) : -1;
        node.measured = event.span;
        node.duration = event.span.length();
        const NodeId id = m_nodes.push(node);
        m_timers.push({&timer, {}});
        m_starts.push(event.span.begin);
        auto& chain = m_chains[event.rank];
        if (timer.group == TimerGroup::Stage) chain.push_back(id);
        if (timer.group != TimerGroup::Alone) join(groupOf(event, at), id);
        return m_byKey.try_emplace({event.rank, timer.name, event.sequence}, id).second;
    }

    static GroupKey groupOf(const TimerEvent& event, const trace::Coordinates& at) {
        const std::string_view name = event.timer->name;
        switch (event.timer->group) {
            case TimerGroup::Message:
                break;
            case TimerGroup::Stage:
                return {name, at.pp, -1, at.tp, event.sequence};
            case TimerGroup::Embedding:
                return {name, -1, at.dp, at.tp, event.sequence};
            case TimerGroup::Everybody:
            case TimerGroup::Alone:
                return {name, -1, -1, -1, event.sequence};
        }
        // Named after the receiving side.
        if (name == trace::kForwardSend)
            return {trace::kForwardReceive, at.pp + 1, at.dp, at.tp, event.sequence};
        if (name == trace::kBackwardSend)
            return {trace::kBackwardReceive, at.pp - 1, at.dp, at.tp, event.sequence};
        return {name, at.pp, at.dp, at.tp, event.sequence};
    }

    void join(const GroupKey& key, NodeId id) {
        Group& group = m_groups[key];
        const base::TraceTime begin = m_nodes[id].measured.begin;
        if (group.members.empty() || begin > group.ready) group.ready = begin;
        group.members.push_back(id);
    }

    // A member moves data from the latest start of its group on. Its own timer may end before that:
    // clocks differ by microseconds.
    void gatherGroups() {
        for (std::size_t i = 0; i < m_nodes.size(); ++i) m_entry.push(NodeId::at(i));
        for (auto& [key, group] : m_groups) {
            Node ready;
            ready.kind = NodeKind::Ready;
            ready.dimension = m_nodes[group.members.front()].dimension;
            ready.iteration = m_step;
            ready.measured = {group.ready, group.ready};
            group.node = m_nodes.push(ready);
            m_timers.push({});
            for (const NodeId member : group.members) {
                Node& node = m_nodes[member];
                node.measured = {group.ready, std::max(group.ready, node.measured.end)};
                node.duration = node.measured.length();
                m_entry[member] = group.node;
                m_edges.emplace_back(group.node, member);
            }
            if (group.members.size() == 2) namePeers(group.members[0], group.members[1]);
        }
    }

    void namePeers(NodeId a, NodeId b) {
        if (m_timers[a].timer->role != TimerRole::Message) return;
        m_timers[a].peer = RankId(static_cast<std::uint32_t>(m_nodes[b].rank));
        m_timers[b].peer = RankId(static_cast<std::uint32_t>(m_nodes[a].rank));
    }

    NodeId find(RankId rank, std::string_view name, std::int64_t sequence) const {
        const auto found = m_byKey.find({rank, name, sequence});
        return found == m_byKey.end() ? NodeId() : found->second;
    }

    // A rule about a timer that is not there says nothing.
    void link(NodeId before, NodeId after) {
        if (before.valid() && after.valid()) m_edges.emplace_back(before, m_entry[after]);
    }

    void linkRank(RankId rank) {
        const std::vector<NodeId> order = computeOrder(rank);
        for (std::size_t i = 1; i < order.size(); ++i) link(order[i - 1], order[i]);
        for (auto at = m_byKey.lower_bound({rank, {}, 0});
             at != m_byKey.end() && std::get<0>(at->first) == rank; ++at) {
            const auto& [of, name, sequence] = at->first;
            if (name == trace::kForwardCompute)
                linkMessages(rank, sequence, name, trace::kForwardReceive, trace::kForwardSend);
            if (name == trace::kBackwardCompute)
                linkMessages(rank, sequence, name, trace::kBackwardReceive, trace::kBackwardSend);
        }
        linkFirstBackward(rank, order);
        linkStep(rank, order);
    }

    std::vector<NodeId> computeOrder(RankId rank) const {
        std::vector<NodeId> order;
        const auto found = m_orders.find(m_trace.ranks()[rank].coordinates.pp);
        if (found == m_orders.end()) return order;
        for (const auto& [name, sequence] : found->second) {
            const NodeId node = find(rank, name, sequence);
            if (node.valid()) order.push_back(node);
        }
        return order;
    }

    // A receive is posted once the compute before its own is done; messages of a direction follow
    // each other.
    void linkMessages(RankId rank, std::int64_t sequence, std::string_view compute,
                      std::string_view receive, std::string_view send) {
        const NodeId own = find(rank, compute, sequence);
        link(find(rank, receive, sequence), own);
        link(find(rank, compute, sequence - 1), find(rank, receive, sequence));
        link(find(rank, receive, sequence - 1), find(rank, receive, sequence));
        link(own, find(rank, send, sequence));
        link(find(rank, send, sequence - 1), find(rank, send, sequence));
    }

    // The messages of the first backward are posted together with those of the forward before.
    void linkFirstBackward(RankId rank, const std::vector<NodeId>& order) {
        const auto first = std::find_if(order.begin(), order.end(), [&](NodeId id) {
            return m_nodes[id].action == schedule::ActionKind::FullBackward;
        });
        if (first == order.end() || first - order.begin() < 2) return;
        link(*(first - 2), find(rank, trace::kBackwardSend, 0));
        link(*(first - 2), find(rank, trace::kBackwardReceive, 0));
    }

    // What surrounds the pipeline: parameters before it, gradients and optimizer after it.
    void linkStep(RankId rank, const std::vector<NodeId>& order) {
        std::vector<NodeId> chain = m_chains[rank];
        std::stable_sort(chain.begin(), chain.end(),
                         [&](NodeId a, NodeId b) { return m_starts[a] < m_starts[b]; });
        for (std::size_t i = 1; i < chain.size(); ++i) link(chain[i - 1], chain[i]);
        NodeId parameters, firstGradients, lastGradients;
        for (const NodeId id : chain) {
            if (m_timers[id].timer->name == kTimerBeforeTasks) {
                parameters = id;
            } else {
                if (!firstGradients.valid()) firstGradients = id;
                lastGradients = id;
            }
        }
        const auto forward = std::find_if(order.begin(), order.end(), [&](NodeId id) {
            return m_nodes[id].action == schedule::ActionKind::Forward;
        });
        if (forward != order.end()) link(parameters, *forward);
        NodeId last = order.empty() ? NodeId() : order.back();
        const auto follow = [&](NodeId from, NodeId to) {
            link(last, from);
            if (to.valid()) last = to;
        };
        const auto followAll = [&](std::string_view name) {
            for (auto at = m_byKey.lower_bound({rank, name, 0});
                 at != m_byKey.end() && std::get<0>(at->first) == rank &&
                 std::get<1>(at->first) == name;
                 ++at)
                follow(at->second, at->second);
        };
        for (const std::string_view name : kTimersAfterTasks) {
            if (name == trace::kReduceScatter) {
                follow(firstGradients, lastGradients);
            } else {
                followAll(name);
            }
        }
    }

    const trace::Trace& m_trace;
    const std::int32_t m_step;
    const ComputeOrders& m_orders;
    base::IdVector<NodeTag, Node> m_nodes;
    base::IdVector<NodeTag, TimerNode> m_timers;
    base::IdVector<NodeTag, base::TraceTime> m_starts;  // as recorded; none of Ready nodes
    base::IdVector<NodeTag, NodeId> m_entry;            // where what a node needs leads to
    std::vector<std::pair<NodeId, NodeId>> m_edges;
    std::map<Key, NodeId> m_byKey;
    std::map<GroupKey, Group> m_groups;
    std::map<RankId, std::vector<NodeId>> m_chains;  // parameters and gradients of a rank
};

}  // namespace

base::Result<std::vector<TimerStep>> timerGraphs(const trace::Trace& trace,
                                                 std::span<const IterationWindow> windows) {
    std::vector<TimerStep> steps;
    const TimerTimeline timeline = readTimeline(trace);
    for (const IterationWindow& window : windows) {
        const auto events = timeline.steps.find(window.iteration);
        if (events == timeline.steps.end()) continue;
        auto step = StepGraph(trace, window.iteration, timeline.orders).build(events->second);
        if (!step) return step.error();
        step->measured = window.window.length();
        steps.push_back(std::move(*step));
    }
    return steps;
}

}  // namespace pleat::graph
