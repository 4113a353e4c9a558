#include "graph/measured_graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/measured_draft.h"

namespace pleat::graph {

base::Result<TaskGraph> measuredGraph(const RunIndex& run, const IterationWindow& window) {
    return measuredGraph(run, std::span(&window, 1));
}

base::Result<TaskGraph> measuredGraph(const RunIndex& run,
                                      std::span<const IterationWindow> windows) {
    MeasuredDraft draft(run, windows);
    addNodes(draft);
    addLinks(draft);
    return withTimes(std::move(draft));
}

Replay replay(const TaskGraph& graph, const IterationWindow& window) {
    base::TraceTime last = window.window.begin;
    for (const Node& node : graph.nodes()) last = std::max(last, node.measured.end);
    const Times times = earliestTimes(graph, window.window.begin);
    Replay result;
    result.measured = window.window.length();
    result.predicted = (times.end - window.window.begin) + (window.window.end - last);
    if (result.measured.ns > 0) {
        result.errorFraction =
            std::abs(static_cast<double>((result.predicted - result.measured).ns)) /
            static_cast<double>(result.measured.ns);
    }
    return result;
}

base::Result<Replay> replay(const RunIndex& run, const IterationWindow& window) {
    const auto graph = measuredGraph(run, window);
    if (!graph) return graph.error();
    return replay(*graph, window);
}

}  // namespace pleat::graph
