#include "trace/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace pleat::trace {
namespace {

// Puts a column in the given order. `spare` holds the result and is swapped with the column, so
// that columns of one type share a single extra buffer: fresh memory is what costs here.
template <class T>
void reorder(std::vector<T>& column, const std::vector<std::uint32_t>& order,
             std::vector<T>& spare) {
    spare.resize(column.size());
    for (std::size_t to = 0; to < order.size(); ++to) spare[to] = column[order[to]];
    column.swap(spare);
}

struct SortKey {
    std::int64_t startNs;
    std::int64_t durationNs;
    std::uint32_t added;  // position in the order of adding: decides ties
};

bool operator<(const SortKey& a, const SortKey& b) {
    if (a.startNs != b.startNs) return a.startNs < b.startNs;
    if (a.durationNs != b.durationNs) return a.durationNs > b.durationNs;
    return a.added < b.added;
}

// Sorts the events of one lane. Recorders write a range when it ends, so that a range follows what
// it encloses: an insertion moves each event once for every range around it, which is linear for
// any real nesting. Anything else runs out of moves and is sorted in O(n log n).
void sortLane(std::span<SortKey> keys) {
    std::size_t movesLeft = 16 * keys.size();
    for (std::size_t i = 1; i < keys.size(); ++i) {
        if (!(keys[i] < keys[i - 1])) continue;
        const SortKey key = keys[i];
        std::size_t to = i;
        while (to > 0 && key < keys[to - 1] && movesLeft > 0) {
            keys[to] = keys[to - 1];
            --to;
            --movesLeft;
        }
        keys[to] = key;
        if (movesLeft == 0) return std::sort(keys.begin(), keys.end());
    }
}

// Lane -> its first event, and one more.
std::vector<std::uint32_t> laneStarts(const std::vector<LaneId>& laneOfEvent, std::size_t lanes) {
    std::vector<std::uint32_t> first(lanes + 1, 0);
    for (const LaneId lane : laneOfEvent) ++first[lane.index() + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    return first;
}

// Positions of the events in the order the trace promises; ties keep the order of adding.
std::vector<std::uint32_t> sortedOrder(const EventColumns& columns) {
    std::vector<SortKey> keys(columns.lane.size());
    std::vector<std::uint32_t> next(columns.firstOfLane);
    for (std::uint32_t i = 0; i < keys.size(); ++i) {
        keys[next[columns.lane[i].index()]++] = {columns.startNs[i], columns.durationNs[i], i};
    }
    for (std::size_t lane = 0; lane + 1 < columns.firstOfLane.size(); ++lane) {
        const std::size_t first = columns.firstOfLane[lane];
        sortLane(std::span(keys).subspan(first, columns.firstOfLane[lane + 1] - first));
    }
    std::vector<std::uint32_t> order(keys.size());
    std::transform(keys.begin(), keys.end(), order.begin(),
                   [](const SortKey& key) { return key.added; });
    return order;
}

void reorderColumns(EventColumns& columns, const std::vector<std::uint32_t>& order) {
    std::vector<std::int64_t> times;
    reorder(columns.startNs, order, times);
    reorder(columns.durationNs, order, times);
    times = {};
    std::vector<base::StringId> strings;
    reorder(columns.name, order, strings);
    reorder(columns.domain, order, strings);
    strings = {};
    std::vector<std::uint32_t> numbers;
    reorder(columns.arguments, order, numbers);
    reorder(columns.sourceRow, order, numbers);
    numbers = {};
    std::vector<LaneId> lanes;
    reorder(columns.lane, order, lanes);
    std::vector<EventKind> kinds;
    reorder(columns.kind, order, kinds);
    std::vector<EventFlag> flags;
    reorder(columns.flag, order, flags);
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
    constexpr std::size_t kMostText = std::numeric_limits<std::uint32_t>::max();
    if (arguments.size() + m_columns.argumentText.size() >= kMostText) {
        m_diagnostics.add(base::Severity::DataLoss, "arguments_dropped",
                          fmt::format("\"{}\" at {} ns: more than 4 GiB of arguments",
                                      m_columns.strings.text(event.name), event.span.begin.ns));
    } else if (!arguments.empty()) {
        offset = static_cast<std::uint32_t>(m_columns.argumentText.size()) + 1;
        m_columns.argumentText.insert(m_columns.argumentText.end(), arguments.begin(),
                                      arguments.end());
        m_columns.argumentText.push_back('\0');
    }
    m_columns.arguments.push_back(offset);
}

TraceBuilder::Built TraceBuilder::build() && {
    m_columns.firstOfLane = laneStarts(m_columns.lane, m_lanes.size());
    const std::vector<std::uint32_t> order = sortedOrder(m_columns);
    if (!std::is_sorted(order.begin(), order.end())) reorderColumns(m_columns, order);

    std::vector<EventId> idOfAdded(order.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
        idOfAdded[order[position]] = EventId::at(position);
    }
    return {Trace(std::make_shared<const EventColumns>(std::move(m_columns)), std::move(m_ranks),
                  std::move(m_lanes), Annotations{}, std::move(m_diagnostics)),
            std::move(idOfAdded)};
}

}  // namespace pleat::trace
