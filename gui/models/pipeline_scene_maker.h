// An analysed iteration as the content of a picture (timeline/pipeline_scene.h), and the accounting
// of a part of it. Pure.
#pragma once

#include <array>
#include <cstdint>

#include "analysis/iteration_analysis.h"
#include "timeline/pipeline_scene.h"
#include "trace/trace.h"

namespace pleat::models {

// A row per training rank, by number; replicas one below the other. O(n log n).
[[nodiscard]] timeline::PipelineScene makePipelineScene(
    const trace::Trace& trace, const analysis::IterationAnalysis& analysis);

// Where the time of some rows went between two moments: sums to rows x length exactly.
struct AreaAccount {
    base::Duration compute, moving, waiting, copy, bubble;
};
// Rows [first, last], times clipped to the window.
[[nodiscard]] AreaAccount accountArea(const analysis::IterationAnalysis& analysis,
                                      std::uint32_t firstRow, std::uint32_t lastRow,
                                      base::Interval range);

}  // namespace pleat::models
