// The measured critical path of an iteration: an unbroken chain across ranks from the window's
// begin to its end, whose pieces sum to it exactly. It never waits: where a node waited for a
// partner, the path continues on the partner. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/interval_set.h"
#include "graph/task_graph.h"
#include "trace/trace.h"

namespace pleat::analysis {

// A node of the graph, or a pause: the host, launch or end-of-iteration delay on a rank while
// nothing it depends on was running.
struct PathPiece {
    graph::NodeId node;  // of a pause: the node it precedes; invalid at the end of the window
    bool pause = false;
    std::int32_t rank = -1;  // RankId index
    base::Interval span;     // never empty
};

// First to last, contiguous from window.begin to window.end. A graph without nodes gives one pause.
[[nodiscard]] std::vector<PathPiece> measuredCriticalPath(const graph::TaskGraph& graph,
                                                          base::Interval window);

// forward backward input_backward weight_backward overlapped optimizer data transfer.<dimension>
// pause; in a graph of host and device: host launch kernel communication copy synchronisation pause
[[nodiscard]] std::string kindOf(const trace::Trace& trace, const graph::TaskGraph& graph,
                                 const PathPiece& piece);
[[nodiscard]] std::string kindOf(const trace::Trace& trace, const graph::Node& node);

// Each map sums to the path's length.
struct PathAttribution {
    base::Duration length;
    std::map<std::string, base::Duration> byKind;
    std::map<std::int32_t, base::Duration> byRank;   // RankId index; -1 where unknown
    std::map<std::int32_t, base::Duration> byStage;  // -1: pauses, phases, syncs of no stage
};

[[nodiscard]] PathAttribution attribute(const trace::Trace& trace, const graph::TaskGraph& graph,
                                        const std::vector<PathPiece>& path);

}  // namespace pleat::analysis
