// First step of annotation: every marker of core/schedule/markers.h becomes a rank's coordinates, a
// process group, an iteration, a phase, a task or a transfer, as far as it says so itself. What it
// leaves out stays -1 for the next step (fill_gaps.h). Linear in the events apart from sorting.
#pragma once

#include "base/diagnostics.h"
#include "base/id.h"
#include "trace/trace.h"

namespace pleat::annotate {

// An annotation in the making.
struct Draft {
    const trace::Trace& events;
    base::IdVector<trace::RankTag, trace::Rank> ranks;
    trace::Annotations found;  // tasks, transfers, phases, iterations ordered by rank, then start
    // Every iteration range with the open ones: they tell where what lies inside belongs.
    std::vector<trace::IterationSpan> enclosing;  // ordered by rank, then start
    base::Diagnostics diagnostics;
};

[[nodiscard]] Draft readMarkers(const trace::Trace& events);

}  // namespace pleat::annotate
