#include "graph/measured_graph.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "annotate/annotate.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"
#include "trace/trace_builder.h"

namespace pleat {
namespace {

using base::Duration;
using base::TraceTime;
using schedule::ActionKind;

testing::SyntheticOptions randomOptions(std::mt19937& random) {
    const auto pick = [&](std::int32_t low, std::int32_t high) {
        return std::uniform_int_distribution<std::int32_t>(low, high)(random);
    };
    const auto names = schedule::scheduleNames();
    const std::string_view name = names[static_cast<std::size_t>(pick(0, 3))];
    schedule::GeneratorOptions size;
    size.ranks = pick(1, 4);
    const bool hasChunks = name == "interleaved" || name == "folded";
    size.chunks = hasChunks ? pick(1, 3) : 1;
    size.microbatches = size.ranks * pick(1, 3);
    testing::SyntheticOptions options;
    options.schedule = schedule::makeSchedule(name, size).value();
    options.dp = pick(1, 3);
    options.iterations = pick(1, 3);
    for (std::int32_t stage = 0; stage < size.ranks * size.chunks; ++stage) {
        options.forward.push_back({pick(1, 1000)});
        options.backward.push_back({pick(1, 2000)});
    }
    options.extra = {
        {pick(0, size.ranks * options.dp - 1), pick(0, size.microbatches - 1), {pick(0, 5000)}}};
    options.link = {pick(0, 800)};
    options.sync = {pick(0, 4000)};
    options.data = {pick(0, 300)};
    options.skew = {pick(0, 200)};
    return options;
}

TEST(MeasuredGraph, ReplaysEveryRandomRunExactly) {
    std::mt19937 random(20231);
    for (int trial = 0; trial < 250; ++trial) {
        const auto options = randomOptions(random);
        const auto run = testing::makeSyntheticRun(options);
        const auto trace = annotate::annotate(testing::traceOf(run)).value();
        const auto windows = graph::iterationWindows(trace);
        ASSERT_EQ(windows.size(), run.iterations.size());
        for (const auto& window : windows) {
            SCOPED_TRACE(options.schedule.name + ", trial " + std::to_string(trial));
            const auto built = graph::measuredGraph(trace, window);
            ASSERT_TRUE(built.ok()) << built.error().message;
            EXPECT_TRUE(window.complete);
            const auto replay = graph::replay(*built, window);
            EXPECT_EQ(replay.predicted.ns, replay.measured.ns);
            EXPECT_EQ(replay.errorFraction, 0);
            const auto times = graph::earliestTimes(*built, window.window.begin);
            for (std::size_t i = 0; i < built->nodes().size(); ++i) {
                const auto id = graph::NodeId::at(i);
                ASSERT_EQ(times.of[id], built->nodes()[id].measured);
            }
        }
    }
}

// The dependencies must carry the times, not the pauses: with the transfers and tasks of a run
// whose iteration begins at once on every rank, nothing is left to a pause.
TEST(MeasuredGraph, ExplainsAnIdealRunWithoutPauses) {
    for (const std::string_view name : schedule::scheduleNames()) {
        SCOPED_TRACE(name);
        testing::SyntheticOptions options;
        const std::int32_t chunks = name == "interleaved" || name == "folded" ? 2 : 1;
        options.schedule = schedule::makeSchedule(name, {4, 8, chunks, 0}).value();
        options.dp = 2;
        options.forward = {{100}};
        options.backward = {{210}};
        const auto run = testing::makeSyntheticRun(options);
        const auto trace = annotate::annotate(testing::traceOf(run)).value();
        const auto graph =
            graph::measuredGraph(trace, graph::iterationWindows(trace).at(0)).value();
        for (const graph::Node& node : graph.nodes()) EXPECT_EQ(node.delay.ns, 0);
    }
}

TEST(MeasuredGraph, HasReadyTimesOfTheOracle) {
    testing::SyntheticOptions options;
    options.schedule = schedule::makeSchedule("1f1b", {3, 6, 1, 0}).value();
    options.dp = 2;
    options.forward = {{100}};
    options.backward = {{230}};
    options.extra = {{4, 2, {900}}};
    const auto run = testing::makeSyntheticRun(options);
    const auto trace = annotate::annotate(testing::traceOf(run)).value();
    const auto window = graph::iterationWindows(trace).at(0);
    const auto graph = graph::measuredGraph(trace, window).value();
    std::map<std::pair<std::int32_t, std::string>, base::Interval> moving;
    for (const auto& transfer : run.transfers) {
        moving[{transfer.rank, toString(transfer.action)}] = {transfer.ready, transfer.span.end};
    }
    std::size_t seen = 0;
    for (const graph::Node& node : graph.nodes()) {
        if (node.kind != graph::NodeKind::Transfer) continue;
        const std::string name =
            toString(schedule::Action{node.stage, node.action, node.microbatch, {}});
        EXPECT_EQ(node.measured, (moving.at({node.rank, name}))) << name;
        ++seen;
    }
    EXPECT_EQ(seen, run.transfers.size());
}

TEST(MeasuredGraph, WindowsNeverOverlapAndBeginWithTheFirstTasksRank) {
    testing::SyntheticOptions options;
    options.schedule = schedule::makeSchedule("gpipe", {2, 2, 1, 0}).value();
    options.iterations = 3;
    options.forward = {{100}, {1000}};
    options.backward = {{2000}, {100}};
    options.data = {10};
    const auto run = testing::makeSyntheticRun(options);
    const auto trace = annotate::annotate(testing::traceOf(run)).value();
    const auto windows = graph::iterationWindows(trace);
    ASSERT_EQ(windows.size(), 3U);
    for (std::size_t i = 0; i < windows.size(); ++i) {
        EXPECT_EQ(windows[i].iteration, static_cast<std::int32_t>(i));
        EXPECT_EQ(windows[i].window.begin, run.iterations[i][0].begin);
        if (i > 0) {
            EXPECT_LE(windows[i - 1].window.end, windows[i].window.begin);
        }
    }
}

TEST(MeasuredGraph, AnIterationThatLacksTasksIsNotComplete) {
    testing::SyntheticOptions options;
    options.schedule = schedule::makeSchedule("gpipe", {2, 2, 1, 0}).value();
    options.iterations = 3;
    options.forward = {{100}};
    options.backward = {{200}};
    auto run = testing::makeSyntheticRun(options);
    for (std::size_t i = run.events.size(); i-- > 0;) {
        if (run.events[i].name != "1B1") continue;
        run.events.erase(run.events.begin() + static_cast<std::ptrdiff_t>(i));
        break;
    }
    const auto trace = annotate::annotate(testing::traceOf(run)).value();
    const auto windows = graph::iterationWindows(trace);
    ASSERT_EQ(windows.size(), 3U);
    EXPECT_TRUE(windows[0].complete);
    EXPECT_TRUE(windows[1].complete);
    EXPECT_FALSE(windows[2].complete);
}

// Names only: no messages, no iteration ranges. What one stage computes still waits for the other.
TEST(MeasuredGraph, LinksTasksAcrossRanksWithoutRecordedMessages) {
    testing::SyntheticRun run;
    run.ranks = 2;
    run.pipelineRanks = 2;
    const auto add = [&](std::int32_t rank, std::string name, std::int64_t begin,
                         std::int64_t end) {
        run.events.push_back({rank,
                              0,
                              std::move(name),
                              "pleat",
                              "",
                              trace::EventKind::Range,
                              trace::EventFlag::None,
                              {{begin}, {end}}});
    };
    add(0, "0F0", 0, 100);
    add(1, "1F0", 130, 200);
    add(1, "1B0", 200, 300);
    add(0, "0B0", 310, 400);
    const auto trace = annotate::annotate(testing::traceOf(run)).value();
    const auto window = graph::iterationWindows(trace).at(0);
    EXPECT_EQ(window.window, (base::Interval{{0}, {400}}));
    EXPECT_TRUE(window.complete);
    const auto graph = graph::measuredGraph(trace, window).value();
    ASSERT_EQ(graph.nodes().size(), 4U);
    // By rank, then start: 0F0, 0B0, 1F0, 1B0.
    const auto delay = [&](std::uint32_t i) { return graph.nodes()[graph::NodeId(i)].delay.ns; };
    EXPECT_EQ(delay(2), 30);
    EXPECT_EQ(delay(1), 10);
    std::vector<base::Duration> slower;
    for (const graph::Node& node : graph.nodes()) slower.push_back(node.duration);
    slower[0] = {1100};
    EXPECT_EQ(graph::earliestTimes(graph, {}, slower).end.ns, 1400);
}

TEST(MeasuredGraph, AnUnmatchedTransferKeepsItsWholeDuration) {
    testing::SyntheticRun run;
    run.ranks = 1;
    run.pipelineRanks = 1;
    const auto add = [&](std::int32_t lane, std::string name, std::string domain,
                         base::Interval span) {
        run.events.push_back({0, lane, std::move(name), std::move(domain), "",
                              trace::EventKind::Range, trace::EventFlag::None, span});
    };
    add(0, "0F0", "pleat", {{0}, {100}});
    add(1, "0SEND_F0", "pleat.comm", {{100}, {180}});
    add(2, "all_reduce", "pleat.comm", {{110}, {150}});
    add(0, "0B0", "pleat", {{150}, {300}});
    const auto trace = annotate::annotate(testing::traceOf(run)).value();
    const auto graph = graph::measuredGraph(trace, graph::iterationWindows(trace).at(0)).value();
    std::vector<std::int64_t> durations;
    for (const graph::Node& node : graph.nodes()) {
        EXPECT_NE(node.kind, graph::NodeKind::Ready);
        durations.push_back(node.duration.ns);
    }
    // Without an iteration of its own the all-reduce belongs to that of the task it follows.
    EXPECT_EQ(durations, (std::vector<std::int64_t>{100, 150, 80, 40}));
}

TEST(MeasuredGraph, ContradictoryClocksGiveAGraphAllTheSame) {
    testing::SyntheticOptions options;
    options.schedule = schedule::makeSchedule("1f1b", {3, 6, 1, 0}).value();
    options.forward = {{100}};
    options.backward = {{200}};
    auto run = testing::makeSyntheticRun(options);
    for (auto& event : run.events) {
        if (event.rank != 1) continue;
        event.span = {event.span.begin - Duration{700}, event.span.end - Duration{700}};
    }
    const auto trace = annotate::annotate(testing::traceOf(run)).value();
    ASSERT_NE(trace.diagnostics().find("clock_disagrees"), nullptr);
    const auto replay = graph::replay(trace, graph::iterationWindows(trace).at(0));
    ASSERT_TRUE(replay.ok()) << replay.error().message;
    EXPECT_GT(replay->predicted.ns, 0);
}

TEST(MeasuredGraph, ATraceWithoutTasksHasNoWindows) {
    testing::SyntheticRun run;
    run.ranks = 1;
    EXPECT_TRUE(graph::iterationWindows(testing::traceOf(run)).empty());
}

// Rank 0 sends to rank 1, which ran its optimizer until 40 us; the message has moved by 45 us. The
// slack of each node, ns, where the ends of the message begin then.
std::map<std::string, std::int64_t> slackWhere(std::int64_t sendBegin, std::int64_t receiveBegin) {
    trace::TraceBuilder builder;
    const auto lane = [&](std::int32_t number) {
        trace::Rank rank;
        rank.number = number;
        const trace::RankId id = builder.addRank(rank);
        return std::pair(builder.addLane({id, trace::LaneKind::HostThread, 1, ""}),
                         builder.addLane({id, trace::LaneKind::HostThread, 2, ""}));
    };
    const auto add = [&](trace::LaneId on, const char* name, std::int64_t begin, std::int64_t end) {
        builder.addEvent({on,
                          builder.intern(name),
                          builder.intern("pleat"),
                          trace::EventKind::Range,
                          trace::EventFlag::None,
                          {{begin}, {end}}});
    };
    const auto [first, firstLink] = lane(0);
    const auto [second, secondLink] = lane(1);
    add(first, "0F0", 0, 10'000);
    add(second, "optimizer", 0, 40'000);
    add(second, "1F0", 45'000, 60'000);
    add(firstLink, "0SEND_F0", sendBegin, 45'000);
    add(secondLink, "1RECV_F0", receiveBegin, 45'000);
    const auto trace = annotate::annotate(std::move(builder).build().trace).value();
    const auto windows = graph::iterationWindows(trace);
    const auto graph = graph::measuredGraph(trace, windows.at(0)).value();
    const auto times = graph::earliestTimes(graph, windows.front().window.begin);
    const auto slack = graph::slack(graph, times);
    std::map<std::string, std::int64_t> slackOf;
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const graph::Node& node = graph.nodes()[graph::NodeId::at(i)];
        if (node.kind == graph::NodeKind::Task)
            slackOf["stage " + std::to_string(node.stage)] = slack[graph::NodeId::at(i)].ns;
        if (node.kind == graph::NodeKind::Phase)
            slackOf["optimizer"] = slack[graph::NodeId::at(i)].ns;
    }
    return slackOf;
}

using Slack = std::map<std::string, std::int64_t>;

// The receiver posts its receive only once it has done what it was doing: what follows waits for
// that, not for the sender.
TEST(MeasuredGraph, AReceiveThatCameLateHangsOnWhatItsRankDidBefore) {
    EXPECT_EQ(slackWhere(10'000, 40'000),
              (Slack{{"stage 0", 30'000}, {"optimizer", 0}, {"stage 1", 0}}));
}

// Timers that begin on both ends with the data: the sender's is 137 ns later, which says nothing.
TEST(MeasuredGraph, OfEndsThatBeginTogetherTheOneThatWasBusyWasLate) {
    EXPECT_EQ(slackWhere(40'637, 40'500),
              (Slack{{"stage 0", 30'000}, {"optimizer", 0}, {"stage 1", 0}}));
}

// The receive waited 3.5 us for it.
TEST(MeasuredGraph, ASendThatCameLateHangsOnItsOwnRank) {
    EXPECT_EQ(slackWhere(44'000, 40'500),
              (Slack{{"stage 0", 0}, {"optimizer", 5'000}, {"stage 1", 0}}));
}

// Where the receiver was late, the stage that was waited for is the receiver's, in whatever order
// the ranks were opened.
TEST(MeasuredGraph, AMessageHangsOnTheStageOfItsLastEnd) {
    for (const bool senderFirst : {true, false}) {
        trace::TraceBuilder builder;
        const auto add = [&](std::int32_t number, const char* task, base::Interval span,
                             const char* message, base::Interval moves) {
            trace::Rank rank;
            rank.number = number;
            const trace::RankId id = builder.addRank(rank);
            std::int64_t thread = 1;
            for (const auto& [name, of] : {std::pair(task, span), std::pair(message, moves)}) {
                builder.addEvent({builder.addLane({id, trace::LaneKind::HostThread, thread++, ""}),
                                  builder.intern(name), builder.intern("pleat"),
                                  trace::EventKind::Range, trace::EventFlag::None, of});
            }
        };
        const auto sender = [&] {
            add(0, "0F0", {{0}, {10'000}}, "0SEND_F0", {{10'000}, {45'000}});
        };
        if (senderFirst) sender();
        add(1, "1F0", {{45'000}, {60'000}}, "1RECV_F0", {{40'000}, {45'000}});
        if (!senderFirst) sender();
        const auto trace = annotate::annotate(std::move(builder).build().trace).value();
        const auto windows = graph::iterationWindows(trace);
        const auto graph = graph::measuredGraph(trace, windows.at(0)).value();
        std::size_t ready = 0;
        for (const graph::Node& node : graph.nodes()) {
            if (node.kind != graph::NodeKind::Ready) continue;
            EXPECT_EQ(node.stage, 1) << senderFirst;
            ++ready;
        }
        EXPECT_EQ(ready, 1U);
    }
}

}  // namespace
}  // namespace pleat
