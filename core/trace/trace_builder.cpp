#include "trace/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "base/stretches.h"
#include "trace/limits.h"

namespace pleat::trace {
namespace {

// `by` is whatever a file says.
base::TraceTime moved(base::TraceTime time, base::Duration by) {
    using Limits = std::numeric_limits<std::int64_t>;
    std::int64_t sum = 0;
    if (!__builtin_add_overflow(time.ns, by.ns, &sum)) return {sum};
    return {by.ns < 0 ? Limits::min() : Limits::max()};
}

// Sorts the positions of the events of one lane. Recorders write a range when it ends, so that a
// range follows what it encloses, which a few moves per event set right; and they write a lane in
// several sorted stretches (operators, then calls), which are merged. O(n log n) for any order.
template <class Before>
void sortLane(std::span<EventId> order, Before before) {
    constexpr std::size_t kMostMoves = 32;
    const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
    std::vector<std::size_t> stretches = {0};
    for (std::size_t i = 1; i < order.size(); ++i) {
        std::size_t to = i;
        const std::size_t first = stretches.back(),
                          lowest = std::max(first, i - std::min(i, kMostMoves));
        while (to > lowest && before(order[i], order[to - 1])) --to;
        if (to == lowest && lowest > first && before(order[i], order[to - 1])) {
            stretches.push_back(i);
        } else if (to < i) {
            std::rotate(at(to), at(i), at(i + 1));
        }
    }
    base::mergeStretches(order, std::move(stretches), before);
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
std::vector<EventId> sortedOrder(const EventColumns& columns) {
    std::vector<EventId> order(columns.lane.size());
    std::vector<std::uint32_t> next(columns.firstOfLane);
    for (std::size_t i = 0; i < order.size(); ++i)
        order[next[columns.lane[i].index()]++] = EventId::at(i);
    const auto before = [&](EventId first, EventId second) {
        const std::size_t a = first.index(), b = second.index();
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

// Stretches of positions whose events stay among themselves, such as those of one file.
struct Block {
    std::size_t begin, end;
};

std::vector<Block> blocksOf(const std::vector<EventId>& order) {
    std::vector<Block> blocks;
    std::size_t begin = 0, highest = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        highest = std::max<std::size_t>(highest, order[i].index());
        if (highest != i) continue;
        if (i > begin) blocks.push_back({begin, i + 1});
        begin = i + 1;
    }
    return blocks;
}

// Of a copy, which is fast where it fits a cache.
template <class T>
void reorderSmall(T* column, const std::vector<EventId>& order, Block block) {
    const std::vector<T> copy(column + block.begin, column + block.end);
    for (std::size_t i = block.begin; i < block.end; ++i)
        column[i] = copy[order[i].index() - block.begin];
}

// Cycle by cycle in place: a copy would be a fifth more memory.
template <class T>
void reorderLarge(T* column, const std::vector<EventId>& order, Block block) {
    std::vector<bool> done(block.end - block.begin, false);
    for (std::size_t first = block.begin; first < block.end; ++first) {
        if (done[first - block.begin]) continue;
        const T kept = column[first];
        std::size_t to = first;
        for (; order[to].index() != first; to = order[to].index()) {
            column[to] = column[order[to].index()];
            done[to - block.begin] = true;
        }
        column[to] = kept;
        done[to - block.begin] = true;
    }
}

template <class T>
void reorder(std::vector<T>& column, const std::vector<EventId>& order,
             const std::vector<Block>& blocks) {
    constexpr std::size_t kSmall = 1 << 20;
    if (column.empty()) return;
    for (const Block block : blocks) {
        if (block.end - block.begin <= kSmall) {
            reorderSmall(column.data(), order, block);
        } else {
            reorderLarge(column.data(), order, block);
        }
    }
}

void reorderColumns(EventColumns& columns, const std::vector<EventId>& order) {
    const std::vector<Block> blocks = blocksOf(order);
    reorder(columns.startNs, order, blocks);
    reorder(columns.durationNs, order, blocks);
    reorder(columns.name, order, blocks);
    reorder(columns.domain, order, blocks);
    reorder(columns.arguments, order, blocks);
    reorder(columns.sourceRow, order, blocks);
    reorder(columns.lane, order, blocks);
    reorder(columns.kind, order, blocks);
    reorder(columns.flag, order, blocks);
}

// From "which event comes here" to "where did this event go", in place.
void invert(std::vector<EventId>& order) {
    std::vector<bool> done(order.size(), false);
    for (std::size_t first = 0; first < order.size(); ++first) {
        std::size_t at = first;
        EventId here = order[at];
        while (!done[at]) {
            const std::size_t next = here.index();
            done[at] = true;
            here = order[next];
            order[next] = EventId::at(at);
            at = next;
        }
    }
}

// The event of a lane that lasts at `time` and began last; invalid without one.
EventId innermost(const EventColumns& columns, LaneId lane, base::TraceTime time) {
    const auto begin = columns.startNs.begin() + columns.firstOfLane[lane.index()];
    const auto end = columns.startNs.begin() + columns.firstOfLane[lane.index() + 1];
    constexpr int kLongestSearch = 64;  // events that ended before; deeper nesting is not met
    auto event = std::upper_bound(begin, end, time.ns);
    for (int i = 0; event != begin && i < kLongestSearch; ++i) {
        const auto at = static_cast<std::size_t>(--event - columns.startNs.begin());
        if (columns.startNs[at] + columns.durationNs[at] >= time.ns) return EventId::at(at);
    }
    return {};
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
    const double times = static_cast<double>(count) / static_cast<double>(eventCount() + 1);
    const auto likely = [&](std::size_t size) {
        return static_cast<std::size_t>(times * static_cast<double>(size));
    };
    m_columns.argumentText.reserve(likely(m_columns.argumentText.size()));
    m_columns.dependencies.reserve(likely(m_columns.dependencies.size()));
}

void TraceBuilder::addEvent(const Event& event, std::string_view arguments,
                            std::uint32_t sourceRow) {
    assert(event.lane.index() < m_lanes.size());
    const base::Interval span = withinRange(event.span, event.name);
    std::int64_t duration = span.length().ns;
    if (duration < 0) {
        m_diagnostics.add("negative_duration", [&] {
            return fmt::format(
                "\"{}\" at {} ns ends {} ns before it starts; kept as an empty event",
                m_columns.strings.text(event.name), span.begin.ns, -duration);
        });
        duration = 0;
    }
    m_columns.lane.push_back(event.lane);
    m_columns.name.push_back(event.name);
    m_columns.domain.push_back(event.domain);
    m_columns.kind.push_back(event.kind);
    m_columns.flag.push_back(event.flag);
    m_columns.startNs.push_back(span.begin.ns);
    m_columns.durationNs.push_back(duration);
    // Where no event comes from a row, there is no column.
    if (sourceRow != 0 && m_columns.sourceRow.empty())
        m_columns.sourceRow.resize(m_columns.lane.size() - 1, 0);
    if (sourceRow != 0 || !m_columns.sourceRow.empty()) m_columns.sourceRow.push_back(sourceRow);
    std::uint32_t offset = 0;
    constexpr std::size_t kMostText = std::numeric_limits<std::uint32_t>::max();
    if (arguments.size() + m_columns.argumentText.size() >= kMostText) {
        m_diagnostics.add("arguments_dropped", [&] {
            return fmt::format("\"{}\" at {} ns: more than 4 GiB of arguments",
                               m_columns.strings.text(event.name), span.begin.ns);
        });
    } else if (!arguments.empty()) {
        offset = static_cast<std::uint32_t>(m_columns.argumentText.size()) + 1;
        m_columns.argumentText.insert(m_columns.argumentText.end(), arguments.begin(),
                                      arguments.end());
        m_columns.argumentText.push_back('\0');
    }
    m_columns.arguments.push_back(offset);
}

base::Interval TraceBuilder::withinRange(base::Interval span, base::StringId name) {
    const auto limited = [](base::TraceTime time) {
        return base::TraceTime{std::clamp(time.ns, -kFarthestNs, kFarthestNs)};
    };
    const base::Interval kept{limited(span.begin), limited(span.end)};
    if (kept != span) {
        m_diagnostics.add("time_out_of_range", [&] {
            return fmt::format(
                "\"{}\" lasts from {} to {} ns; times must be within 73 "
                "years of the trace's origin",
                m_columns.strings.text(name), span.begin.ns, span.end.ns);
        });
    }
    return kept;
}

Event TraceBuilder::event(std::size_t added) const {
    const base::TraceTime start{m_columns.startNs[added]};
    return {m_columns.lane[added],   m_columns.name[added],
            m_columns.domain[added], m_columns.kind[added],
            m_columns.flag[added],   {start, start + base::Duration{m_columns.durationNs[added]}}};
}

void TraceBuilder::addDependency(std::size_t fromAdded, std::size_t toAdded, DependencyKind kind) {
    assert(fromAdded < eventCount() && toAdded < eventCount());
    m_columns.dependencies.push_back({EventId::at(fromAdded), EventId::at(toAdded), kind});
}

void TraceBuilder::shift(Added from, Added to, base::Duration by) {
    for (std::size_t i = from.events; by.ns != 0 && i < to.events; ++i) {
        std::int64_t& start_ns = m_columns.startNs[i];
        std::int64_t& duration_ns = m_columns.durationNs[i];
        const base::Interval span = withinRange(
            {moved({start_ns}, by), moved({start_ns + duration_ns}, by)}, m_columns.name[i]);
        start_ns = span.begin.ns;
        duration_ns = span.length().ns;
    }
    for (std::size_t i = from.flows; i < to.flows; ++i) {
        m_flows[i].fromTime = moved(m_flows[i].fromTime, by);
        m_flows[i].toTime = moved(m_flows[i].toTime, by);
    }
}

void TraceBuilder::removeEvents(const std::vector<std::size_t>& added) {
    if (added.empty()) return;
    const auto compact = [&](auto& column) {
        if (column.empty()) return;
        std::size_t to = added.front(), next = 0;
        for (std::size_t from = to; from < column.size(); ++from) {
            if (next < added.size() && added[next] == from) {
                ++next;
            } else {
                column[to++] = column[from];
            }
        }
        column.resize(to);
    };
    compact(m_columns.lane);
    compact(m_columns.name);
    compact(m_columns.domain);
    compact(m_columns.kind);
    compact(m_columns.flag);
    compact(m_columns.startNs);
    compact(m_columns.durationNs);
    compact(m_columns.arguments);
    compact(m_columns.sourceRow);
}

base::TraceTime TraceBuilder::earliest(Added from, Added to) const {
    const auto at = [&](std::size_t i) {
        return m_columns.startNs.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const auto first = std::min_element(at(from.events), at(to.events));
    return {first == at(to.events) ? 0 : *first};
}

TraceBuilder::Built TraceBuilder::build() && {
    m_columns.firstOfLane = laneStarts(m_columns.lane, m_lanes.size());
    std::vector<EventId> order = sortedOrder(m_columns);
    reorderColumns(m_columns, order);
    invert(order);
    const std::vector<EventId>& idOfAdded = order;
    for (Dependency& dependency : m_columns.dependencies) {
        dependency.from = idOfAdded[dependency.from.index()];
        dependency.to = idOfAdded[dependency.to.index()];
    }
    for (const Flow& flow : m_flows) {
        const EventId from = innermost(m_columns, flow.fromLane, flow.fromTime);
        const EventId to = innermost(m_columns, flow.toLane, flow.toTime);
        if (from.valid() && to.valid()) {
            m_columns.dependencies.push_back({from, to, DependencyKind::Flow});
        } else {
            m_diagnostics.add("flow_without_event", [&] {
                return fmt::format("an arrow from {} ns to {} ns has no event at one of its ends",
                                   flow.fromTime.ns, flow.toTime.ns);
            });
        }
    }
    std::sort(m_columns.dependencies.begin(), m_columns.dependencies.end(),
              [](const auto& a, const auto& b) {
                  return std::tie(a.to, a.from, a.kind) < std::tie(b.to, b.from, b.kind);
              });
    return {Trace(std::make_shared<const EventColumns>(std::move(m_columns)), std::move(m_ranks),
                  std::move(m_lanes), std::move(m_diagnostics)),
            std::move(order)};
}

}  // namespace pleat::trace
