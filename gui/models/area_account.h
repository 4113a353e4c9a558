// Where the time of some ranks went between two moments a person has chosen: the accounting of a
// report (docs/analysis.md), of any stretch of time. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/iteration_analysis.h"
#include "base/result.h"
#include "timeline/pipeline_scene.h"
#include "trace/trace.h"

namespace pleat::models {

// Sums to the length of the stretch exactly.
struct AreaAccount {
    std::int32_t rank = -1;  // number; -1 for a sum of ranks
    analysis::TimeParts parts;
};

// Of the ranks that rows [first, last] of an iteration's pipeline are of, by number: each once and
// with all it did, whichever of its stages has a row within. Times clipped to the window. Empty
// where nothing of the area lies within.
[[nodiscard]] std::vector<AreaAccount> accountArea(const trace::Trace& trace,
                                                   const analysis::IterationAnalysis& analysis,
                                                   const timeline::PipelineScene& scene,
                                                   std::uint32_t firstRow, std::uint32_t lastRow,
                                                   base::Interval range);

// Of the training ranks that these lanes belong to, by number, in whatever iteration. Empty where
// they belong to none. Input error where times in the trace are damaged. O(events).
[[nodiscard]] base::Result<std::vector<AreaAccount>> accountArea(
    const graph::RunIndex& run, std::span<const trace::LaneId> lanes, base::Interval range);

}  // namespace pleat::models
