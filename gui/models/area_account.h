// Where the time of some ranks went between two moments a person has chosen: the accounting of a
// report (docs/analysis.md), of any stretch of time. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/iteration_analysis.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::models {

// Sums to the length of the stretch exactly.
struct AreaAccount {
    std::int32_t rank = -1;  // number; -1 for a sum of ranks
    base::Duration compute, moving, waiting, copy, bubble;

    // As they stand in a report: compute, moving, waiting, copy, bubble.
    [[nodiscard]] std::vector<base::Duration> parts() const {
        return {compute, moving, waiting, copy, bubble};
    }
    AreaAccount& operator+=(const AreaAccount& other);
};

// Of rows [first, last] of an iteration's pipeline, by row; times clipped to its window. Empty
// where nothing of the area lies within.
[[nodiscard]] std::vector<AreaAccount> accountArea(const trace::Trace& trace,
                                                   const analysis::IterationAnalysis& analysis,
                                                   std::uint32_t firstRow, std::uint32_t lastRow,
                                                   base::Interval range);

// Of the training ranks that these lanes belong to, by number, in whatever iteration. Empty where
// they belong to none. Input error where times in the trace are damaged. O(events).
[[nodiscard]] base::Result<std::vector<AreaAccount>> accountArea(
    const trace::Trace& trace, std::span<const trace::LaneId> lanes, base::Interval range);

}  // namespace pleat::models
