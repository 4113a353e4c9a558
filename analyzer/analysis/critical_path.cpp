#include "analysis/critical_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/ideal_replay.h"
#include "trace/device_work.h"

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// The node that ends last; of equals the one later in the order, for it depends on the other.
NodeId lastOf(const graph::TaskGraph& graph, std::span<const NodeId> candidates) {
    NodeId last;
    for (const NodeId id : candidates) {
        if (!last.valid() || graph.nodes()[id].measured.end >= graph.nodes()[last].measured.end)
            last = id;
    }
    return last;
}

// Collects the path from its end to its begin.
class Walk {
  public:
    Walk(const graph::TaskGraph& graph, base::Interval window)
        : m_graph(graph), m_window(window), m_cursor(window.end) {}

    std::vector<PathPiece> run() && {
        NodeId node = lastOf(m_graph, m_graph.topologicalOrder());
        NodeId after;
        std::int32_t rank = -1;
        while (node.valid()) {
            const Node& current = m_graph.nodes()[node];
            // A Ready node belongs to no rank: a pause before it is the late rank's own.
            const bool ready = current.kind == NodeKind::Ready;
            if (current.measured.end < m_cursor)
                take(current.measured.end, after, true, rank < 0 ? current.rank : rank);
            if (!ready) take(current.measured.begin, node, false, current.rank);
            after = node;
            rank = current.rank;
            node = lastOf(m_graph, m_graph.predecessors(node));
        }
        take(m_window.begin, after, true, rank);
        std::reverse(m_path.begin(), m_path.end());
        return std::move(m_path);
    }

  private:
    // Adds [begin, cursor), clipped to the window, unless it is empty.
    void take(base::TraceTime begin, NodeId node, bool pause, std::int32_t rank) {
        const base::TraceTime from = std::max(begin, m_window.begin);
        if (from >= m_cursor) return;
        m_path.push_back({node, pause, rank, {from, m_cursor}});
        m_cursor = from;
    }

    const graph::TaskGraph& m_graph;
    const base::Interval m_window;
    base::TraceTime m_cursor;  // everything after it is on the path
    std::vector<PathPiece> m_path;
};

std::string_view computeKind(schedule::ActionKind action) {
    switch (action) {
        case schedule::ActionKind::Forward:
            return "forward";
        case schedule::ActionKind::FullBackward:
            return "backward";
        case schedule::ActionKind::InputBackward:
            return "input_backward";
        case schedule::ActionKind::WeightBackward:
            return "weight_backward";
        default:
            return "overlapped";
    }
}

std::string_view workKind(const trace::Trace& trace, trace::EventId event) {
    switch (trace::deviceWorkOf(trace, event)) {
        case trace::DeviceWork::Copy:
            return "copy";
        case trace::DeviceWork::Communication:
            return "communication";
        default:
            return "kernel";
    }
}

// The pause between a call and its work, where the stream had nothing else to do.
bool isLaunch(const graph::TaskGraph& graph, const PathPiece& pause) {
    if (!pause.node.valid() || graph.nodes()[pause.node].kind != NodeKind::Work) return false;
    const NodeId before = lastOf(graph, graph.predecessors(pause.node));
    return before.valid() && graph.nodes()[before].kind == NodeKind::Call;
}

}  // namespace

std::vector<PathPiece> measuredCriticalPath(const graph::TaskGraph& graph, base::Interval window) {
    return Walk(graph, window).run();
}

std::string kindOf(const trace::Trace& trace, const Node& node) {
    switch (node.kind) {
        case NodeKind::Task:
            return std::string(computeKind(node.action));
        case NodeKind::Phase:
            return isDataPhase(trace, node) ? "data" : "optimizer";
        case NodeKind::Transfer:
        case NodeKind::Ready:
            return fmt::format("transfer.{}", toString(node.dimension));
        case NodeKind::Host:
        case NodeKind::Call:
            return "host";
        case NodeKind::Return:
            return "synchronisation";
        case NodeKind::Work:
            return std::string(
                workKind(trace, trace::EventId::at(static_cast<std::size_t>(node.source))));
    }
    return "other";
}

std::string kindOf(const trace::Trace& trace, const graph::TaskGraph& graph,
                   const PathPiece& piece) {
    if (!piece.pause) return kindOf(trace, graph.nodes()[piece.node]);
    return isLaunch(graph, piece) ? "launch" : "pause";
}

PathAttribution attribute(const trace::Trace& trace, const graph::TaskGraph& graph,
                          const std::vector<PathPiece>& path) {
    PathAttribution result;
    for (const PathPiece& piece : path) {
        const base::Duration length = piece.span.length();
        result.length += length;
        result.byKind[kindOf(trace, graph, piece)] += length;
        result.byRank[piece.rank] += length;
        result.byStage[piece.pause ? -1 : graph.nodes()[piece.node].stage] += length;
    }
    return result;
}

}  // namespace pleat::analysis
