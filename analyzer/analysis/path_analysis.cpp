#include "analysis/path_analysis.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/critical_path.h"
#include "analysis/iterations.h"
#include "analysis/run_totals.h"
#include "graph/measured_graph.h"

namespace pleat::analysis {
namespace {

std::int32_t numberOf(const trace::Trace& trace, std::int32_t rank) {
    return rank < 0 ? -1 : trace.ranks()[trace::RankId(static_cast<std::uint32_t>(rank))].number;
}

std::vector<PathRun> mergeRuns(const trace::Trace& trace, const graph::TaskGraph& graph,
                               const std::vector<PathPiece>& path, base::TraceTime begin) {
    std::vector<PathRun> runs;
    for (const PathPiece& piece : path) {
        const std::string kind = kindOf(trace, graph, piece);
        const std::int32_t rank = numberOf(trace, piece.rank);
        const std::int32_t stage = piece.pause ? -1 : graph.nodes()[piece.node].stage;
        const bool continues = !runs.empty() && runs.back().kind == kind &&
                               runs.back().rank == rank && runs.back().stage == stage;
        if (!continues) runs.push_back({kind, rank, stage, 0, piece.span.begin - begin, {}});
        ++runs.back().pieces;
        runs.back().length += piece.span.length();
    }
    return runs;
}

std::vector<TaskSlack> slackOfTasks(const trace::Trace& trace, const graph::TaskGraph& graph,
                                    base::TraceTime begin) {
    const graph::Times times = graph::earliestTimes(graph, begin);
    const auto slacks = graph::slack(graph, times);
    std::vector<TaskSlack> tasks;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const graph::NodeId id = graph::NodeId::at(i);
        const graph::Node& node = graph.nodes()[id];
        if (node.kind != graph::NodeKind::Task && node.kind != graph::NodeKind::Phase) continue;
        // The pieces of a task follow each other: together they are its own work, and it may take
        // no longer than the tightest of them.
        if (node.piece > 0) {
            tasks.back().duration += node.duration;
            tasks.back().slack = std::min(tasks.back().slack, slacks[id]);
            continue;
        }
        const std::string name =
            node.kind == graph::NodeKind::Phase
                ? kindOf(trace, node)
                : toString(schedule::Action{node.stage, node.action, node.microbatch, {}});
        tasks.push_back({name, numberOf(trace, node.rank), node.duration, slacks[id]});
    }
    std::stable_sort(tasks.begin(), tasks.end(), [](const TaskSlack& a, const TaskSlack& b) {
        return a.slack != b.slack ? a.slack < b.slack : a.duration > b.duration;
    });
    return tasks;
}

}  // namespace

base::Result<PathAnalysis> analysePath(const graph::RunIndex& run, const PathOptions& options) {
    const trace::Trace& trace = run.trace();
    const auto window = chooseIteration(run, options.iteration);
    if (!window) return window.error();
    const auto graph = graph::measuredGraph(run, *window);
    if (!graph) return graph.error().within(fmt::format("iteration {}", window->iteration));
    const base::TraceTime begin = window->window.begin;
    PathTotals totals;
    totals.add(trace, *graph, *window);
    PathAnalysis analysis{
        window->iteration,
        totals.meanPath(),
        totals.meanReplay(),
        mergeRuns(trace, *graph, measuredCriticalPath(*graph, window->window), begin),
        slackOfTasks(trace, *graph, begin),
        {}};
    analysis.diagnostics.add(trace.diagnostics());
    analysis.diagnostics.add(run.diagnostics());
    return analysis;
}

}  // namespace pleat::analysis
