// Measured graphs of recordings as other people make them: timers that overlap by noise, transfers
// on the thread that computes, communication within tasks, work left to the next iteration.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "annotate/annotate.h"
#include "graph/measured_graph.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"
#include "trace/categories.h"
#include "trace/trace_builder.h"

namespace pleat {
namespace {

using base::Duration;
using base::Interval;
using base::TraceTime;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

testing::SyntheticOptions pipeline(std::string_view name, std::int32_t chunks) {
    testing::SyntheticOptions options;
    options.schedule = schedule::makeSchedule(name, {3, 6, chunks, 0}).value();
    options.dp = 2;
    options.forward = {{1'000'000}};
    options.backward = {{2'000'000}};
    options.link = {50'000};
    options.sync = {400'000};
    options.data = {};
    return options;
}

// Every timer of a message begins and ends up to `noise` early or late.
trace::Trace withNoise(testing::SyntheticRun run, std::int64_t noise, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::int64_t> shift(-noise, noise);
    for (auto& event : run.events) {
        const bool message = event.name.find("SEND") != std::string::npos ||
                             event.name.find("RECV") != std::string::npos;
        if (!message || event.kind != trace::EventKind::Range) continue;
        const TraceTime begin = std::max(TraceTime{}, event.span.begin + Duration{shift(random)});
        event.span = {begin, std::max(begin, event.span.end + Duration{shift(random)})};
    }
    return annotate::annotate(testing::traceOf(run)).value();
}

Duration pauseOf(const graph::TaskGraph& graph) {
    Duration longest;
    for (const Node& node : graph.nodes()) longest = std::max(longest, node.delay);
    return longest;
}

TEST(MeasuredNoise, TimersThatBeginEarlyOrEndLateLoseNoDependency) {
    for (const auto& [name, chunks] :
         {std::pair("gpipe", 1), std::pair("1f1b", 1), std::pair("interleaved", 2)}) {
        const auto run = testing::makeSyntheticRun(pipeline(name, chunks));
        for (const std::int64_t noise : {0, 1'000, 20'000}) {
            SCOPED_TRACE(name + std::string(", noise ") + std::to_string(noise));
            const trace::Trace trace = withNoise(run, noise, 11);
            const graph::RunIndex index(trace);
            EXPECT_LE(index.resolution().value.ns, 2 * noise);
            EXPECT_EQ(index.resolution().overlaps > 0, noise > 0);
            const auto& window = index.windows().front();
            const auto graph = graph::measuredGraph(index, window).value();
            EXPECT_EQ(graph.contradictions().count, 0);
            EXPECT_LE(pauseOf(graph).ns, 4 * noise) << "a lost dependency shows as a pause";
            const auto replay = graph::replay(graph, window);
            EXPECT_EQ(replay.predicted.ns, replay.measured.ns);
            for (const Node& node : graph.nodes()) {
                EXPECT_GE(node.delay.ns, 0);
                EXPECT_GE(node.duration.ns, 0);
            }
        }
    }
}

TEST(MeasuredNoise, WhatOverlapsByMoreThanTimersDoIsNotTakenForNoise) {
    auto run = testing::makeSyntheticRun(pipeline("1f1b", 1));
    for (auto& event : run.events) {
        if (event.name == "0SEND_F3") event.span.begin = event.span.begin - Duration{900'000};
    }
    const trace::Trace trace = annotate::annotate(testing::traceOf(run)).value();
    EXPECT_EQ(graph::RunIndex(trace).resolution().value.ns, 0);
}

// Engines whose messages are steps of their thread overlap nothing: there only the gradient sync,
// on a thread of its own, shows what the timers are wrong by.
TEST(MeasuredNoise, ASyncThatBeginsBeforeItsLastBackwardEndsShowsTheResolution) {
    auto run = testing::makeSyntheticRun(pipeline("1f1b", 1));
    std::size_t moved = 0;
    for (auto& event : run.events) {
        if (event.name != "0REDUCE_GRAD") continue;
        event.span.begin = event.span.begin - Duration{200'000};
        ++moved;
    }
    ASSERT_GT(moved, 0U);
    const trace::Trace trace = annotate::annotate(testing::traceOf(run)).value();
    const graph::RunIndex index(trace);
    EXPECT_EQ(index.resolution().value.ns, 200'000);
    const auto graph = graph::measuredGraph(index, index.windows().front()).value();
    EXPECT_EQ(graph.contradictions().count, 0) << "the sync still follows the backward";
}

TEST(MeasuredNoise, DropsAndCountsAnOrderThatTimesContradict) {
    testing::SyntheticRun run;
    run.ranks = 1;
    run.pipelineRanks = 1;
    const auto add = [&](std::int32_t lane, std::string name, Interval span) {
        run.events.push_back({0, lane, std::move(name), lane == 0 ? "pleat" : "pleat.comm", "",
                              trace::EventKind::Range, trace::EventFlag::None, span});
    };
    add(0, "0F0", {{0}, {1'000'000}});
    add(1, "0SEND_F0", {{100'000}, {300'000}});  // long before its task has ended
    add(0, "0B0", {{1'000'000}, {2'000'000}});
    const trace::Trace trace = annotate::annotate(testing::traceOf(run)).value();
    const graph::RunIndex index(trace);
    const auto graph = graph::measuredGraph(index, index.windows().front()).value();
    EXPECT_EQ(graph.contradictions().count, 1);
    EXPECT_EQ(graph.contradictions().overlap.ns, 900'000);
    EXPECT_EQ(graph.nodes()[graph.contradictions().after].kind, NodeKind::Transfer);
}

// Two ranks whose threads compute, send and receive, one after another; a send waits for its
// receiver. Times in us.
class Blocking {
  public:
    Blocking() {
        for (std::int32_t number = 0; number < 2; ++number) {
            trace::Rank rank;
            rank.number = number;
            rank.coordinates.pp = number;
            m_lanes.push_back(
                m_builder.addLane({m_builder.addRank(rank), trace::LaneKind::HostThread, 1, ""}));
        }
    }
    Blocking& add(std::size_t rank, const char* name, std::int64_t begin, std::int64_t end) {
        const bool transfers = std::string(name).find('_') != std::string::npos;
        m_builder.addEvent({m_lanes[rank],
                            m_builder.intern(name),
                            m_builder.intern(transfers ? "pleat.comm" : "pleat"),
                            trace::EventKind::Range,
                            trace::EventFlag::None,
                            {{begin * 1'000}, {end * 1'000}}});
        return *this;
    }
    trace::Trace build() { return annotate::annotate(std::move(m_builder).build().trace).value(); }

  private:
    trace::TraceBuilder m_builder;
    std::vector<trace::LaneId> m_lanes;
};

NodeId nodeOf(const graph::TaskGraph& graph, NodeKind kind, schedule::ActionKind action,
              std::int32_t stage, std::int32_t microbatch) {
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[NodeId::at(i)];
        if (node.kind == kind && node.action == action && node.stage == stage &&
            node.microbatch == microbatch)
            return NodeId::at(i);
    }
    return {};
}

// Rank 0: F0, send, F1, send. Rank 1: receive, F0 (slow), receive, F1. The second message leaves
// only when rank 1 has done its slow F0: were that 30 us shorter, so would be the iteration.
TEST(MeasuredNoise, TransfersOnTheThreadThatComputesAreStepsOfIt) {
    const trace::Trace trace = Blocking()
                                   .add(0, "0F0", 0, 10)
                                   .add(0, "0SEND_F0", 10, 12)
                                   .add(0, "0F1", 12, 22)
                                   .add(0, "0SEND_F1", 22, 54)
                                   .add(0, "0B0", 54, 64)
                                   .add(1, "1RECV_F0", 0, 12)
                                   .add(1, "1F0", 12, 52)
                                   .add(1, "1RECV_F1", 52, 54)
                                   .add(1, "1F1", 54, 64)
                                   .build();
    const graph::RunIndex index(trace);
    const auto graph = graph::measuredGraph(index, index.windows().front()).value();
    EXPECT_EQ(pauseOf(graph).ns, 0);
    std::vector<Duration> durations;
    for (const Node& node : graph.nodes()) durations.push_back(node.duration);
    const NodeId slow = nodeOf(graph, NodeKind::Task, schedule::ActionKind::Forward, 1, 0);
    ASSERT_TRUE(slow.valid());
    durations[slow.index()] = {10'000};
    EXPECT_EQ(graph::earliestTimes(graph, {}, durations).end.ns, 34'000);
}

// A forward that receives and sends within its range: [0, 20) of 1F0 is its receive, [50, 52) its
// send. Its own work is in pieces of 0, 30 and 3 us.
TEST(MeasuredNoise, ATaskWithTransfersWithinIsInPiecesOfItsOwnWork) {
    const trace::Trace trace = Blocking()
                                   .add(0, "0F0", 0, 18)
                                   .add(0, "0SEND_F0", 18, 20)
                                   .add(1, "1F0", 0, 55)
                                   .add(1, "1RECV_F0", 0, 20)
                                   .add(1, "1SEND_F0", 50, 52)
                                   .build();
    const graph::RunIndex index(trace);
    ASSERT_EQ(index.inner().size(), 2U);
    const auto graph = graph::measuredGraph(index, index.windows().front()).value();
    std::vector<std::int64_t> pieces;
    for (const Node& node : graph.nodes()) {
        if (node.kind == NodeKind::Task && node.stage == 1) {
            EXPECT_EQ(node.pieces, 3);
            EXPECT_EQ(node.piece, static_cast<std::int32_t>(pieces.size()));
            pieces.push_back(node.duration.ns / 1'000);
        }
    }
    EXPECT_EQ(pieces, (std::vector<std::int64_t>{0, 30, 3}));
    EXPECT_EQ(pauseOf(graph).ns, 0);
    std::vector<Duration> durations;
    for (const Node& node : graph.nodes()) durations.push_back(node.duration);
    durations[nodeOf(graph, NodeKind::Task, schedule::ActionKind::Forward, 0, 0).index()] = {8'000};
    EXPECT_EQ(graph::earliestTimes(graph, {}, durations).end.ns, 45'000)
        << "what the first stage gains, the second does not wait for";
}

// Rank 0's backward ends with a kernel that an all-reduce on another stream blocks: it begins at
// 111 us, though the all-reduce ends 2 us later as its own timer has it. It follows all the same.
TEST(MeasuredNoise, WhatAnAllReduceBlocksFollowsItThoughItsTimerEndsLater) {
    trace::TraceBuilder builder;
    const auto kernel = [&](trace::LaneId lane, const char* name, std::int64_t begin,
                            std::int64_t end) {
        builder.addEvent({lane,
                          builder.intern(name),
                          builder.intern(trace::categories::kKernel),
                          trace::EventKind::Range,
                          trace::EventFlag::None,
                          {{begin * 1'000}, {end * 1'000}}});
    };
    for (std::int32_t number = 0; number < 2; ++number) {
        trace::Rank rank;
        rank.number = number;
        rank.coordinates.dp = number;
        rank.coordinates.pp = 0;
        const trace::RankId id = builder.addRank(rank);
        const auto compute = builder.addLane({id, trace::LaneKind::DeviceStream, 7, ""});
        const auto sync = builder.addLane({id, trace::LaneKind::DeviceStream, 21, ""});
        const auto ranges = builder.addLane({id, trace::LaneKind::DeviceStream, 8, ""});
        const std::int64_t own = number == 0 ? 60 : 100;  // rank 1 is late
        kernel(compute, "gemm", 0, own);
        kernel(compute, "gemm", 111, 112);
        kernel(sync, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", own, 113);
        builder.addEvent({ranges,
                          builder.intern("0B0"),
                          builder.intern("pleat"),
                          trace::EventKind::Range,
                          trace::EventFlag::None,
                          {{0}, {112'000}}});
    }
    const trace::Trace trace = annotate::annotate(std::move(builder).build().trace).value();
    const graph::RunIndex index(trace);
    ASSERT_EQ(index.inner().size(), 2U);
    const auto graph = graph::measuredGraph(index, index.windows().front()).value();
    EXPECT_EQ(pauseOf(graph).ns, 0) << "rank 0 waits for the all-reduce, it does not pause";
}

// The optimizer of the first iteration runs on while the second has begun on the other rank: the
// second rank's forward follows it.
TEST(MeasuredNoise, WorkOfTheIterationBeforeIsInTheGraphThatItHoldsUp) {
    testing::SyntheticOptions options = pipeline("1f1b", 1);
    options.dp = 1;
    options.iterations = 3;
    auto run = testing::makeSyntheticRun(options);
    // Rank 2 has nothing to do before the second iteration's first message, 2 ms after its begin.
    const TraceTime second = run.iterations[1][0].begin;
    for (auto& event : run.events) {
        const bool first =
            event.rank == 2 && event.span.end <= second && event.span.length().ns > 0;
        if (first && event.name == "optimizer") event.span.end = second + Duration{500'000};
    }
    const trace::Trace trace = annotate::annotate(testing::traceOf(run)).value();
    const graph::RunIndex index(trace);
    std::size_t carried = 0;
    for (const graph::IterationWindow& window : index.windows()) {
        const auto graph = graph::measuredGraph(index, window).value();
        for (const Node& node : graph.nodes()) {
            if (node.iteration == window.iteration) continue;
            EXPECT_EQ(node.iteration, window.iteration - 1);
            EXPECT_TRUE(node.cut);
            EXPECT_EQ(node.measured.begin, window.window.begin);
            ++carried;
        }
        const auto replay = graph::replay(graph, window);
        EXPECT_EQ(replay.predicted.ns, replay.measured.ns);
    }
    EXPECT_GT(carried, 0U);
}

}  // namespace
}  // namespace pleat
