// What one rank did in one iteration window, as plain interval lists clipped to the window: the raw
// material of accounting, overlap and bubble attribution. Made from a trace here, and from a replay
// in bubbles.cpp, so that both are accounted by the same code. Pure functions; results are
// immutable.
//
// Invariants: every interval is within the window; a transfer's waiting part ends where its moving
// part begins; lists need not be sorted and may overlap.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interval_set.h"
#include "graph/run_index.h"
#include "trace/trace.h"

namespace pleat::analysis {

struct TransferPart {
    trace::Dimension dimension = trace::Dimension::Other;
    trace::Operation operation = trace::Operation::Other;
    std::int32_t chunk = -1;
    bool gradientSync = false;  // REDUCE_GRAD of a chunk
    bool matched = true;        // false: no partner known, so all of it counts as moving
    bool endsHere = true;       // it is counted, with its bytes, in the window it ends in
    std::int64_t bytes = 0;
    base::Interval waiting;   // [start, when the last member was ready)
    base::Interval moving;    // [when the last member was ready, end)
    trace::RankId lateRank;   // whom the waiting is for; invalid where that is not known
    bool lateUnsure = false;  // it is not, for the waiting is no longer than clocks may be wrong

    // Waiting in a send or receive is the pipeline's own idle time, hence part of the bubble;
    // waiting in a collective is a category of its own.
    [[nodiscard]] bool isCollective() const { return !isMessage(operation); }
};

struct RankActivity {
    trace::RankId rank;
    base::Interval window;
    std::vector<base::Interval> compute;  // kernels; tasks and optimizer phases of other ranks
    std::vector<base::Interval> copies;   // of the device
    std::vector<base::Interval> data;     // data loading phases
    std::vector<TransferPart> transfers;
};

// Ranks that take part in analyses (RunIndex::trainingRanks).
[[nodiscard]] std::vector<trace::RankId> trainingRanks(const graph::RunIndex& run);

// [window][position in ranks]. Whatever intersects a window counts in it, whichever iteration it
// was recorded for. `windows` ascending and disjoint. O(n log windows + clipped pieces).
[[nodiscard]] std::vector<std::vector<RankActivity>> collectActivities(
    const graph::RunIndex& run, std::span<const graph::IterationWindow> windows,
    std::span<const trace::RankId> ranks);

}  // namespace pleat::analysis
