#include "graph/host_pieces.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/categories.h"

namespace pleat::graph {
namespace {

using base::TraceTime;
using trace::EventId;

class Cutter {
  public:
    Cutter(const trace::Trace& trace, base::Interval window, const std::vector<bool>& marked,
           base::Diagnostics& diagnostics)
        : m_trace(trace),
          m_window(window),
          m_marked(marked),
          m_diagnostics(diagnostics),
          m_cursor(window.begin) {}

    // Events come in the order of the lane: by start, the enclosing one first.
    void add(EventId id) {
        const base::Interval span = m_trace.event(id).span;
        if (span.begin >= m_window.end || span.end <= m_window.begin) return;
        const TraceTime begin = std::max(span.begin, m_window.begin);
        closeUntil(begin);
        if (!m_open.empty()) {
            noteCrossing(id, span.end);
            cut(begin, false);
        }
        m_cursor = std::max(m_cursor, begin);
        if (m_marked[id.index()] && span.begin >= m_window.begin)
            m_pieces.push_back({id, {m_cursor, m_cursor}, true, false});
        m_open.push_back({id, std::min(span.end, m_window.end)});
    }

    std::vector<HostPiece> finish() && {
        closeUntil(m_window.end);
        return std::move(m_pieces);
    }

  private:
    struct Open {
        EventId event;
        TraceTime end;
    };

    void closeUntil(TraceTime time) {
        while (!m_open.empty() && m_open.back().end <= time) {
            cut(m_open.back().end, true);
            m_open.pop_back();
        }
    }

    // The innermost open event had the time from the cursor on.
    void cut(TraceTime until, bool endsEvent) {
        const EventId event = m_open.back().event;
        const TraceTime end = std::max(until, m_cursor);
        if (end > m_cursor || (endsEvent && m_marked[event.index()]))
            m_pieces.push_back({event, {m_cursor, end}, false, endsEvent});
        m_cursor = end;
    }

    void noteCrossing(EventId id, TraceTime end) {
        const Open& outer = m_open.back();
        if (outer.end == m_window.end || end - outer.end <= kRounding) return;
        m_diagnostics.add(
            "times_disagree",
            fmt::format("\"{}\" ends {} ns after \"{}\", inside which it was called",
                        m_trace.name(id), (end - outer.end).ns, m_trace.name(outer.event)));
    }

    const trace::Trace& m_trace;
    const base::Interval m_window;
    const std::vector<bool>& m_marked;
    base::Diagnostics& m_diagnostics;
    TraceTime m_cursor;  // all before it is cut
    std::vector<Open> m_open;
    std::vector<HostPiece> m_pieces;
};

}  // namespace

bool isHostWork(const trace::Trace& trace, EventId id) {
    namespace categories = trace::categories;
    const std::string_view domain = trace.domain(id);
    return domain == categories::kOperator || domain == categories::kRuntimeCall ||
           domain == categories::kDriverCall;
}

std::vector<HostPiece> hostPieces(const trace::Trace& trace, trace::LaneId thread,
                                  base::Interval window, const std::vector<bool>& marked,
                                  base::Diagnostics& diagnostics) {
    Cutter cutter(trace, window, marked, diagnostics);
    const auto events = trace.eventsOf(thread);
    for (EventId id = events.first; id < events.last; id = EventId(id.index() + 1)) {
        const bool range = trace.columns().kind[id.index()] == trace::EventKind::Range;
        if (range && isHostWork(trace, id)) cutter.add(id);
    }
    return std::move(cutter).finish();
}

}  // namespace pleat::graph
