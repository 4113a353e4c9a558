#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "graph/measured_draft.h"
#include "graph/timer_error.h"

namespace pleat::graph {
namespace {

using base::TraceTime;

// Finds the strongly connected components of the edges (Tarjan, without recursion): nodes that wait
// for each other have the same number.
class Components {
  public:
    Components(std::size_t nodes, const std::vector<Edge>& edges)
        : m_first(nodes + 1, 0), m_next(edges.size()), m_low(nodes, 0), m_number(nodes, 0) {
        for (const Edge& edge : edges) ++m_first[edge.from.index() + 1];
        for (std::size_t i = 0; i < nodes; ++i) m_first[i + 1] += m_first[i];
        std::vector<std::size_t> at(m_first.begin(), m_first.end() - 1);
        for (const Edge& edge : edges) m_next[at[edge.from.index()]++] = edge.to.index();
        for (std::size_t i = 0; i < nodes; ++i) {
            if (m_number[i] == 0) visit(i);
        }
    }
    [[nodiscard]] std::size_t of(NodeId id) const { return m_low[id.index()]; }

  private:
    struct Frame {
        std::size_t node, edge;
    };

    void visit(std::size_t root) {
        open(root);
        while (!m_frames.empty()) {
            Frame& frame = m_frames.back();
            if (frame.edge < m_first[frame.node + 1]) {
                const std::size_t next = m_next[frame.edge++];
                if (m_number[next] == 0) {
                    open(next);
                } else if (m_low[next] < kClosed) {
                    m_low[frame.node] = std::min(m_low[frame.node], m_number[next]);
                }
            } else {
                close(frame.node);
            }
        }
    }

    void open(std::size_t node) {
        m_number[node] = m_low[node] = ++m_count;
        m_stack.push_back(node);
        m_frames.push_back({node, m_first[node]});
    }

    void close(std::size_t node) {
        m_frames.pop_back();
        if (!m_frames.empty()) {
            std::size_t& low = m_low[m_frames.back().node];
            low = std::min(low, m_low[node]);
        }
        if (m_low[node] != m_number[node]) return;
        for (std::size_t member = m_stack.size(); member != node;) {
            member = m_stack.back();
            m_stack.pop_back();
            m_low[member] = kClosed + node;
        }
    }

    static constexpr std::size_t kClosed = std::numeric_limits<std::size_t>::max() / 2;
    std::vector<std::size_t> m_first, m_next;
    std::vector<std::size_t> m_low, m_number, m_stack;
    std::vector<Frame> m_frames;
    std::size_t m_count = 0;
};

base::Duration overlapOf(const MeasuredDraft& draft, const Edge& edge) {
    return draft.nodes[edge.from].measured.end - draft.nodes[edge.to].measured.begin;
}

// Order that the times bear out cannot make a cycle. Of the edges that only timer noise allows, the
// weakest and worst of each cycle goes, until there is none.
void breakCycles(MeasuredDraft& draft) {
    constexpr int kMostRounds = 32;
    for (int round = 0; round <= kMostRounds; ++round) {
        const Components components(draft.nodes.size(), draft.edges);
        std::map<std::size_t, std::size_t> worst;  // component -> edge
        std::vector<bool> goes(draft.edges.size(), false);
        const auto weaker = [&](std::size_t a, std::size_t b) {
            const Edge &first = draft.edges[a], &second = draft.edges[b];
            if (first.reason != second.reason) return first.reason > second.reason;
            return overlapOf(draft, first) > overlapOf(draft, second);
        };
        for (std::size_t i = 0; i < draft.edges.size(); ++i) {
            const Edge& edge = draft.edges[i];
            if (components.of(edge.from) != components.of(edge.to)) continue;
            if (overlapOf(draft, edge).ns <= 0) continue;
            if (round == kMostRounds) goes[i] = true;
            const auto [known, isNew] = worst.try_emplace(components.of(edge.from), i);
            if (!isNew && weaker(i, known->second)) known->second = i;
        }
        if (worst.empty()) return;
        for (const auto& [component, edge] : worst) goes[edge] = true;
        std::vector<Edge> kept;
        for (std::size_t i = 0; i < goes.size(); ++i) {
            if (!goes[i]) kept.push_back(draft.edges[i]);
            draft.contradictions.count += goes[i] ? 1 : 0;
        }
        draft.edges = std::move(kept);
    }
}

// When a rank began its part, as recorded.
std::optional<TraceTime> recordedBegin(const MeasuredDraft& draft, const Node& node) {
    if (node.source < 0 || node.cut) return std::nullopt;
    const auto source = static_cast<std::size_t>(node.source);
    if (node.kind == NodeKind::Transfer)
        return draft.found.transfers[trace::TransferId::at(source)].span.begin;
    if (node.kind == NodeKind::Phase) return draft.found.phases[source].span.begin;
    return std::nullopt;
}

// Do the timers of a collective begin only when its last member is there? Then they begin at one
// moment though some member had been idle before.
bool startsTogether(const MeasuredDraft& draft, const TaskGraph& graph,
                    const base::IdVector<NodeTag, Node>& nodes, NodeId ready) {
    const base::Duration together = std::max(kOfATimer, draft.resolution);
    std::map<std::int32_t, TraceTime> free;
    for (const NodeId before : graph.predecessors(ready)) {
        TraceTime& end =
            free.try_emplace(nodes[before].rank, nodes[before].measured.end).first->second;
        end = std::max(end, nodes[before].measured.end);
    }
    bool wasIdle = false;
    std::size_t members = 0;
    for (const NodeId member : graph.successors(ready)) {
        const auto begin = recordedBegin(draft, nodes[member]);
        if (!begin || nodes[ready].measured.begin - *begin > together) return false;
        const auto own = free.find(nodes[member].rank);
        wasIdle = wasIdle || (own != free.end() && *begin - own->second > together);
        ++members;
    }
    return wasIdle && members > 1;
}

void markThoseThatStartTogether(const MeasuredDraft& draft, const TaskGraph& graph,
                                base::IdVector<NodeTag, Node>& nodes) {
    for (const NodeId id : graph.topologicalOrder()) {
        if (nodes[id].kind != NodeKind::Ready || nodes[id].dimension == trace::Dimension::Pp ||
            !startsTogether(draft, graph, nodes, id))
            continue;
        nodes[id].startsTogether = true;
        for (const NodeId member : graph.successors(id)) nodes[member].startsTogether = true;
    }
}

base::Result<TaskGraph> buildGraph(MeasuredDraft& draft) {
    const auto build = [&] {
        std::vector<std::pair<NodeId, NodeId>> edges;
        edges.reserve(draft.edges.size());
        for (const Edge& edge : draft.edges) edges.emplace_back(edge.from, edge.to);
        return TaskGraph::build(draft.nodes, std::move(edges));
    };
    auto graph = build();
    if (graph || draft.resolution.ns == 0) return graph;
    breakCycles(draft);
    return build();
}

}  // namespace

base::Result<TaskGraph> withTimes(MeasuredDraft draft) {
    auto graph = buildGraph(draft);
    if (!graph) return graph.error();
    base::IdVector<NodeTag, Node> nodes = graph->nodes();
    for (const NodeId id : graph->topologicalOrder()) {
        Node& node = nodes[id];
        TraceTime free = draft.window.begin;
        base::Duration noise;  // of what it depends on: by how much later that ends than recorded
        for (const NodeId before : graph->predecessors(id)) {
            free = std::max(free, nodes[before].measured.end);
            noise = std::max(noise, nodes[before].measured.end - draft.nodes[before].measured.end);
        }
        const base::Duration overlap = free - node.measured.begin;
        if (overlap.ns > 0 && overlap <= draft.resolution + noise) node.measured.begin = free;
        node.measured.end = std::max(node.measured.end, node.measured.begin);
        node.duration = node.measured.length();
        node.delay = std::max(base::Duration{}, node.measured.begin - free);
    }
    markThoseThatStartTogether(draft, *graph, nodes);
    return std::move(*graph).withNodes(std::move(nodes)).withContradictions(draft.contradictions);
}

}  // namespace pleat::graph
