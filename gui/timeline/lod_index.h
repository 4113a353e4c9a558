// LodIndex: the level-of-detail index of a whole trace: the rows of every lane, each with its
// RowIndex (row_index.h has the idea and the naive definition).
//
// Events of a host thread nest, and recorders let some cross. A lane becomes rows: an event goes to
// the highest row that is free when it starts, so row 0 encloses row 1. An event without length
// takes a nanosecond of its row, so that marks at one moment lie below each other. A lane has at
// most kMostRows; what is deeper lies in the last one, where events may overlap.
//
// Immutable once made, but for the summaries of ranks, which are made when first asked for; safe
// from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>
#include <vector>

#include "timeline/row_index.h"
#include "timeline/worker_pool.h"

namespace pleat::timeline {

inline constexpr std::size_t kMostRows = 128;

// Which row of its lane each event of a range lies in, and how many rows there are. O(events x
// depth).
struct RowPlacement {
    std::size_t rows = 0;
    std::vector<std::uint8_t> rowOf;  // empty where there is at most one row
};
[[nodiscard]] RowPlacement placeRows(const trace::EventColumns& columns,
                                     trace::Trace::EventRange events);

class LodIndex {
  public:
    // Lanes are shared among the pool's threads. When a stop is requested the rest is left out, and
    // the index is only good for being destroyed.
    LodIndex(std::shared_ptr<const trace::Trace> trace, WorkerPool& pool,
             const std::stop_token& stop = {});

    [[nodiscard]] const trace::Trace& trace() const { return *m_trace; }
    [[nodiscard]] std::shared_ptr<const trace::Trace> sharedTrace() const { return m_trace; }
    // At least one row, empty where the lane has no events.
    [[nodiscard]] std::span<const RowIndex> rows(trace::LaneId lane) const {
        return m_lanes[lane.index()];
    }
    // In which row of its lane an event lies. O(rows x log n).
    [[nodiscard]] std::size_t rowOf(trace::EventId event) const;
    // One row for a whole rank: the work of its devices, on whichever stream; without any, its
    // tasks and transfers; without these, the outermost events of all its lanes. The first call for
    // a rank makes it, in O(n log n).
    [[nodiscard]] const RowIndex& summary(trace::RankId rank) const;
    [[nodiscard]] std::span<const trace::LaneId> lanesOf(trace::RankId rank) const {
        return m_lanesOfRank[rank.index()];
    }
    // First start to last end of all events; empty for a trace without events.
    [[nodiscard]] base::Interval span() const { return m_span; }
    // What the rows take, without summaries of ranks.
    [[nodiscard]] std::size_t bytes() const;

  private:
    struct RankSummary {
        std::once_flag made;
        std::unique_ptr<const RowIndex> row;
    };
    void indexLane(trace::LaneId lane);
    void measureSpan();
    [[nodiscard]] std::vector<trace::EventId> summaryEvents(trace::RankId rank) const;

    std::shared_ptr<const trace::Trace> m_trace;
    std::vector<std::vector<RowIndex>> m_lanes;  // [lane][row]
    std::vector<std::vector<trace::LaneId>> m_lanesOfRank;
    base::Interval m_span;
    mutable std::vector<RankSummary> m_summaries;  // each guarded by its flag
};

}  // namespace pleat::timeline
