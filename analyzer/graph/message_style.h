// How the messages of a run leave their sender. A *buffered* send ends when its data is on its way,
// whether its receiver is there or not (eager sends, sockets); any other ends together with its
// receive, and begins to move data only once both are there. No trace says which it is, but times
// do. Pure functions.
#pragma once

#include "trace/trace.h"

namespace pleat::graph {

// A message whose receive was posted well after its send had begun is a witness: it took the usual
// time of its kind from the one or from the other. False where there are no witnesses: then both
// mean the same. `resolution` is what the trace's timers can tell apart (timer_resolution.h).
// O(n log n) in the messages.
[[nodiscard]] bool sendsAreBuffered(const trace::Trace& trace, base::Duration resolution = {});

}  // namespace pleat::graph
