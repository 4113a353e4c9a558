// An analysed iteration as the content of a picture (timeline/pipeline_scene.h). Pure.
#pragma once

#include "analysis/iteration_analysis.h"
#include "timeline/pipeline_scene.h"
#include "trace/trace.h"

namespace pleat::models {

// A row per training rank, by number; replicas one below the other. O(n log n).
[[nodiscard]] timeline::PipelineScene makePipelineScene(
    const trace::Trace& trace, const analysis::IterationAnalysis& analysis);

}  // namespace pleat::models
