#include "simulated_run.h"

#include <gtest/gtest.h>

#include <utility>

#include "trace/trace_builder.h"

namespace pleat::testing {
namespace {

constexpr base::TraceTime kOrigin{1'000'000'007};

graph::TaskGraph edited(const graph::TaskGraph& graph, const EditNode& edit) {
    base::IdVector<graph::NodeTag, graph::Node> nodes = graph.nodes();
    std::vector<std::pair<graph::NodeId, graph::NodeId>> edges;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const graph::NodeId id = graph::NodeId::at(i);
        if (edit) edit(nodes[id]);
        for (const graph::NodeId next : graph.successors(id)) edges.emplace_back(id, next);
    }
    return std::move(*graph::TaskGraph::build(std::move(nodes), std::move(edges)));
}

graph::TaskGraph measured(const graph::TaskGraph& graph, const graph::Times& times) {
    std::uint32_t next = 0;
    base::IdVector<graph::NodeTag, graph::Node> nodes = graph.nodes();
    for (graph::Node& node : nodes) node.measured = times.of[graph::NodeId(next++)];
    std::vector<std::pair<graph::NodeId, graph::NodeId>> edges;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const graph::NodeId id = graph::NodeId::at(i);
        for (const graph::NodeId after : graph.successors(id)) edges.emplace_back(id, after);
    }
    return std::move(*graph::TaskGraph::build(std::move(nodes), std::move(edges)));
}

trace::Annotations annotationsOf(const graph::TaskGraph& graph) {
    trace::Annotations annotations;
    for (const graph::Node& node : graph.nodes()) {
        const trace::RankId rank(static_cast<std::uint32_t>(node.rank));
        if (node.kind == graph::NodeKind::Task) {
            trace::Task task;
            task.rank = rank;
            task.iteration = 0;
            task.stage = node.stage;
            task.microbatch = node.microbatch;
            task.kind = node.action;
            task.span = node.measured;
            annotations.tasks.push(task);
            continue;
        }
        trace::Transfer transfer;
        transfer.rank = rank;
        transfer.iteration = 0;
        transfer.stage = node.stage;
        transfer.dimension = node.dimension;
        transfer.operation = node.dimension == trace::Dimension::Pp ? trace::Operation::Receive
                                                                    : trace::Operation::AllReduce;
        transfer.span = node.measured;
        transfer.match = annotations.matches.push({{}, node.measured.begin, rank, true});
        annotations.transfers.push(transfer);
    }
    return annotations;
}

trace::Trace traceOf(const graph::TaskGraph& graph, std::int32_t ranks) {
    trace::TraceBuilder builder;
    for (std::int32_t i = 0; i < ranks; ++i) {
        trace::Rank rank;
        rank.number = i;
        builder.addRank(rank);
    }
    const trace::TraceBuilder::Built built = std::move(builder).build();
    return trace::Trace::annotated(built.trace.sharedColumns(), built.trace.ranks(),
                                   built.trace.lanes(), annotationsOf(graph), {});
}

}  // namespace

SimulatedRun simulatedRun(std::string_view name, const schedule::GeneratorOptions& options,
                          const graph::CostModel& costs, const EditNode& edit) {
    const auto schedule = schedule::makeSchedule(name, options);
    EXPECT_TRUE(schedule.ok());
    const auto simulation = graph::simulate(*schedule, costs);
    EXPECT_TRUE(simulation.ok());
    const graph::TaskGraph planned = edited(simulation->graph, edit);
    const graph::Times times = graph::earliestTimes(planned, kOrigin);
    graph::TaskGraph graph = measured(planned, times);
    trace::Trace trace = traceOf(graph, options.ranks);
    const base::Interval window{kOrigin, times.end};
    const std::vector<graph::IterationWindow> windows{{0, window, true}};
    auto activities =
        analysis::collectActivities(trace, windows, analysis::trainingRanks(trace)).front();
    std::vector<analysis::Partition> partitions;
    for (const auto& activity : activities) partitions.push_back(analysis::partition(activity));
    return {std::move(trace), std::move(graph), window, std::move(activities),
            std::move(partitions)};
}

}  // namespace pleat::testing
