#include "graph/device_graph.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/device_streams.h"
#include "graph/host_pieces.h"
#include "trace/categories.h"

namespace pleat::graph {
namespace {

namespace categories = trace::categories;
using base::Interval;
using base::TraceTime;
using trace::EventId;
using trace::LaneId;

class Builder {
  public:
    Builder(const trace::Trace& trace, trace::RankId rank, Interval window)
        : m_trace(trace),
          m_rank(rank),
          m_window(window),
          m_streams(trace, rank, window),
          m_marked(trace.eventCount(), false) {}

    base::Result<DeviceGraph> build() && {
        markCalls();
        addWork();
        addThreads();
        linkThreads();
        linkWork();
        setDelays();
        base::Result<TaskGraph> graph = TaskGraph::build(std::move(m_nodes), std::move(m_edges));
        if (!graph) return graph.error();
        m_diagnostics.add(m_streams.diagnostics());
        return DeviceGraph{std::move(*graph), std::move(m_diagnostics)};
    }

  private:
    void markCalls() {
        for (const auto& [call, work] : m_streams.waits()) m_marked[call.index()] = true;
        for (const Stream& stream : m_streams.streams()) {
            for (const StreamWork& work : stream.work)
                if (work.call.valid()) m_marked[work.call.index()] = true;
        }
    }

    NodeId addNode(NodeKind kind, EventId event, Interval measured) {
        Node node;
        node.kind = kind;
        node.rank = static_cast<std::int32_t>(m_rank.index());
        node.measured = measured;
        node.duration = measured.length();
        node.source = static_cast<std::int32_t>(event.index());
        return m_nodes.push(node);
    }

    void addWork() {
        for (const Stream& stream : m_streams.streams()) {
            std::vector<NodeId>& nodes = m_work.emplace_back();
            for (const StreamWork& work : stream.work)
                nodes.push_back(addNode(NodeKind::Work, work.event, work.span));
        }
    }

    // A thread counts that runs operators, starts work or waits for it; others (watchdogs that
    // query events) only look on.
    bool counts(LaneId thread) const {
        const auto events = m_trace.eventsOf(thread);
        for (EventId id = events.first; id < events.last; id = EventId(id.index() + 1)) {
            if (m_marked[id.index()] || m_trace.domain(id) == categories::kOperator) return true;
        }
        return false;
    }

    void addThreads() {
        for (std::size_t i = 0; i < m_trace.lanes().size(); ++i) {
            const trace::Lane& lane = m_trace.lanes()[LaneId::at(i)];
            if (lane.rank != m_rank || lane.kind != trace::LaneKind::HostThread ||
                !counts(LaneId::at(i)))
                continue;
            std::vector<NodeId>& thread = m_threads.emplace_back();
            for (const HostPiece& piece :
                 hostPieces(m_trace, LaneId::at(i), m_window, m_marked, m_diagnostics)) {
                const NodeId id = addPiece(piece);
                if (!thread.empty()) m_edges.emplace_back(thread.back(), id);
                thread.push_back(id);
            }
        }
    }

    NodeId addPiece(const HostPiece& piece) {
        if (piece.isCall) {
            const NodeId id = addNode(NodeKind::Call, piece.event, piece.span);
            m_calls[piece.event] = id;
            return id;
        }
        const auto waits = m_streams.waits().find(piece.event);
        if (!piece.endsEvent || waits == m_streams.waits().end())
            return addNode(NodeKind::Host, piece.event, piece.span);
        TraceTime free = piece.span.begin;
        for (const WorkId work : waits->second)
            free = std::max(free, m_streams.work(work).span.end);
        const NodeId id = addNode(NodeKind::Return, piece.event,
                                  {std::min(free, piece.span.end), piece.span.end});
        for (const WorkId work : waits->second) m_edges.emplace_back(nodeOf(work), id);
        return id;
    }

    NodeId nodeOf(WorkId work) const { return m_work[work.stream][work.position]; }
    const Interval& at(NodeId id) const { return m_nodes[id].measured; }

    // After a pause: on what another thread began and ended within it.
    void linkThreads() {
        for (const std::vector<NodeId>& thread : m_threads) {
            for (std::size_t i = 0; i < thread.size(); ++i) {
                if (m_nodes[thread[i]].kind == NodeKind::Return) continue;  // waited for work
                const TraceTime resumed = at(thread[i]).begin;
                const TraceTime paused = i == 0 ? m_window.begin : at(thread[i - 1]).end;
                if (paused >= resumed) continue;
                for (const std::vector<NodeId>& other : m_threads) {
                    if (&other == &thread) continue;
                    const auto after = std::partition_point(
                        other.begin(), other.end(),
                        [&](NodeId id) { return at(id).end <= resumed && at(id).begin < resumed; });
                    if (after != other.begin() && at(*(after - 1)).begin >= paused)
                        m_edges.emplace_back(*(after - 1), thread[i]);
                }
            }
        }
    }

    void linkWork() {
        for (std::size_t s = 0; s < m_work.size(); ++s) {
            orderStream(m_streams.streams()[s].work, m_work[s]);
            for (std::size_t i = 0; i < m_work[s].size(); ++i) {
                const auto call = m_calls.find(m_streams.streams()[s].work[i].call);
                if (call != m_calls.end()) m_edges.emplace_back(call->second, m_work[s][i]);
            }
        }
        for (const auto& [before, after] : m_streams.streamWaits()) {
            if (at(nodeOf(before)).begin < at(nodeOf(after)).begin)
                m_edges.emplace_back(nodeOf(before), nodeOf(after));
        }
    }

    // Branches of a CUDA graph may overlap on the stream it was started on: work depends on all
    // that ended before it and that no earlier work already waited for, else on what ended last.
    void orderStream(const std::vector<StreamWork>& work, const std::vector<NodeId>& nodes) {
        std::vector<std::size_t> running;
        std::optional<std::size_t> last;
        for (std::size_t i = 0; i < work.size(); ++i) {
            const TraceTime begin = work[i].span.begin;
            bool waited = false;
            std::erase_if(running, [&](std::size_t earlier) {
                if (work[earlier].span.end > begin) return false;
                m_edges.emplace_back(nodes[earlier], nodes[i]);
                waited = true;
                if (!last || work[earlier].span.end >= work[*last].span.end) last = earlier;
                return true;
            });
            if (!waited && last) m_edges.emplace_back(nodes[*last], nodes[i]);
            running.push_back(i);
        }
    }

    void setDelays() {
        base::IdVector<NodeTag, TraceTime> free(m_nodes.size(), m_window.begin);
        for (const auto& [from, to] : m_edges) free[to] = std::max(free[to], at(from).end);
        for (std::size_t i = 0; i < m_nodes.size(); ++i) {
            Node& node = m_nodes[NodeId::at(i)];
            node.delay = std::max(base::Duration{}, node.measured.begin - free[NodeId::at(i)]);
        }
    }

    const trace::Trace& m_trace;
    const trace::RankId m_rank;
    const Interval m_window;
    const DeviceStreams m_streams;
    std::vector<bool> m_marked;  // by event: calls that start or wait for work
    base::IdVector<NodeTag, Node> m_nodes;
    std::vector<std::pair<NodeId, NodeId>> m_edges;
    std::vector<std::vector<NodeId>> m_work;     // [stream][position]
    std::vector<std::vector<NodeId>> m_threads;  // in order of time
    std::unordered_map<EventId, NodeId> m_calls;
    base::Diagnostics m_diagnostics;
};

}  // namespace

base::Result<DeviceGraph> deviceGraph(const trace::Trace& trace, trace::RankId rank,
                                      Interval window) {
    return Builder(trace, rank, window).build();
}

Interval recordedWork(const trace::Trace& trace, trace::RankId rank) {
    std::optional<Interval> all;
    for (std::size_t i = 0; i < trace.eventCount(); ++i) {
        const EventId id = EventId::at(i);
        const trace::Event event = trace.event(id);
        const trace::Lane& lane = trace.lanes()[event.lane];
        if (lane.rank != rank || event.kind != trace::EventKind::Range) continue;
        const bool works = lane.kind == trace::LaneKind::HostThread
                               ? isHostWork(trace, id)
                               : categories::isDeviceWork(trace.domain(id));
        if (!works) continue;
        if (!all) all = event.span;
        all->begin = std::min(all->begin, event.span.begin);
        all->end = std::max(all->end, event.span.end);
    }
    return all.value_or(Interval{});
}

}  // namespace pleat::graph
