// RowIndex: the level-of-detail index of one row of events. For any stretch of time it gives how
// long the row was busy, how many events there were and which was the longest, in O(log n): what a
// column of pixels shows, whatever the zoom. Nothing is rounded.
//
// Every 8 events, in order of start, a *step* holds when the first of them starts and how long the
// row was busy before; every 16 a *block* holds their longest, and of all earlier events the one
// that ends last: the *frontier*; coarser levels of 16 hold the longest only. Busy time before t is
// that of the events that start before t, less what the frontier has beyond t: everything that
// lasts beyond t and started before it ends with the frontier at the latest. So a row may also hold
// events that overlap.
//
// The naive definition, which tests/unit/timeline compares with at every zoom: over all events e of
// the row, in the window [a, b),
//     busy    = length of the union of intersect(e, [a, b))
//     count   = events with a <= start < b, and 1 if the frontier at a ends after a
//     longest = the longest of those, the first of equals
// In a row without overlaps at most one event reaches in from the left, and that is the frontier;
// of several that do (only in the last row of a lane that is too deep, and in summaries) it is the
// one that ends last.
//
// 3.6 bytes an event; 4 more where the row does not hold all events of its lane. Safe to read from
// any thread. Refers to the columns, which must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace pleat::timeline {

struct Summary {
    base::Duration busy;
    std::uint32_t count = 0;
    trace::EventId longest;  // invalid where there is no event
    friend bool operator==(const Summary&, const Summary&) = default;
};

// A piece of a row: an event, and from where on no earlier event of the row covers it (its start,
// unless events overlap).
struct Piece {
    trace::EventId event;
    base::Interval shown;
};

class RowIndex {
  public:
    // Of consecutive events, as a lane has them.
    RowIndex(const trace::EventColumns& columns, trace::Trace::EventRange events);
    // Of these events, ordered by start.
    RowIndex(const trace::EventColumns& columns, std::vector<trace::EventId> events);

    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] trace::EventId event(std::size_t position) const {
        return trace::EventId::at(eventAt(position));
    }
    // How many events start before a time: the position of the first that does not.
    [[nodiscard]] std::size_t positionAt(base::TraceTime time) const;
    // Of the events that start before a time, the one that ends last; invalid without any.
    [[nodiscard]] trace::EventId frontierAt(base::TraceTime time) const;

    [[nodiscard]] Summary summarise(base::Interval window) const;
    // Where one looked last, for later windows of the same row.
    using Bookmark = std::size_t;
    // Of successive windows [bounds[i], bounds[i + 1]); bounds ascend and are one more than there
    // are summaries. Faster than one by one: memory is asked for ahead of use. `bookmark` is 0, or
    // what a call with earlier windows left there.
    void summarise(std::span<const base::TraceTime> bounds, std::span<Summary> summaries,
                   Bookmark& bookmark) const;

    // Calls take(Piece) for every piece of at least `minimum` ns that begins within the window or
    // reaches into it, by ascending begin. Cost follows such pieces, not events.
    template <class Take>
    void forEachPiece(base::Interval window, std::int64_t minimum, Take take) const;

    [[nodiscard]] std::size_t bytes() const;

  private:
    static constexpr std::size_t kStep = 8, kBlock = 16;

    struct Step {
        std::int64_t start = 0;
        std::int64_t busyBefore = 0;  // of all earlier events
    };
    struct Longest {
        std::int64_t ns = -1;
        std::uint32_t event = 0;
    };
    struct Block {
        std::int64_t longestNs = -1;
        std::int64_t frontierEnd = 0;  // of all earlier events; before the first, its start
        std::uint32_t longestEvent = 0;
        std::uint32_t frontierEvent = 0;
    };
    // What lies before a time.
    struct Boundary {
        std::size_t position = 0;
        std::int64_t busy = 0;
        std::int64_t frontierEnd = 0;
        std::uint32_t frontierEvent = 0;
    };

    void build();
    void buildBlock(std::size_t first, std::size_t last, Boundary& before);
    void buildLevels();
    [[nodiscard]] std::size_t eventAt(std::size_t position) const {
        return m_events.empty() ? m_first + position : m_events[position].index();
    }
    [[nodiscard]] std::size_t guessStep(std::int64_t time) const;
    [[nodiscard]] std::size_t stepBefore(std::int64_t time, std::size_t hint) const;
    [[nodiscard]] Boundary boundary(std::int64_t time, std::size_t step) const;
    template <class EventAt>
    [[nodiscard]] Boundary disjointBoundary(std::int64_t time, std::size_t step,
                                            EventAt eventAtPosition) const;
    [[nodiscard]] Summary between(const Boundary& a, std::int64_t from, const Boundary& b) const;
    [[nodiscard]] Longest longestOf(std::size_t first, std::size_t last) const;
    [[nodiscard]] Longest longestWithin(std::size_t first, std::size_t last,
                                        std::int64_t atLeast) const;
    [[nodiscard]] Longest longestOfBlocks(std::size_t first, std::size_t last) const;
    // Ask for memory that will be used soon: a step's block and ids; its events.
    void fetchStep(std::size_t step) const;
    void fetchEvents(std::size_t step) const;
    // The first block from `block` on that may hold an event of at least `minimum`; `last` if none.
    [[nodiscard]] std::size_t nextBlock(std::size_t block, std::size_t last,
                                        std::int64_t minimum) const;

    const trace::EventColumns* m_columns;
    std::size_t m_first = 0, m_size = 0;
    bool m_disjoint = true;   // no event starts before an earlier one ends
    bool m_ascending = true;  // later positions have greater ids: all events are of one lane
    std::vector<trace::EventId> m_events;  // empty: m_first and those behind it
    std::vector<Step> m_steps;
    std::vector<Block> m_blocks;
    std::vector<std::vector<Longest>> m_coarser;  // [0]: of 16 blocks each, [1]: of 256, …
};

template <class Take>
void RowIndex::forEachPiece(base::Interval window, std::int64_t minimum, Take take) const {
    if (m_size == 0 || window.empty()) return;
    const std::int64_t least = minimum > 1 ? minimum : 1;
    const Boundary left =
        boundary(window.begin.ns, stepBefore(window.begin.ns, guessStep(window.begin.ns)));
    if (left.position > 0 && left.frontierEnd > window.begin.ns) {
        // It covers whatever else reaches in, so it counts from its start.
        const std::int64_t start = m_columns->startNs[left.frontierEvent];
        if (left.frontierEnd - start >= least)
            take(Piece{trace::EventId(left.frontierEvent), {{start}, {left.frontierEnd}}});
    }
    const std::size_t last = positionAt(window.end);
    const std::size_t blocks = (last + kBlock - 1) / kBlock;
    for (std::size_t b = nextBlock(left.position / kBlock, blocks, least); b < blocks;
         b = nextBlock(b + 1, blocks, least)) {
        std::int64_t frontier = m_blocks[b].frontierEnd;
        for (std::size_t i = b * kBlock; i < last && i < (b + 1) * kBlock; ++i) {
            const std::size_t at = eventAt(i);
            const std::int64_t start = m_columns->startNs[at];
            const std::int64_t end = start + m_columns->durationNs[at];
            const std::int64_t begin = start > frontier ? start : frontier;
            if (i >= left.position && end - begin >= least)
                take(Piece{trace::EventId::at(at), {{begin}, {end}}});
            if (end > frontier) frontier = end;
        }
    }
}

}  // namespace pleat::timeline
