#include "trace/trace.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "trace/annotation_gate.h"

namespace pleat::trace {

Trace::Trace(std::shared_ptr<const EventColumns> events, base::IdVector<RankTag, Rank> ranks,
             base::IdVector<LaneTag, Lane> lanes, base::Diagnostics diagnostics)
    : m_events(std::move(events)),
      m_ranks(std::move(ranks)),
      m_lanes(std::move(lanes)),
      m_diagnostics(std::move(diagnostics)) {}

Trace Trace::annotated(std::shared_ptr<const EventColumns> events,
                       base::IdVector<RankTag, Rank> ranks, base::IdVector<LaneTag, Lane> lanes,
                       Annotations annotations, base::Diagnostics diagnostics) {
    Annotations closed = AnnotationGate(*events, ranks, diagnostics).close(std::move(annotations));
    Trace trace(std::move(events), std::move(ranks), std::move(lanes), std::move(diagnostics));
    trace.m_annotations = std::move(closed);
    return trace;
}

Event Trace::event(EventId id) const {
    const std::size_t i = id.index();
    const base::TraceTime start{m_events->startNs[i]};
    return {m_events->lane[i],   m_events->name[i],
            m_events->domain[i], m_events->kind[i],
            m_events->flag[i],   {start, start + base::Duration{m_events->durationNs[i]}}};
}

std::string_view Trace::arguments(EventId id) const {
    const std::uint32_t offset = m_events->arguments[id.index()];
    return offset == 0 ? std::string_view()
                       : std::string_view(m_events->argumentText.data() + offset - 1);
}

std::uint32_t Trace::sourceRow(EventId id) const {
    return m_events->sourceRow.empty() ? id.index() + 1 : m_events->sourceRow[id.index()];
}

std::span<const Dependency> Trace::dependenciesOf(EventId id) const {
    const auto [first, last] = std::equal_range(
        m_events->dependencies.begin(), m_events->dependencies.end(), Dependency{{}, id},
        [](const Dependency& a, const Dependency& b) { return a.to < b.to; });
    return {first, last};
}

EventId Trace::launchOf(EventId id) const {
    for (const Dependency& dependency : dependenciesOf(id))
        if (dependency.kind == DependencyKind::Launch) return dependency.from;
    return {};
}

Trace::EventRange Trace::eventsOf(LaneId lane) const {
    return {EventId(m_events->firstOfLane[lane.index()]),
            EventId(m_events->firstOfLane[lane.index() + 1])};
}

Trace retimed(Trace trace, const std::function<base::TraceTime(RankId, base::TraceTime)>& moved,
              base::Diagnostics diagnostics) {
    const auto ranks = trace.ranks();
    const auto lanes = trace.lanes();
    std::shared_ptr<const EventColumns> shared = trace.sharedColumns();
    { const Trace spent = std::move(trace); }
    assert(shared.use_count() == 1);
    // Made by a builder as what it is here again: an object nobody else looks at.
    const auto columns = std::const_pointer_cast<EventColumns>(std::move(shared));
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < columns->lane.size(); ++i) {
        const RankId rank = lanes[columns->lane[i]].rank;
        const base::TraceTime start{columns->startNs[i]};
        const base::TraceTime end = start + base::Duration{columns->durationNs[i]};
        columns->startNs[i] = moved(rank, start).ns;
        columns->durationNs[i] =
            std::max<std::int64_t>(0, moved(rank, end).ns - columns->startNs[i]);
        earliest = std::min(earliest, columns->startNs[i]);
    }
    for (std::int64_t& start : columns->startNs) start -= earliest;
    return Trace(columns, ranks, lanes, std::move(diagnostics));
}

Trace Trace::withClocks(const base::IdVector<RankTag, Clock>& clocks) && {
    assert(clocks.size() == m_ranks.size());
    for (std::size_t i = 0; i < m_ranks.size(); ++i) {
        Rank& rank = m_ranks[RankId::at(i)];
        rank.clockBound = clocks[RankId::at(i)].bound;
        rank.clock.clock = clocks[RankId::at(i)].number;
    }
    return std::move(*this);
}

base::Interval Trace::span() const {
    base::Interval whole;
    for (std::size_t i = 0; i < eventCount(); ++i) {
        const base::Interval one = event(EventId::at(i)).span;
        whole =
            i == 0 ? one
                   : base::Interval{std::min(whole.begin, one.begin), std::max(whole.end, one.end)};
    }
    return whole;
}

}  // namespace pleat::trace
