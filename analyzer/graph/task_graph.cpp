#include "graph/task_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <string>

namespace pleat::graph {
namespace {

std::string describe(const Node& node) {
    return fmt::format("{} on rank {}",
                       toString(schedule::Action{node.stage, node.action, node.microbatch, {}}),
                       node.rank);
}

// Compressed neighbour lists: neighbours of node i are list[first[i]] … list[first[i + 1] - 1].
template <class Key, class Value>
void compress(std::size_t nodes, std::span<const std::pair<NodeId, NodeId>> edges, Key key,
              Value value, std::vector<std::uint32_t>& first, std::vector<NodeId>& list) {
    first.assign(nodes + 1, 0);
    for (const auto& edge : edges) ++first[key(edge).index() + 1];
    for (std::size_t i = 0; i < nodes; ++i) first[i + 1] += first[i];
    list.resize(edges.size());
    std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
    for (const auto& edge : edges) list[next[key(edge).index()]++] = value(edge);
}

// Ascending by (from, to) in O(nodes + edges): two stable counting passes, the minor key first.
void sortEdges(std::size_t nodes, std::vector<std::pair<NodeId, NodeId>>& edges) {
    std::vector<std::pair<NodeId, NodeId>> sorted(edges.size());
    std::vector<std::uint32_t> next;
    const auto pass = [&](auto key) {
        next.assign(nodes + 1, 0);
        for (const auto& edge : edges) ++next[key(edge).index() + 1];
        for (std::size_t i = 0; i < nodes; ++i) next[i + 1] += next[i];
        for (const auto& edge : edges) sorted[next[key(edge).index()]++] = edge;
        edges.swap(sorted);
    };
    pass([](const auto& edge) { return edge.second; });
    pass([](const auto& edge) { return edge.first; });
}

}  // namespace

base::Result<TaskGraph> TaskGraph::build(base::IdVector<NodeTag, Node> nodes,
                                         std::vector<std::pair<NodeId, NodeId>> edges) {
    sortEdges(nodes.size(), edges);
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    TaskGraph graph;
    graph.m_nodes = std::move(nodes);
    const auto from = [](const auto& edge) { return edge.first; };
    const auto to = [](const auto& edge) { return edge.second; };
    compress(graph.m_nodes.size(), edges, to, from, graph.m_firstPredecessor, graph.m_predecessors);
    compress(graph.m_nodes.size(), edges, from, to, graph.m_firstSuccessor, graph.m_successors);

    std::vector<std::uint32_t> waitingFor(graph.m_nodes.size());
    for (std::size_t i = 0; i < graph.m_nodes.size(); ++i) {
        waitingFor[i] = static_cast<std::uint32_t>(graph.predecessors(NodeId::at(i)).size());
        if (waitingFor[i] == 0) graph.m_order.push_back(NodeId::at(i));
    }
    for (std::size_t done = 0; done < graph.m_order.size(); ++done) {
        for (const NodeId next : graph.successors(graph.m_order[done])) {
            if (--waitingFor[next.index()] == 0) graph.m_order.push_back(next);
        }
    }
    if (graph.m_order.size() < graph.m_nodes.size()) {
        const auto stuck = std::find_if(waitingFor.begin(), waitingFor.end(),
                                        [](std::uint32_t n) { return n > 0; });
        const NodeId id = NodeId::at(static_cast<std::size_t>(stuck - waitingFor.begin()));
        return base::Error{base::ErrorCode::Input,
                           fmt::format("the dependencies have a cycle: {} waits for itself",
                                       describe(graph.m_nodes[id]))};
    }
    return graph;
}

TaskGraph TaskGraph::withNodes(base::IdVector<NodeTag, Node> nodes) && {
    assert(nodes.size() == m_nodes.size());
    m_nodes = std::move(nodes);
    return std::move(*this);
}

TaskGraph TaskGraph::withContradictions(const Contradictions& contradictions) && {
    m_contradictions = contradictions;
    return std::move(*this);
}

std::span<const NodeId> TaskGraph::predecessors(NodeId id) const {
    return std::span(m_predecessors)
        .subspan(m_firstPredecessor[id.index()],
                 m_firstPredecessor[id.index() + 1] - m_firstPredecessor[id.index()]);
}

std::span<const NodeId> TaskGraph::successors(NodeId id) const {
    return std::span(m_successors)
        .subspan(m_firstSuccessor[id.index()],
                 m_firstSuccessor[id.index() + 1] - m_firstSuccessor[id.index()]);
}

Times earliestTimes(const TaskGraph& graph, base::TraceTime origin,
                    std::span<const base::Duration> durations) {
    Times times{base::IdVector<NodeTag, base::Interval>(graph.nodes().size()), origin};
    for (const NodeId id : graph.topologicalOrder()) {
        const Node& node = graph.nodes()[id];
        base::TraceTime start = origin;
        for (const NodeId before : graph.predecessors(id))
            start = std::max(start, times.of[before].end);
        start = start + node.delay;
        const base::Duration duration = durations.empty() ? node.duration : durations[id.index()];
        times.of[id] = {start, start + duration};
        times.end = std::max(times.end, times.of[id].end);
    }
    return times;
}

base::IdVector<NodeTag, base::Duration> slack(const TaskGraph& graph, const Times& times) {
    base::IdVector<NodeTag, base::Duration> slacks(graph.nodes().size());
    const auto order = graph.topologicalOrder();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        base::TraceTime latestFinish = times.end;
        for (const NodeId next : graph.successors(*id)) {
            const base::TraceTime latestStart =
                times.of[next].begin + slacks[next] - graph.nodes()[next].delay;
            latestFinish = std::min(latestFinish, latestStart);
        }
        slacks[*id] = latestFinish - times.of[*id].end;
    }
    return slacks;
}

std::vector<NodeId> criticalPath(const TaskGraph& graph, const Times& times) {
    const auto order = graph.topologicalOrder();
    const auto last = std::find_if(order.begin(), order.end(),
                                   [&](NodeId id) { return times.of[id].end == times.end; });
    std::vector<NodeId> path;
    if (last == order.end()) return path;
    for (NodeId id = *last; id.valid();) {
        path.push_back(id);
        const base::TraceTime free = times.of[id].begin - graph.nodes()[id].delay;
        NodeId before;
        for (const NodeId candidate : graph.predecessors(id)) {
            if (times.of[candidate].end == free && !before.valid()) before = candidate;
        }
        id = before;
    }
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace pleat::graph
