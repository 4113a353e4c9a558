#include "models/path_marks_maker.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "trace/called_work.h"

namespace pleat::models {
namespace {

using graph::Node;
using graph::NodeKind;
using timeline::PathMark;
using trace::EventId;

// A task or phase of a host range takes its times from the device (annotate/device_times.h).
bool liesOnDevice(const trace::Trace& trace, const Node& node, EventId event) {
    if (node.kind != NodeKind::Task && node.kind != NodeKind::Phase) return false;
    const trace::Event what = trace.event(event);
    if (trace.lanes()[what.lane].kind != trace::LaneKind::HostThread) return false;
    const auto source = static_cast<std::size_t>(node.source);
    const base::Interval span = node.kind == NodeKind::Task
                                    ? trace.annotations().tasks[trace::TaskId::at(source)].span
                                    : trace.annotations().phases[source].span;
    return span != what.span;
}

class MarksMaker {
  public:
    MarksMaker(const trace::Trace& trace, const analysis::IterationAnalysis& analysis)
        : m_trace(trace), m_analysis(analysis), m_nodes(analysis.graph->nodes()) {
        m_marks.iteration = analysis.window.iteration;
        m_marks.window = analysis.window.window;
        m_marks.palest = timeline::palestSlack(m_marks.window);
    }

    timeline::PathMarks make() && {
        findEvents();
        addPath();
        addSlack();
        return std::move(m_marks);
    }

  private:
    struct Where {
        EventId event;                                // as recorded
        std::span<const trace::CalledWork> onDevice;  // its work, where it lies there
    };

    void findEvents() {
        bool any = false;
        for (const Node& node : m_nodes) {
            const EventId event = eventOf(m_trace, node);
            m_where.push_back({event, {}});
            any = any || (event.valid() && liesOnDevice(m_trace, node, event));
        }
        if (!any) return;  // most traces: nothing to look up
        m_launches.emplace(m_trace);
        for (std::size_t i = 0; i < m_where.size(); ++i) {
            const Node& node = m_nodes[graph::NodeId::at(i)];
            Where& where = m_where[i];
            if (!where.event.valid() || !liesOnDevice(m_trace, node, where.event)) continue;
            where.onDevice =
                m_launches->within(trace::RankId::at(static_cast<std::size_t>(node.rank)),
                                   m_trace.event(where.event).span);
        }
    }

    // The event in whose row a piece on this node lies: of device work the one with the most of it.
    [[nodiscard]] EventId rowEvent(graph::NodeId node, base::Interval piece) const {
        const Where& where = m_where[node.index()];
        EventId best = where.event;
        std::int64_t most = -1;
        for (const trace::CalledWork& launch : where.onDevice) {
            const std::int64_t shared =
                intersect(m_trace.event(launch.work).span, piece).length().ns;
            if (shared > most) best = launch.work;
            most = std::max(most, shared);
        }
        return best;
    }

    void addPath() {
        const std::vector<analysis::PathPiece>& path = m_analysis.path;
        for (const analysis::PathPiece& piece : path) {
            PathMark mark{piece.span, {}, piece.pause};
            if (!piece.pause) mark.on = rowEvent(piece.node, piece.span);
            m_marks.path.push_back(mark);
        }
        // A pause belongs to its rank's row beside it: of what follows, else of what was before.
        for (std::size_t i = 0; i < path.size(); ++i) {
            if (!path[i].pause) continue;
            if (i + 1 < path.size() && path[i + 1].rank == path[i].rank && !path[i + 1].pause) {
                m_marks.path[i].on = m_marks.path[i + 1].on;
            } else if (i > 0 && path[i - 1].rank == path[i].rank) {
                m_marks.path[i].on = m_marks.path[i - 1].on;
            }
        }
    }

    // The least of an event that several nodes speak of.
    void addSlack() {
        std::map<EventId, base::Duration> least;
        const auto note = [&](EventId event, base::Duration slack) {
            const auto [at, isNew] = least.emplace(event, slack);
            if (!isNew) at->second = std::min(at->second, slack);
        };
        for (std::size_t i = 0; i < m_where.size(); ++i) {
            if (!m_where[i].event.valid()) continue;
            const base::Duration slack = m_analysis.slack[graph::NodeId::at(i)];
            note(m_where[i].event, slack);
            for (const trace::CalledWork& launch : m_where[i].onDevice) note(launch.work, slack);
        }
        for (const auto& [event, slack] : least) m_marks.slack.push_back({event, slack});
    }

    const trace::Trace& m_trace;
    const analysis::IterationAnalysis& m_analysis;
    const base::IdVector<graph::NodeTag, Node>& m_nodes;
    std::optional<trace::CalledWorkIndex> m_launches;  // where anything lies on a device
    std::vector<Where> m_where;                        // by node
    timeline::PathMarks m_marks;
};

}  // namespace

EventId eventOf(const trace::Trace& trace, const Node& node) {
    const trace::Annotations& found = trace.annotations();
    const auto source = static_cast<std::size_t>(node.source);
    if (node.source < 0) return {};
    switch (node.kind) {
        case NodeKind::Task:
            return found.tasks[trace::TaskId::at(source)].event;
        case NodeKind::Phase:
            return found.phases[source].event;
        case NodeKind::Transfer:
            return found.transfers[trace::TransferId::at(source)].event;
        default:
            return {};
    }
}

timeline::PathMarks makePathMarks(const trace::Trace& trace,
                                  const analysis::IterationAnalysis& analysis) {
    if (!analysis.graph) return {};
    return MarksMaker(trace, analysis).make();
}

}  // namespace pleat::models
