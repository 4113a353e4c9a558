// Task graphs of coarse timers, on steps small enough to be replayed by hand.
#include "graph/timer_graph.h"

#include <gtest/gtest.h>

#include <string>

#include "graph/timer_events.h"
#include "timer_timeline.h"

namespace pleat::graph {
namespace {

using testing::TimerTimelineText;
using testing::twoStageStep;

base::Result<std::vector<TimerStep>> graphsOf(const trace::Trace& trace) {
    return timerGraphs(trace, iterationWindows(trace));
}

std::int64_t microseconds(base::Duration duration) { return duration.ns / 1'000; }

// When a timer's node starts and ends in the replay, in us.
std::pair<std::int64_t, std::int64_t> replayed(const TimerStep& step, std::string_view name,
                                               std::int32_t stage, std::int32_t microbatch) {
    const Times times = earliestTimes(step.graph);
    for (std::size_t i = 0; i < step.graph.nodes().size(); ++i) {
        const NodeId id = NodeId::at(i);
        const Node& node = step.graph.nodes()[id];
        if (step.timers[id].timer == nullptr || step.timers[id].timer->name != name ||
            node.stage != stage || node.microbatch != microbatch)
            continue;
        return {microseconds(times.of[id].begin - base::TraceTime{}),
                microseconds(times.of[id].end - base::TraceTime{})};
    }
    ADD_FAILURE() << "no " << name;
    return {-1, -1};
}

TEST(TimerGraph, FollowsTheRulesWithoutLaunchDelays) {
    const auto steps = graphsOf(twoStageStep().trace());
    ASSERT_TRUE(steps);
    ASSERT_EQ(steps->size(), 1U);
    const TimerStep& step = steps->front();
    EXPECT_EQ(microseconds(step.measured), 114);
    EXPECT_EQ(microseconds(earliestTimes(step.graph).end - base::TraceTime{}), 104);
    using Span = std::pair<std::int64_t, std::int64_t>;
    EXPECT_EQ(replayed(step, "forward-compute", 1, 0), Span(16, 26));
    // Asked for once the forward before is done, not when the message is sent.
    EXPECT_EQ(replayed(step, "forward-recv", 1, 1), Span(26, 27));
    EXPECT_EQ(replayed(step, "forward-compute", 1, 1), Span(46, 56));
    EXPECT_EQ(replayed(step, "backward-compute", 0, 0), Span(47, 67));
    EXPECT_EQ(replayed(step, "backward-compute", 0, 1), Span(77, 97));
    // Everybody waits for the last rank.
    EXPECT_EQ(replayed(step, "optimizer-clip-main-grad", 1, -1), Span(97, 99));
    EXPECT_EQ(replayed(step, "optimizer", 1, -1), Span(99, 104));
}

TEST(TimerGraph, AMessageTakesTheTimeAfterItsLatestStart) {
    const auto steps = graphsOf(twoStageStep().trace());
    ASSERT_TRUE(steps);
    const TimerStep& step = steps->front();
    for (std::size_t i = 0; i < step.graph.nodes().size(); ++i) {
        const NodeId id = NodeId::at(i);
        const trace::Timer* timer = step.timers[id].timer;
        if (timer == nullptr || timer->role != trace::TimerRole::Message) continue;
        EXPECT_EQ(microseconds(step.graph.nodes()[id].duration), 1) << timer->name;
        ASSERT_TRUE(step.timers[id].peer.valid());
        EXPECT_NE(step.timers[id].peer.index(),
                  static_cast<std::uint32_t>(step.graph.nodes()[id].rank));
    }
}

TEST(TimerGraph, StagesOfAllReplicasShareTheirGradients) {
    TimerTimelineText text;
    text.add(0, "forward-compute", 0, 0, 10).add(0, "backward-compute", 0, 10, 20);
    text.add(0, "grads-reduce-scatter", 0, 40, 3).add(0, "optimizer", 0, 43, 1);
    text.add(0, "forward-compute", 0, 0, 10, 0, 1).add(0, "backward-compute", 0, 10, 30, 0, 1);
    text.add(0, "grads-reduce-scatter", 0, 40, 4, 0, 1).add(0, "optimizer", 0, 44, 1, 0, 1);
    const auto steps = graphsOf(text.trace());
    ASSERT_TRUE(steps);
    // The second replica's backward ends at 40, its gradients at 44.
    EXPECT_EQ(microseconds(earliestTimes(steps->front().graph).end - base::TraceTime{}), 45);
    EXPECT_EQ(replayed(steps->front(), "grads-reduce-scatter", 0, -1).first, 40);
}

TEST(TimerGraph, IsNotMadeOfWhatTheRulesDoNotCover) {
    TimerTimelineText chunks = twoStageStep();
    chunks.chunk(1).add(0, "forward-compute", 7, 200, 10);
    const auto none = graphsOf(chunks.trace());
    ASSERT_TRUE(none);
    EXPECT_TRUE(none->empty());
    const auto nothing = graphsOf(trace::TraceBuilder().build().trace);
    ASSERT_TRUE(nothing);
    EXPECT_TRUE(nothing->empty());
}

TEST(TimerGraph, RefusesATimerThatStandsTwice) {
    TimerTimelineText text = twoStageStep();
    text.add(0, "optimizer", 0, 120, 1);
    const auto steps = graphsOf(text.trace());
    ASSERT_FALSE(steps);
    EXPECT_NE(steps.error().message.find("timer \"optimizer\" of sequence 0 appears twice"),
              std::string::npos)
        << steps.error().message;
}

TEST(TimerGraph, OrderIsThatOfTheFirstReplicaInTheFirstWholeStep) {
    TimerTimelineText text;
    // The recording begins in the middle of step 0; replica 1 ran in another order.
    text.add(0, "backward-compute", 0, 0, 20, 0);
    for (const int step : {1, 2}) {
        const double begin = step * 100;
        text.add(0, "forward-compute", 0, begin, 10, step);
        text.add(0, "backward-compute", 0, begin + 10, 20, step);
        text.add(0, "forward-compute", 0, begin + 20, 10, step, 1);
        text.add(0, "backward-compute", 0, begin, 20, step, 1);
    }
    const TimerTimeline timeline = readTimeline(text.trace());
    const ComputeOrders expected{{0, {{"forward-compute", 0}, {"backward-compute", 0}}}};
    EXPECT_EQ(timeline.orders, expected);
}

TEST(TimerSteps, LaidOutOneAfterAnotherCountFromTheirOffset) {
    // 100, then 110 + 200; leads of 2 and 3 belong to the steps.
    const std::map<std::int32_t, base::Interval> extents{{4, {{2'000'000}, {100'000'000}}},
                                                         {7, {{113'000'000}, {310'000'000}}}};
    const auto measured = measuredSteps(extents);
    EXPECT_EQ(measured.at(4).ns, 100'000'000);
    EXPECT_EQ(measured.at(7).ns, 200'000'000);
}

TEST(TimerSteps, ElsewhereAreFromFirstBeginToLastEnd) {
    const std::map<std::int32_t, base::Interval> extents{{0, {{2'000'000}, {100'000'000}}},
                                                         {1, {{100'000'000}, {310'000'000}}}};
    const auto measured = measuredSteps(extents);
    EXPECT_EQ(measured.at(0).ns, 98'000'000);
    EXPECT_EQ(measured.at(1).ns, 210'000'000);
}

// A step or a number that is lost is worked out from the others: the replay is the same.
TEST(TimerGraph, OneLostFieldChangesNoReplay) {
    const std::string text = twoStageStep().text();
    for (const std::string field : {"step", "seq_id"}) {
        for (std::size_t event = 0; event < 22; ++event) {
            SCOPED_TRACE(field + " of event " + std::to_string(event));
            std::size_t at = 0;
            for (std::size_t i = 0; i <= event; ++i)
                at = text.find("\"" + field + "\":", at) + field.size() + 3;
            std::string changed = text;
            changed.replace(at, text.find_first_of(",}", at) - at, "null");
            const trace::Trace trace = *annotate::annotate(*importers::importText(changed));
            const auto steps = graphsOf(trace);
            ASSERT_TRUE(steps);
            ASSERT_EQ(steps->size(), 1U);
            EXPECT_EQ(microseconds(steps->front().measured), 114);
            EXPECT_EQ(microseconds(earliestTimes(steps->front().graph).end - base::TraceTime{}),
                      104);
        }
    }
}

// The first timer of a step belongs to the step that it begins.
TEST(TimerGraph, ALostStepIsThatOfTheNearerTimer) {
    TimerTimelineText timeline;
    for (int step = 0; step < 2; ++step) {
        timeline.add(0, "forward-compute", 0, 100 * step, 10, step);
        timeline.add(0, "backward-compute", 0, 100 * step + 10, 20, step);
        timeline.add(0, "optimizer", 0, 100 * step + 30, 5, step);
    }
    std::string text = timeline.text();
    const std::size_t second = text.find("\"step\":1");
    text.replace(second, 8, "\"step\":null");
    const trace::Trace trace = *annotate::annotate(*importers::importText(text));
    ASSERT_EQ(trace.annotations().tasks.size(), 4U);
    EXPECT_EQ(trace.annotations().tasks[trace::TaskId(2)].iteration, 1);
}

}  // namespace
}  // namespace pleat::graph
