// The task graph of one rank below the level of tasks: what its host threads called, what its
// device ran, and which waited for which. Pure functions.
//
// Nodes: Host, a stretch of a thread within one operator or call (host_pieces.h); Call, the moment
// of a call that starts work or waits; Work, a kernel, copy, set or graph; Return, a call that
// waited, from the end of what it waited for, so that waiting is never part of a duration. Edges:
// order on a thread; call to all the work it started; order on a stream; work to the call or the
// stream that waited for it (device_streams.h); and between threads, where one paused while the
// other worked: what a thread does after a pause depends on what another thread began and ended
// within it.
#pragma once

#include "base/diagnostics.h"
#include "base/interval_set.h"
#include "base/result.h"
#include "graph/task_graph.h"
#include "trace/trace.h"

namespace pleat::graph {

struct DeviceGraph {
    TaskGraph graph;  // `source` of a node is its event
    base::Diagnostics diagnostics;
};

// `delay` of a node is the measured pause after all it depends on, as in a measured graph.
[[nodiscard]] base::Result<DeviceGraph> deviceGraph(const trace::Trace& trace, trace::RankId rank,
                                                    base::Interval window);

// All that the rank's host called and its device did; empty without any.
[[nodiscard]] base::Interval recordedWork(const trace::Trace& trace, trace::RankId rank);

}  // namespace pleat::graph
