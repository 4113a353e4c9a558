// The critical path and slack of an iteration that was analysed, as marks on events. A task whose
// times are those of device work lies on the device: it is drawn in the row of that work, and all
// that was launched within its host range has its slack. Pure.
#pragma once

#include "analysis/iteration_analysis.h"
#include "timeline/path_marks.h"
#include "trace/trace.h"

namespace pleat::models {

// The event that a node of a measured graph is; invalid for one that is none (Ready).
[[nodiscard]] trace::EventId eventOf(const trace::Trace& trace, const graph::Node& node);

// Empty where the iteration has no graph. O(nodes x log nodes + dependencies).
[[nodiscard]] timeline::PathMarks makePathMarks(const trace::Trace& trace,
                                                const analysis::IterationAnalysis& analysis);

}  // namespace pleat::models
