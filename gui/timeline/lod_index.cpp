#include "timeline/lod_index.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "trace/categories.h"

namespace pleat::timeline {

using trace::EventId;
using trace::LaneId;
using trace::RankId;

RowPlacement placeRows(const trace::EventColumns& columns, trace::Trace::EventRange events) {
    const std::size_t first = events.first.index(), last = events.last.index();
    RowPlacement placement;
    std::array<std::int64_t, kMostRows> freeFrom{};
    for (std::size_t i = first; i < last; ++i) {
        const std::int64_t start = columns.startNs[i];
        std::size_t row = 0;
        while (row < placement.rows && freeFrom[row] > start && row + 1 < kMostRows) ++row;
        placement.rows = std::max(placement.rows, row + 1);
        const std::int64_t end = start + std::max<std::int64_t>(columns.durationNs[i], 1);
        freeFrom[row] = std::max(freeFrom[row], end);
        if (row > 0 && placement.rowOf.empty()) placement.rowOf.resize(last - first, 0);
        if (row > 0) placement.rowOf[i - first] = static_cast<std::uint8_t>(row);
    }
    return placement;
}

LodIndex::LodIndex(std::shared_ptr<const trace::Trace> trace, WorkerPool& pool,
                   const std::stop_token& stop)
    : m_trace(std::move(trace)),
      m_lanes(m_trace->lanes().size()),
      m_lanesOfRank(m_trace->ranks().size()),
      m_summaries(m_trace->ranks().size()) {
    for (std::size_t i = 0; i < m_lanes.size(); ++i)
        m_lanesOfRank[m_trace->lanes()[LaneId::at(i)].rank.index()].push_back(LaneId::at(i));
    pool.forEach(m_lanes.size(), [&](std::size_t i) {
        if (!stop.stop_requested()) indexLane(LaneId::at(i));
    });
    if (!stop.stop_requested()) measureSpan();
}

void LodIndex::indexLane(LaneId lane) {
    const trace::EventColumns& columns = m_trace->columns();
    const trace::Trace::EventRange events = m_trace->eventsOf(lane);
    const RowPlacement placement = placeRows(columns, events);
    std::vector<RowIndex>& rows = m_lanes[lane.index()];
    if (placement.rows <= 1) {
        rows.emplace_back(columns, events);
        return;
    }
    std::vector<std::size_t> sizes(placement.rows, 0);
    for (const std::uint8_t row : placement.rowOf) ++sizes[row];
    std::vector<std::vector<EventId>> eventsOfRow(placement.rows);
    for (std::size_t row = 0; row < placement.rows; ++row) eventsOfRow[row].reserve(sizes[row]);
    for (std::size_t i = 0; i < placement.rowOf.size(); ++i)
        eventsOfRow[placement.rowOf[i]].push_back(EventId::at(events.first.index() + i));
    rows.reserve(placement.rows);
    for (auto& ids : eventsOfRow) rows.emplace_back(columns, std::move(ids));
}

// From the first event of each lane and the last end of each row: no pass over all events.
void LodIndex::measureSpan() {
    const trace::EventColumns& columns = m_trace->columns();
    bool any = false;
    for (const auto& rows : m_lanes) {
        for (const RowIndex& row : rows) {
            if (row.size() == 0) continue;
            const base::TraceTime first{columns.startNs[row.event(0).index()]};
            const base::TraceTime last{columns.startNs[row.event(row.size() - 1).index()]};
            const base::TraceTime end =
                m_trace->event(row.frontierAt(last + base::Duration{1})).span.end;
            m_span = any ? base::Interval{std::min(m_span.begin, first), std::max(m_span.end, end)}
                         : base::Interval{first, end};
            any = true;
        }
    }
}

std::size_t LodIndex::rowOf(EventId event) const {
    const std::span<const RowIndex> all = rows(m_trace->columns().lane[event.index()]);
    const base::TraceTime start{m_trace->columns().startNs[event.index()]};
    for (std::size_t row = 0; row < all.size(); ++row)
        for (std::size_t i = all[row].positionAt(start);
             i < all[row].size() &&
             m_trace->columns().startNs[all[row].event(i).index()] == start.ns;
             ++i)
            if (all[row].event(i) == event) return row;
    return 0;
}

std::vector<EventId> LodIndex::summaryEvents(RankId rank) const {
    const trace::EventColumns& columns = m_trace->columns();
    std::vector<base::StringId> work;
    for (const std::string_view category : {trace::categories::kKernel, trace::categories::kCopy,
                                            trace::categories::kSet, trace::categories::kGraph}) {
        if (const auto id = columns.strings.find(category)) work.push_back(*id);
    }
    std::vector<EventId> events;
    for (const LaneId lane : lanesOf(rank)) {
        if (m_trace->lanes()[lane].kind != trace::LaneKind::DeviceStream) continue;
        const auto [first, last] = m_trace->eventsOf(lane);
        for (std::uint32_t i = first.index(); i < last.index(); ++i)
            if (std::find(work.begin(), work.end(), columns.domain[i]) != work.end())
                events.push_back(EventId(i));
    }
    if (!events.empty()) return events;
    for (const trace::Task& task : m_trace->annotations().tasks)
        if (task.rank == rank && task.event.valid()) events.push_back(task.event);
    for (const trace::Transfer& transfer : m_trace->annotations().transfers)
        if (transfer.rank == rank && transfer.event.valid()) events.push_back(transfer.event);
    if (!events.empty()) return events;
    for (const LaneId lane : lanesOf(rank))
        for (std::size_t i = 0; i < rows(lane)[0].size(); ++i)
            events.push_back(rows(lane)[0].event(i));
    return events;
}

const RowIndex& LodIndex::summary(RankId rank) const {
    RankSummary& summary = m_summaries[rank.index()];
    std::call_once(summary.made, [&] {
        const trace::EventColumns& columns = m_trace->columns();
        std::vector<EventId> events = summaryEvents(rank);
        const auto before = [&](EventId a, EventId b) {
            const std::int64_t startA = columns.startNs[a.index()];
            const std::int64_t startB = columns.startNs[b.index()];
            return startA != startB ? startA < startB : a < b;
        };
        if (!std::is_sorted(events.begin(), events.end(), before))
            std::sort(events.begin(), events.end(), before);
        events.erase(std::unique(events.begin(), events.end()), events.end());
        summary.row = std::make_unique<const RowIndex>(columns, std::move(events));
    });
    return *summary.row;
}

std::size_t LodIndex::bytes() const {
    std::size_t sum = 0;
    for (const auto& rows : m_lanes)
        for (const RowIndex& row : rows) sum += row.bytes();
    return sum;
}

}  // namespace pleat::timeline
