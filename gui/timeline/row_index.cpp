#include "timeline/row_index.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

namespace pleat::timeline {

RowIndex::RowIndex(const trace::EventColumns& columns, trace::Trace::EventRange events)
    : m_columns(&columns),
      m_first(events.first.index()),
      m_size(events.last.index() - events.first.index()) {
    build();
}

RowIndex::RowIndex(const trace::EventColumns& columns, std::vector<trace::EventId> events)
    : m_columns(&columns), m_size(events.size()), m_events(std::move(events)) {
    build();
}

void RowIndex::build() {
    m_steps.reserve((m_size + kStep - 1) / kStep);
    m_blocks.reserve((m_size + kBlock - 1) / kBlock);
    Boundary before;
    if (m_size > 0) before.frontierEnd = m_columns->startNs[eventAt(0)];
    for (std::size_t first = 0; first < m_size; first += kBlock)
        buildBlock(first, std::min(first + kBlock, m_size), before);
    buildLevels();
}

void RowIndex::buildBlock(std::size_t first, std::size_t last, Boundary& before) {
    Block block{-1, before.frontierEnd, 0, before.frontierEvent};
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t at = eventAt(i);
        const std::int64_t start = m_columns->startNs[at], length = m_columns->durationNs[at];
        const std::int64_t end = start + length;
        if (i % kStep == 0) m_steps.push_back({start, before.busy});
        if (length > block.longestNs) {
            block.longestNs = length;
            block.longestEvent = static_cast<std::uint32_t>(at);
        }
        m_disjoint = m_disjoint && start >= before.frontierEnd;
        m_ascending = m_ascending && (i == 0 || at > eventAt(i - 1));
        if (end > before.frontierEnd || i == 0) {
            before.busy += end - std::max(start, before.frontierEnd);
            before.frontierEnd = end;
            before.frontierEvent = static_cast<std::uint32_t>(at);
        }
    }
    m_blocks.push_back(block);
}

void RowIndex::buildLevels() {
    const auto coarsen = [](std::size_t count, auto longestAt) {
        std::vector<Longest> level((count + kBlock - 1) / kBlock);
        for (std::size_t i = 0; i < count; ++i) {
            const Longest one = longestAt(i);
            if (one.ns > level[i / kBlock].ns) level[i / kBlock] = one;
        }
        return level;
    };
    if (m_blocks.size() <= kBlock) return;
    m_coarser.push_back(coarsen(m_blocks.size(), [&](std::size_t i) {
        return Longest{m_blocks[i].longestNs, m_blocks[i].longestEvent};
    }));
    while (m_coarser.back().size() > kBlock) {
        const std::vector<Longest>& finer = m_coarser.back();
        std::vector<Longest> level = coarsen(finer.size(), [&](std::size_t i) { return finer[i]; });
        m_coarser.push_back(std::move(level));
    }
}

// A step that does not lie behind the one before `time`, and not far from it where events lie
// about evenly: a search of all steps would wait for memory at every probe.
std::size_t RowIndex::guessStep(std::int64_t time) const {
    const std::int64_t first = m_steps.front().start, last = m_steps.back().start;
    if (time <= first) return 0;
    const double share =
        time < last ? static_cast<double>(time - first) / static_cast<double>(last - first) : 1;
    auto low = static_cast<std::size_t>(share * static_cast<double>(m_steps.size() - 1));
    for (std::size_t stride = 1; low > 0 && m_steps[low].start >= time; stride *= 2)
        low -= std::min(stride, low);
    return low;
}

// The last step whose first event starts before `time`, or the first one. Looks from `hint` on,
// which is not behind it, in growing strides: neighbouring columns lie in neighbouring steps.
std::size_t RowIndex::stepBefore(std::int64_t time, std::size_t hint) const {
    std::size_t low = hint, stride = 1;
    while (low + stride < m_steps.size() && m_steps[low + stride].start < time) {
        low += stride;
        stride *= 2;
    }
    std::size_t high = std::min(low + stride, m_steps.size());
    while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        (m_steps[middle].start < time ? low : high) = middle;
    }
    return low;
}

RowIndex::Boundary RowIndex::boundary(std::int64_t time, std::size_t step) const {
    if (m_disjoint && m_events.empty())
        return disjointBoundary(time, step, [&](std::size_t i) { return m_first + i; });
    if (m_disjoint)
        return disjointBoundary(time, step,
                                [&](std::size_t i) { return std::size_t{m_events[i].index()}; });
    const std::size_t first = step * kStep / kBlock * kBlock;
    const std::size_t last = std::min(first + kBlock, m_size);
    const Block& before = m_blocks[first / kBlock];
    Boundary result{first, m_steps[first / kStep].busyBefore, before.frontierEnd,
                    before.frontierEvent};
    for (; result.position < last; ++result.position) {
        const std::size_t at = eventAt(result.position);
        const std::int64_t start = m_columns->startNs[at];
        if (start >= time) break;
        const std::int64_t end = start + m_columns->durationNs[at];
        if (end > result.frontierEnd || result.position == 0) {
            result.busy += end - std::max(start, result.frontierEnd);
            result.frontierEnd = end;
            result.frontierEvent = static_cast<std::uint32_t>(at);
        }
    }
    return result;
}

// Where no events overlap the frontier is the event before, and busy time is a plain sum.
template <class EventAt>
RowIndex::Boundary RowIndex::disjointBoundary(std::int64_t time, std::size_t step,
                                              EventAt eventAtPosition) const {
    const std::int64_t* const starts = m_columns->startNs.data();
    const std::int64_t* const durations = m_columns->durationNs.data();
    const std::size_t first = step * kStep, last = std::min(first + kStep, m_size);
    Boundary result{first, m_steps[step].busyBefore, 0, 0};
    std::size_t before = 0;
    for (; result.position < last; ++result.position) {
        const std::size_t at = eventAtPosition(result.position);
        if (starts[at] >= time) break;
        result.busy += durations[at];
        before = at;
    }
    // At least the step's first event starts before, unless none does.
    if (result.position > 0) {
        result.frontierEnd = starts[before] + durations[before];
        result.frontierEvent = static_cast<std::uint32_t>(before);
    }
    return result;
}

std::size_t RowIndex::positionAt(base::TraceTime time) const {
    if (m_size == 0) return 0;
    return boundary(time.ns, stepBefore(time.ns, guessStep(time.ns))).position;
}

trace::EventId RowIndex::frontierAt(base::TraceTime time) const {
    if (m_size == 0) return {};
    const Boundary at = boundary(time.ns, stepBefore(time.ns, guessStep(time.ns)));
    return at.position == 0 ? trace::EventId() : trace::EventId(at.frontierEvent);
}

RowIndex::Longest RowIndex::longestOfBlocks(std::size_t first, std::size_t last) const {
    Longest longest;
    const auto offer = [&](Longest one) {
        if (one.ns > longest.ns) longest = one;
    };
    std::size_t b = first;
    while (b < last) {
        // The coarsest group that begins here and ends within.
        std::size_t level = 0, size = 1;
        while (level < m_coarser.size() && b % (size * kBlock) == 0 && b + size * kBlock <= last) {
            size *= kBlock;
            ++level;
        }
        offer(level == 0 ? Longest{m_blocks[b].longestNs, m_blocks[b].longestEvent}
                         : m_coarser[level - 1][b / size]);
        b += size;
    }
    return longest;
}

// Of the events [first, last), all of one block. Its longest is known; only where that is none of
// these are they looked at.
RowIndex::Longest RowIndex::longestWithin(std::size_t first, std::size_t last,
                                          std::int64_t atLeast) const {
    const Block& block = m_blocks[first / kBlock];
    Longest longest;
    if (first == last || block.longestNs < atLeast) return longest;
    if (m_ascending && block.longestEvent >= eventAt(first) &&
        block.longestEvent <= eventAt(last - 1))
        return {block.longestNs, block.longestEvent};
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t at = eventAt(i);
        if (m_columns->durationNs[at] > longest.ns)
            longest = {m_columns->durationNs[at], static_cast<std::uint32_t>(at)};
    }
    return longest;
}

RowIndex::Longest RowIndex::longestOf(std::size_t first, std::size_t last) const {
    const std::size_t firstWhole = (first + kBlock - 1) / kBlock, lastWhole = last / kBlock;
    if (firstWhole > lastWhole) return longestWithin(first, last, 0);
    // The whole blocks first: what they hold is most often longer than all of a part of one.
    Longest longest = longestOfBlocks(firstWhole, lastWhole);
    const Longest head = longestWithin(first, firstWhole * kBlock, longest.ns);
    if (head.ns >= longest.ns) longest = head;
    if (lastWhole * kBlock == last) return longest;
    const Longest tail = longestWithin(lastWhole * kBlock, last, longest.ns + 1);
    return tail.ns > longest.ns ? tail : longest;
}

Summary RowIndex::between(const Boundary& a, std::int64_t from, const Boundary& b) const {
    const bool reachesIn = a.position > 0 && a.frontierEnd > from;
    Summary summary{
        {}, static_cast<std::uint32_t>(b.position - a.position + (reachesIn ? 1 : 0)), {}};
    if (summary.count == 0) return summary;
    Longest longest;
    if (reachesIn) longest = {m_columns->durationNs[a.frontierEvent], a.frontierEvent};
    if (b.position > a.position) {
        const Longest starting = longestOf(a.position, b.position);
        if (starting.ns > longest.ns) longest = starting;
    }
    summary.longest = trace::EventId(longest.event);
    return summary;
}

Summary RowIndex::summarise(base::Interval window) const {
    Summary summary;
    const std::array<base::TraceTime, 2> bounds{window.begin, window.end};
    Bookmark bookmark = 0;
    summarise(bounds, {&summary, 1}, bookmark);
    return summary;
}

void RowIndex::fetchStep(std::size_t step) const {
    __builtin_prefetch(&m_blocks[step * kStep / kBlock]);
    if (m_events.empty()) {
        fetchEvents(step);
    } else {
        __builtin_prefetch(&m_events[step * kStep]);
    }
}

void RowIndex::fetchEvents(std::size_t step) const {
    const std::size_t first = step * kStep, last = std::min(first + kStep, m_size) - 1;
    for (const std::size_t position : {first, (first + last) / 2, last}) {
        __builtin_prefetch(&m_columns->startNs[eventAt(position)]);
        __builtin_prefetch(&m_columns->durationNs[eventAt(position)]);
    }
}

void RowIndex::summarise(std::span<const base::TraceTime> bounds, std::span<Summary> summaries,
                         Bookmark& bookmark) const {
    assert(bounds.size() == summaries.size() + 1);
    if (m_size == 0) {
        std::fill(summaries.begin(), summaries.end(), Summary{});
        return;
    }
    constexpr std::size_t kAhead = 32;
    std::array<std::size_t, kAhead> steps{};
    std::size_t step = bookmark > 0 ? bookmark : guessStep(bounds[0].ns);
    Boundary left;
    std::int64_t busyLeft = 0;
    for (std::size_t first = 0; first < bounds.size(); first += kAhead) {
        const std::size_t count = std::min(kAhead, bounds.size() - first);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t next = stepBefore(bounds[first + i].ns, step);
            if (next != step || first + i == 0) fetchStep(next);
            steps[i] = step = next;
        }
        for (std::size_t i = 0; i < count && !m_events.empty(); ++i)
            if (i == 0 || steps[i] != steps[i - 1]) fetchEvents(steps[i]);
        for (std::size_t i = 0; i < count; ++i) {
            const std::int64_t time = bounds[first + i].ns;
            const Boundary right = boundary(time, steps[i]);
            // What lasts beyond the bound lies behind it.
            const std::int64_t beyond = right.position > 0 ? right.frontierEnd - time : 0;
            const std::int64_t busyRight = right.busy - std::max<std::int64_t>(0, beyond);
            if (first + i > 0) {
                Summary& summary = summaries[first + i - 1];
                summary = between(left, bounds[first + i - 1].ns, right);
                summary.busy = {busyRight - busyLeft};
            }
            left = right;
            busyLeft = busyRight;
        }
    }
    bookmark = step;
}

std::size_t RowIndex::nextBlock(std::size_t block, std::size_t last, std::int64_t minimum) const {
    while (block < last) {
        std::size_t level = 0, size = 1;
        while (level < m_coarser.size() && block % (size * kBlock) == 0) {
            if (m_coarser[level][block / (size * kBlock)].ns >= minimum) break;
            size *= kBlock;
            ++level;
        }
        if (level == 0) {
            const bool covered = block + 1 < m_blocks.size() &&
                                 m_blocks[block + 1].frontierEnd == m_blocks[block].frontierEnd;
            if (m_blocks[block].longestNs >= minimum && !covered) return block;
        }
        block += size;
    }
    return last;
}

std::size_t RowIndex::bytes() const {
    std::size_t sum = sizeof(*this) + m_events.capacity() * sizeof(trace::EventId) +
                      m_steps.capacity() * sizeof(Step) + m_blocks.capacity() * sizeof(Block);
    for (const auto& level : m_coarser) sum += level.capacity() * sizeof(Longest);
    return sum;
}

}  // namespace pleat::timeline
