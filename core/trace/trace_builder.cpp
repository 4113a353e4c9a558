#include "trace/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace pleat::trace {
namespace {

// Positions of the events of one lane in the order the trace promises. Recorders write a range when
// it ends, so that a range follows what it encloses: an insertion moves each event once for every
// range around it, which is linear for any real nesting. Anything else runs out of moves and is
// sorted in O(n log n).
template <class Before>
void sortLane(std::span<std::uint32_t> order, Before before) {
    std::size_t movesLeft = 16 * order.size();
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (!before(order[i], order[i - 1])) continue;
        const std::uint32_t event = order[i];
        std::size_t to = i;
        while (to > 0 && before(event, order[to - 1]) && movesLeft > 0) {
            order[to] = order[to - 1];
            --to;
            --movesLeft;
        }
        order[to] = event;
        if (movesLeft == 0) return std::sort(order.begin(), order.end(), before);
    }
}

// Lane -> its first event, and one more.
std::vector<std::uint32_t> laneStarts(const std::vector<LaneId>& laneOfEvent, std::size_t lanes) {
    std::vector<std::uint32_t> first(lanes + 1, 0);
    for (const LaneId lane : laneOfEvent) ++first[lane.index() + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    return first;
}

// Positions of the events in the order the trace promises; ties keep the order of adding. Works on
// positions alone: a copy of the keys would double the memory of a large trace.
std::vector<std::uint32_t> sortedOrder(const EventColumns& columns) {
    std::vector<std::uint32_t> order(columns.lane.size());
    std::vector<std::uint32_t> next(columns.firstOfLane);
    for (std::uint32_t i = 0; i < order.size(); ++i) order[next[columns.lane[i].index()]++] = i;
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        if (columns.startNs[a] != columns.startNs[b])
            return columns.startNs[a] < columns.startNs[b];
        if (columns.durationNs[a] != columns.durationNs[b])
            return columns.durationNs[a] > columns.durationNs[b];
        return a < b;
    };
    for (std::size_t lane = 0; lane + 1 < columns.firstOfLane.size(); ++lane) {
        const std::size_t first = columns.firstOfLane[lane];
        sortLane(std::span(order).subspan(first, columns.firstOfLane[lane + 1] - first), before);
    }
    return order;
}

// Puts a column in the given order, cycle by cycle in place: fresh memory is what costs here.
template <class T>
void reorder(std::vector<T>& column, const std::vector<std::uint32_t>& order,
             std::vector<bool>& done) {
    if (column.empty()) return;
    done.assign(order.size(), false);
    for (std::size_t first = 0; first < order.size(); ++first) {
        if (done[first]) continue;
        const T kept = column[first];
        std::size_t to = first;
        for (; order[to] != first; to = order[to]) {
            column[to] = column[order[to]];
            done[to] = true;
        }
        column[to] = kept;
        done[to] = true;
    }
}

void reorderColumns(EventColumns& columns, const std::vector<std::uint32_t>& order) {
    std::vector<bool> done;
    reorder(columns.startNs, order, done);
    reorder(columns.durationNs, order, done);
    reorder(columns.name, order, done);
    reorder(columns.domain, order, done);
    reorder(columns.arguments, order, done);
    reorder(columns.sourceRow, order, done);
    reorder(columns.lane, order, done);
    reorder(columns.kind, order, done);
    reorder(columns.flag, order, done);
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
    // Where no event comes from a row, there is no column.
    if (sourceRow != 0 && m_columns.sourceRow.empty())
        m_columns.sourceRow.resize(m_columns.lane.size() - 1, 0);
    if (sourceRow != 0 || !m_columns.sourceRow.empty()) m_columns.sourceRow.push_back(sourceRow);
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

void TraceBuilder::addDependency(std::size_t fromAdded, std::size_t toAdded, DependencyKind kind) {
    assert(fromAdded < eventCount() && toAdded < eventCount());
    m_columns.dependencies.push_back({EventId::at(fromAdded), EventId::at(toAdded), kind});
}

TraceBuilder::Built TraceBuilder::build() && {
    m_columns.firstOfLane = laneStarts(m_columns.lane, m_lanes.size());
    const std::vector<std::uint32_t> order = sortedOrder(m_columns);
    if (!std::is_sorted(order.begin(), order.end())) reorderColumns(m_columns, order);

    std::vector<EventId> idOfAdded(order.size());
    for (std::size_t position = 0; position < order.size(); ++position) {
        idOfAdded[order[position]] = EventId::at(position);
    }
    std::vector<Dependency>& dependencies = m_columns.dependencies;
    for (Dependency& dependency : dependencies) {
        dependency.from = idOfAdded[dependency.from.index()];
        dependency.to = idOfAdded[dependency.to.index()];
    }
    std::sort(dependencies.begin(), dependencies.end(), [](const auto& a, const auto& b) {
        return std::tie(a.to, a.from, a.kind) < std::tie(b.to, b.from, b.kind);
    });
    return {Trace(std::make_shared<const EventColumns>(std::move(m_columns)), std::move(m_ranks),
                  std::move(m_lanes), Annotations{}, std::move(m_diagnostics)),
            std::move(idOfAdded)};
}

}  // namespace pleat::trace
