#include "analysis/critical_path.h"

#include <gtest/gtest.h>

#include "simulated_run.h"

namespace pleat::analysis {
namespace {

using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::TaskGraph;

base::Interval at(std::int64_t begin, std::int64_t end) { return {{begin}, {end}}; }

Node node(NodeKind kind, std::int32_t rank, base::Interval measured) {
    Node made;
    made.kind = kind;
    made.rank = rank;
    made.stage = kind == NodeKind::Task ? rank : -1;
    made.dimension = trace::Dimension::Dp;
    made.measured = measured;
    made.duration = measured.length();
    return made;
}

TEST(CriticalPath, FollowsTheLateRankInsteadOfWaitingForIt) {
    // Both ranks all-reduce; rank 0 is ready at 20, rank 1 at 50.
    base::IdVector<graph::NodeTag, Node> nodes;
    const NodeId early = nodes.push(node(NodeKind::Task, 0, at(0, 20)));
    const NodeId late = nodes.push(node(NodeKind::Task, 1, at(5, 48)));
    const NodeId ready = nodes.push(node(NodeKind::Ready, -1, at(50, 50)));
    const NodeId sync = nodes.push(node(NodeKind::Transfer, 0, at(50, 70)));
    const NodeId last = nodes.push(node(NodeKind::Task, 0, at(71, 90)));
    const TaskGraph graph =
        *TaskGraph::build(nodes, {{early, ready}, {late, ready}, {ready, sync}, {sync, last}});
    const auto path = measuredCriticalPath(graph, at(0, 100));
    ASSERT_EQ(path.size(), 7u);
    const bool pauses[] = {true, false, true, false, true, false, true};
    const std::int32_t ranks[] = {1, 1, 1, 0, 0, 0, 0};
    const base::Interval spans[] = {at(0, 5),   at(5, 48),  at(48, 50), at(50, 70),
                                    at(70, 71), at(71, 90), at(90, 100)};
    for (std::size_t i = 0; i < path.size(); ++i) {
        EXPECT_EQ(path[i].pause, pauses[i]) << i;
        EXPECT_EQ(path[i].rank, ranks[i]) << i;
        EXPECT_EQ(path[i].span, spans[i]) << i;
    }
}

TEST(CriticalPath, IsOnePauseInAnEmptyGraph) {
    const TaskGraph graph = *TaskGraph::build({}, {});
    const auto path = measuredCriticalPath(graph, at(3, 9));
    ASSERT_EQ(path.size(), 1u);
    EXPECT_TRUE(path[0].pause);
    EXPECT_EQ(path[0].span, at(3, 9));
}

TEST(CriticalPath, StaysUnbrokenWhereMeasuredNodesOverlap) {
    // A clock error lets the successor begin before its predecessor ends.
    base::IdVector<graph::NodeTag, Node> nodes;
    const NodeId first = nodes.push(node(NodeKind::Task, 0, at(0, 12)));
    const NodeId second = nodes.push(node(NodeKind::Task, 0, at(10, 20)));
    const auto path = measuredCriticalPath(*TaskGraph::build(nodes, {{first, second}}), at(0, 20));
    ASSERT_EQ(path.size(), 2u);
    EXPECT_EQ(path[0].span, at(0, 10));
    EXPECT_EQ(path[1].span, at(10, 20));
}

TEST(CriticalPath, OfABalancedPipelineIsAllTasks) {
    const auto run = testing::simulatedRun("1f1b", {2, 4, 1, 0}, {{1'000}, {2'000}, {0}, {0}, {0}});
    const PathAttribution shares =
        attribute(run.trace, run.graph, measuredCriticalPath(run.graph, run.window));
    EXPECT_EQ(shares.length, run.window.length());
    // F0 on rank 0, then rank 1 without a pause, then B3 on rank 0: 5 forwards and 5 backwards.
    EXPECT_EQ(shares.byKind.at("forward").ns, 5'000);
    EXPECT_EQ(shares.byKind.at("backward").ns, 10'000);
    EXPECT_EQ(shares.byKind.size(), 2u);
    EXPECT_EQ(shares.byRank.at(0) + shares.byRank.at(1), shares.length);
}

}  // namespace
}  // namespace pleat::analysis
