// An analysed iteration as the content of a picture (timeline/pipeline_scene.h). Pure.
#pragma once

#include "analysis/iteration_analysis.h"
#include "timeline/pipeline_scene.h"
#include "trace/trace.h"

namespace pleat::models {

// A row per training rank, by number; or per stage that a rank holds, by replica and stage. There,
// a message one end of which does not say its stage, on a rank that holds several, has no rows and
// is left out; what belongs to no stage (optimizer, data) is in the row of the rank's first; idle
// time is in the row of the work that ran next, for it is that which was waited for, and at the end
// in that of the first. O(n log n).
[[nodiscard]] timeline::PipelineScene makePipelineScene(const trace::Trace& trace,
                                                        const analysis::IterationAnalysis& analysis,
                                                        timeline::PipelineRows rows);

}  // namespace pleat::models
