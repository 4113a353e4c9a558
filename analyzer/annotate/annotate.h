// From events to meaning: reads the markers an instrumented program left (core/schedule/markers.h)
// and gives the same events with tasks, phases, transfers, matches, iterations, process groups,
// rank coordinates and the schedule recognised.
#pragma once

#include "annotate/rules.h"
#include "base/result.h"
#include "trace/trace.h"

namespace pleat::annotate {

// Shares the event columns with its input. Whatever could not be read or matched is a diagnostic
// of the result, with a count and an example. An input without any marker is no error: the result
// just has no tasks.
[[nodiscard]] base::Result<trace::Trace> annotate(const trace::Trace& events,
                                                  const Rules& rules = {});

// The same for events of several files, which may have been recorded by machines whose clocks
// differ: times are put on one clock first, as far as they can be (clock_alignment.h); no other
// trace may share the events.
[[nodiscard]] base::Result<trace::Trace> annotateOnOneClock(trace::Trace events,
                                                            const Rules& rules = {});

}  // namespace pleat::annotate
