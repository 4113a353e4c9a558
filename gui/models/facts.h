// Everything that is known about one thing a person points at: an event, an idle gap, an area. Two
// columns, what and value; a value that speaks of another place leads there. Pure.
#pragma once

#include <QString>
#include <cstdint>

#include "models/area_account.h"
#include "models/figure_model.h"
#include "models/iteration_model.h"
#include "timeline/event_roles.h"
#include "trace/trace.h"

namespace pleat::models {

// Name, rank, lane, times, arguments, the task or transfer it is with its peers and who was late,
// what launched it, and its slack where the iteration analysed has it (may be null). O(log n) in
// the trace's annotations, and the iteration's nodes.
[[nodiscard]] Figures eventFacts(const trace::Trace& trace, const timeline::EventRoles& roles,
                                 trace::EventId event, const IterationResults* iteration);
// Where an event is, so that every view can show it.
[[nodiscard]] Place placeOf(const trace::Trace& trace, trace::EventId event);

// Of the gap at this position in one of the iteration's scenes: how long, and because of what.
[[nodiscard]] Figures gapFacts(const IterationResults& iteration,
                               const timeline::PipelineScene& scene, std::size_t gap);
// The accounting of ranks between two moments: the sum of all, then each rank's.
[[nodiscard]] Figures areaFacts(const std::vector<AreaAccount>& accounts, base::Interval range);

// A length of time, exact: "12.346 ms", below 10 µs in ns.
[[nodiscard]] QString shownDuration(base::Duration duration);

}  // namespace pleat::models
