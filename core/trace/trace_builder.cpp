#include "trace/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

namespace pleat::trace {
namespace {

template <class T>
void reorder(std::vector<T>& column, const std::vector<std::uint32_t>& order) {
    std::vector<T> sorted;
    sorted.reserve(column.size());
    for (const std::uint32_t from : order) sorted.push_back(column[from]);
    column = std::move(sorted);
}

// Positions of the events in the order the trace promises; ties keep the order of adding.
std::vector<std::uint32_t> sortedOrder(const EventColumns& columns) {
    std::vector<std::uint32_t> order(columns.lane.size());
    std::iota(order.begin(), order.end(), 0U);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        if (columns.lane[a] != columns.lane[b]) return columns.lane[a] < columns.lane[b];
        if (columns.startNs[a] != columns.startNs[b])
            return columns.startNs[a] < columns.startNs[b];
        if (columns.durationNs[a] != columns.durationNs[b])
            return columns.durationNs[a] > columns.durationNs[b];
        return a < b;
    };
    if (!std::is_sorted(order.begin(), order.end(), before))
        std::sort(order.begin(), order.end(), before);
    return order;
}

}  // namespace

TraceBuilder::TraceBuilder() = default;

RankId TraceBuilder::addRank(Rank rank) { return m_ranks.push(std::move(rank)); }

LaneId TraceBuilder::addLane(Lane lane) {
    assert(lane.rank.index() < m_ranks.size());
    return m_lanes.push(std::move(lane));
}

base::StringId TraceBuilder::intern(std::string_view text) {
    return m_columns.strings.intern(text);
}

void TraceBuilder::reserveEvents(std::size_t count) {
    m_columns.lane.reserve(count);
    m_columns.name.reserve(count);
    m_columns.domain.reserve(count);
    m_columns.kind.reserve(count);
    m_columns.flag.reserve(count);
    m_columns.startNs.reserve(count);
    m_columns.durationNs.reserve(count);
    m_columns.arguments.reserve(count);
    m_columns.sourceRow.reserve(count);
}

void TraceBuilder::addEvent(const Event& event, std::string_view arguments,
                            std::uint32_t sourceRow) {
    assert(event.lane.index() < m_lanes.size());
    std::int64_t duration = event.span.length().ns;
    if (duration < 0) {
        m_diagnostics.add(
            base::Severity::Info, "negative_duration",
            fmt::format("\"{}\" at {} ns ends {} ns before it starts; kept as an empty event",
                        m_columns.strings.text(event.name), event.span.begin.ns, -duration));
        duration = 0;
    }
    m_columns.lane.push_back(event.lane);
    m_columns.name.push_back(event.name);
    m_columns.domain.push_back(event.domain);
    m_columns.kind.push_back(event.kind);
    m_columns.flag.push_back(event.flag);
    m_columns.startNs.push_back(event.span.begin.ns);
    m_columns.durationNs.push_back(duration);
    m_columns.sourceRow.push_back(sourceRow);
    std::uint32_t offset = 0;
    if (!arguments.empty()) {
        offset = static_cast<std::uint32_t>(m_columns.argumentText.size()) + 1;
        m_columns.argumentText.insert(m_columns.argumentText.end(), arguments.begin(),
                                      arguments.end());
        m_columns.argumentText.push_back('\0');
    }
    m_columns.arguments.push_back(offset);
}

TraceBuilder::Built TraceBuilder::build() && {
    const std::vector<std::uint32_t> order = sortedOrder(m_columns);
    reorder(m_columns.lane, order);
    reorder(m_columns.name, order);
    reorder(m_columns.domain, order);
    reorder(m_columns.kind, order);
    reorder(m_columns.flag, order);
    reorder(m_columns.startNs, order);
    reorder(m_columns.durationNs, order);
    reorder(m_columns.arguments, order);
    reorder(m_columns.sourceRow, order);

    m_columns.firstOfLane.assign(m_lanes.size() + 1, 0);
    for (const LaneId lane : m_columns.lane) ++m_columns.firstOfLane[lane.index() + 1];
    std::partial_sum(m_columns.firstOfLane.begin(), m_columns.firstOfLane.end(),
                     m_columns.firstOfLane.begin());

    std::vector<EventId> idOfAdded(order.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
        idOfAdded[order[position]] = EventId::at(position);
    }
    return {Trace(std::make_shared<const EventColumns>(std::move(m_columns)), std::move(m_ranks),
                  std::move(m_lanes), Annotations{}, std::move(m_diagnostics)),
            std::move(idOfAdded)};
}

}  // namespace pleat::trace
