#include "annotate/annotate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "schedule/generators.h"
#include "support/synthetic_run.h"

namespace pleat {
namespace {

using base::Interval;
using schedule::ActionKind;
using testing::SyntheticRun;
using trace::EventFlag;
using trace::EventKind;

schedule::Schedule made(std::string_view name, const schedule::GeneratorOptions& options) {
    return schedule::makeSchedule(name, options).value();
}

testing::SyntheticOptions optionsFor(std::string_view name) {
    const std::int32_t chunks = name == "interleaved" || name == "folded" ? 2 : 1;
    testing::SyntheticOptions options;
    options.schedule = made(name, {2, 4, chunks, 0});
    options.dp = 2;
    options.iterations = 3;
    options.forward = {{100}};
    options.backward = {{210}};
    options.extra = {{1, 2, {70}}};
    return options;
}

trace::Trace annotated(const SyntheticRun& run) {
    return annotate::annotate(testing::traceOf(run)).value();
}

std::int64_t countOf(const trace::Trace& trace, std::string_view code) {
    const base::Diagnostic* found = trace.diagnostics().find(code);
    return found ? found->count : 0;
}

// A trace written by hand: events by rank, lane, name and arguments.
class HandMade {
  public:
    explicit HandMade(std::int32_t ranks) {
        m_run.ranks = ranks;
        m_run.pipelineRanks = ranks;
    }
    HandMade& task(std::int32_t rank, std::string name, Interval span, std::string arguments = "") {
        return add({rank, 0, std::move(name), "pleat", std::move(arguments), EventKind::Range,
                    EventFlag::None, span});
    }
    HandMade& transfer(std::int32_t rank, std::string name, Interval span,
                       std::string arguments = "") {
        return add({rank, 1, std::move(name), "pleat.comm", std::move(arguments), EventKind::Range,
                    EventFlag::None, span});
    }
    HandMade& mark(std::int32_t rank, std::string name, std::string arguments) {
        return add({rank,
                    0,
                    std::move(name),
                    "pleat",
                    std::move(arguments),
                    EventKind::Mark,
                    EventFlag::None,
                    {}});
    }
    HandMade& add(testing::SyntheticEvent event) {
        m_run.events.push_back(std::move(event));
        return *this;
    }
    [[nodiscard]] trace::Trace annotate() const { return annotated(m_run); }

  private:
    SyntheticRun m_run;
};

using TransferKey = std::tuple<std::int32_t, std::int32_t, std::string>;  // rank, iteration, name

TransferKey keyOf(const trace::Trace& trace, const trace::Transfer& transfer) {
    return {trace.ranks()[transfer.rank].number, transfer.iteration,
            std::string(trace.name(transfer.event))};
}

void expectSameTasks(const trace::Trace& trace, const SyntheticRun& run) {
    const auto& tasks = trace.annotations().tasks;
    ASSERT_EQ(tasks.size(), run.tasks.size());
    for (std::size_t i = 0; i < run.tasks.size(); ++i) {
        const trace::Task& task = tasks[trace::TaskId::at(i)];
        const testing::SyntheticTask& expected = run.tasks[i];
        EXPECT_EQ(trace.ranks()[task.rank].number, expected.rank);
        EXPECT_EQ(task.iteration, expected.iteration);
        EXPECT_EQ(task.stage, expected.action.stage);
        EXPECT_EQ(task.microbatch, expected.action.microbatch);
        EXPECT_EQ(task.kind, expected.action.kind);
        EXPECT_EQ(task.chunk, expected.chunk);
        EXPECT_EQ(task.span, expected.span);
    }
}

void expectSameTransfers(const trace::Trace& trace, const SyntheticRun& run) {
    const trace::Annotations& found = trace.annotations();
    std::map<TransferKey, const testing::SyntheticTransfer*> expected;
    for (const auto& transfer : run.transfers) {
        expected[{transfer.rank, transfer.iteration, toString(transfer.action)}] = &transfer;
    }
    ASSERT_EQ(found.transfers.size(), expected.size());
    for (const trace::Transfer& transfer : found.transfers) {
        const auto& oracle = *expected.at(keyOf(trace, transfer));
        EXPECT_EQ(transfer.span, oracle.span);
        EXPECT_EQ(transfer.action, oracle.action.kind);
        EXPECT_EQ(transfer.stage, oracle.action.stage);
        EXPECT_EQ(transfer.chunk, oracle.chunk);
        EXPECT_EQ(transfer.peer, oracle.peer);
        ASSERT_TRUE(transfer.match.valid());
        const trace::Match& match = found.matches[transfer.match];
        EXPECT_EQ(match.ready, oracle.ready);
        EXPECT_TRUE(match.complete);
        for (const trace::TransferId member : match.members) {
            const auto& other = *expected.at(keyOf(trace, found.transfers[member]));
            EXPECT_EQ(other.group, oracle.group);
            EXPECT_EQ(other.sequence, oracle.sequence);
            EXPECT_EQ(other.span.end, oracle.span.end);
        }
    }
}

TEST(Annotate, FindsEveryTaskTransferAndMatchOfTheFourSchedules) {
    for (const std::string_view name : schedule::scheduleNames()) {
        SCOPED_TRACE(name);
        const SyntheticRun run = testing::makeSyntheticRun(optionsFor(name));
        const trace::Trace trace = annotated(run);
        expectSameTasks(trace, run);
        expectSameTransfers(trace, run);
        EXPECT_TRUE(trace.diagnostics().empty());
        EXPECT_EQ(trace.annotations().iterations.size(), 12U);  // 3 iterations on 4 ranks
        EXPECT_EQ(trace.annotations().phases.size(), 24U);      // data and optimizer in each
        EXPECT_EQ(trace.annotations().matches.size() * 2, run.transfers.size());
        const trace::RecognisedSchedule schedule = trace.annotations().schedule.value();
        EXPECT_EQ(schedule.name, name);
        EXPECT_EQ(schedule.confidence, 1);
        EXPECT_EQ(schedule.microbatches, 4);
    }
}

TEST(Annotate, ReadsRanksAndGroupsFromMarks) {
    const trace::Trace trace = annotated(testing::makeSyntheticRun(optionsFor("1f1b")));
    const trace::Rank& rank = trace.ranks()[trace::RankId(3)];
    EXPECT_EQ(rank.coordinates, (trace::Coordinates{1, 1, 0, 0, 0}));
    EXPECT_EQ(rank.device, "cpu");
    bool seen = false;
    for (const trace::ProcessGroup& group : trace.annotations().groups) {
        if (group.dimension != trace::Dimension::Dp || group.nativeId != 1) continue;
        seen = true;
        EXPECT_EQ(group.size, 2);
        EXPECT_EQ(group.members, (std::vector{trace::RankId(1), trace::RankId(3)}));
    }
    EXPECT_TRUE(seen);
}

TEST(Annotate, DoesNotDependOnTheOrderOfEvents) {
    const SyntheticRun run = testing::makeSyntheticRun(optionsFor("folded"));
    for (std::uint32_t seed = 0; seed < 5; ++seed) {
        const trace::Trace trace = annotate::annotate(testing::traceOf(run, seed)).value();
        expectSameTasks(trace, run);
        expectSameTransfers(trace, run);
        EXPECT_TRUE(trace.diagnostics().empty());
    }
}

TEST(Annotate, NamesAloneGiveTheSameTasksAndMatches) {
    for (const std::string_view name : schedule::scheduleNames()) {
        SCOPED_TRACE(name);
        testing::SyntheticOptions options = optionsFor(name);
        options.withPayload = false;
        options.announceRank = false;
        const SyntheticRun run = testing::makeSyntheticRun(options);
        const trace::Trace trace = annotated(run);
        expectSameTasks(trace, run);
        const auto& found = trace.annotations();
        ASSERT_EQ(found.transfers.size(), run.transfers.size());
        for (const trace::Transfer& transfer : found.transfers) {
            ASSERT_TRUE(transfer.match.valid());
            for (const trace::TransferId member : found.matches[transfer.match].members) {
                EXPECT_EQ(found.transfers[member].span.end, transfer.span.end);
            }
        }
        EXPECT_EQ(countOf(trace, "rank_guessed"), 4);
        EXPECT_EQ(countOf(trace, "coordinates_guessed"), 4);
        EXPECT_EQ(countOf(trace, "matched_by_order") * 2,
                  static_cast<std::int64_t>(run.transfers.size()));
        EXPECT_GT(countOf(trace, "fields_guessed"), 0);
        EXPECT_EQ(found.schedule->name, name);
    }
}

TEST(Annotate, CountsRepetitionsWhereNothingTellsTheIteration) {
    const trace::Trace trace = HandMade(1)
                                   .task(0, "2F0", {{0}, {10}})
                                   .task(0, "5F0", {{10}, {20}})
                                   .task(0, "2F0", {{20}, {30}})
                                   .annotate();
    const auto& tasks = trace.annotations().tasks;
    EXPECT_EQ(tasks[trace::TaskId(0)].iteration, 0);
    EXPECT_EQ(tasks[trace::TaskId(0)].chunk, 0);
    EXPECT_EQ(tasks[trace::TaskId(1)].iteration, 0);
    EXPECT_EQ(tasks[trace::TaskId(1)].chunk, 1);
    EXPECT_EQ(tasks[trace::TaskId(2)].iteration, 1);
    EXPECT_EQ(countOf(trace, "iteration_guessed"), 3);
}

TEST(Annotate, ATraceWithoutMarkersHasNoTasksAndNoComplaint) {
    HandMade events(1);
    events.add({0, 0, "2F0", "", "", EventKind::Range, EventFlag::None, {{0}, {5}}});
    events.add({0, 0, "all_reduce", "NCCL", "[", EventKind::Range, EventFlag::None, {{5}, {9}}});
    const trace::Trace trace = events.annotate();
    EXPECT_TRUE(trace.annotations().tasks.empty());
    EXPECT_TRUE(trace.annotations().transfers.empty());
    EXPECT_FALSE(trace.annotations().schedule.has_value());
    // A forward without its backward is no pipeline's work; that it looks like an action is said.
    ASSERT_EQ(trace.diagnostics().entries().size(), 1U);
    EXPECT_EQ(countOf(trace, "actions_not_used"), 1);
}

TEST(Annotate, AnOverlapIsOneTask) {
    const trace::Trace trace = HandMade(1).task(0, "(0F7;1B3)OVERLAP_F_B", {{0}, {10}}).annotate();
    ASSERT_EQ(trace.annotations().tasks.size(), 1U);
    const trace::Task& task = trace.annotations().tasks[trace::TaskId(0)];
    EXPECT_EQ(task.kind, ActionKind::OverlapForwardBackward);
    EXPECT_EQ(task.stage, 0);
}

TEST(Annotate, CountsNamesThatAreNoneOfOurs) {
    const trace::Trace trace = HandMade(1)
                                   .task(0, "2F0garbage", {{0}, {10}})
                                   .task(0, "2000000F0", {{10}, {20}})
                                   .mark(0, "checkpoint", "")
                                   .transfer(0, "gossip", {{0}, {10}})
                                   .annotate();
    EXPECT_EQ(countOf(trace, "unknown_marker"), 3);
    EXPECT_EQ(countOf(trace, "number_out_of_range"), 1);
    EXPECT_NE(trace.diagnostics().find("unknown_marker")->example.find("2F0garbage"),
              std::string::npos);
    EXPECT_TRUE(trace.annotations().tasks.empty());
    EXPECT_TRUE(trace.annotations().transfers.empty());
}

TEST(Annotate, UnreadableArgumentsLoseNoEvent) {
    for (const std::string_view bad :
         {R"({"iteration":)", "[1]", "7", "\xff", R"({"iteration":1)"}) {
        SCOPED_TRACE(bad);
        const trace::Trace trace =
            HandMade(1).task(0, "0F0", {{0}, {10}}, std::string(bad)).annotate();
        EXPECT_EQ(countOf(trace, "unreadable_arguments"), 1);
        ASSERT_EQ(trace.annotations().tasks.size(), 1U);
        EXPECT_EQ(trace.annotations().tasks[trace::TaskId(0)].iteration, 0);  // counted instead
    }
}

TEST(Annotate, SkipsNestedAndOverlongValues) {
    const trace::Trace trace =
        HandMade(1)
            .task(0, "0F0", {{0}, {10}},
                  R"({"extra":{"iteration":9},"list":[{"iteration":8}],"none":null,"iteration":4})")
            .task(0, "0F1", {{10}, {20}}, R"({"iteration":99999999999999999999})")
            .annotate();
    EXPECT_EQ(countOf(trace, "unreadable_arguments"), 0);
    EXPECT_EQ(trace.annotations().tasks[trace::TaskId(0)].iteration, 4);
    EXPECT_EQ(trace.annotations().tasks[trace::TaskId(1)].iteration, 0);
}

TEST(Annotate, LeavesOpenRangesOutButUsesOpenIterations) {
    HandMade events(1);
    const auto open = [&](std::string name, std::string arguments, Interval span) {
        events.add({0, 0, std::move(name), "pleat", std::move(arguments), EventKind::Range,
                    EventFlag::OpenAtEnd, span});
    };
    open("iteration", R"({"iteration":6})", {{0}, {50}});
    events.task(0, "0F0", {{5}, {10}});
    open("0F1", "", {{10}, {50}});
    const trace::Trace trace = events.annotate();
    EXPECT_EQ(countOf(trace, "open_task"), 2);
    EXPECT_TRUE(trace.annotations().iterations.empty());
    ASSERT_EQ(trace.annotations().tasks.size(), 1U);
    EXPECT_EQ(trace.annotations().tasks[trace::TaskId(0)].iteration, 6);
}

TEST(Annotate, BelievesTheMarkAndReportsRanksThatDisagree) {
    const trace::Trace trace = HandMade(3)
                                   .mark(0, "rank", R"({"rank":0,"pp":0})")
                                   .mark(1, "rank", R"({"rank":2,"pp":1})")
                                   .annotate();
    EXPECT_EQ(trace.ranks()[trace::RankId(1)].number, 2);
    EXPECT_EQ(countOf(trace, "rank_conflict"), 1);
    EXPECT_EQ(countOf(trace, "duplicate_rank"), 1);  // process 2's environment says 2 as well
    EXPECT_EQ(trace.diagnostics().find("duplicate_rank")->severity, base::Severity::Error);
}

TEST(Annotate, ReportsGroupsThatAreNotAsAnnounced) {
    const std::string three = R"({"group":7,"size":3,"dimension":"dp"})";
    const std::string one = R"({"group":8,"size":1,"dimension":"dp"})";
    const trace::Trace trace = HandMade(2)
                                   .mark(0, "process_group", three)
                                   .mark(1, "process_group", three)
                                   .mark(0, "process_group", one)
                                   .mark(1, "process_group", one)
                                   .annotate();
    EXPECT_EQ(countOf(trace, "group_incomplete"), 1);
    EXPECT_EQ(countOf(trace, "group_conflict"), 1);
}

std::string message(std::string_view operation, int peer, int sequence) {
    return R"({"group":1,"iteration":0,"dimension":"pp","peer":)" + std::to_string(peer) +
           R"(,"sequence":)" + std::to_string(sequence) + R"(,"operation":")" +
           std::string(operation) + R"("})";
}

TEST(Annotate, MatchesBySequenceNotByTime) {
    const trace::Trace trace = HandMade(2)
                                   .transfer(0, "0SEND_F0", {{0}, {10}}, message("send", 1, 1))
                                   .transfer(0, "0SEND_F1", {{10}, {30}}, message("send", 1, 2))
                                   .transfer(1, "1RECV_F1", {{12}, {30}}, message("recv", 0, 2))
                                   .annotate();
    const auto& found = trace.annotations();
    ASSERT_EQ(found.matches.size(), 1U);
    const trace::Match& match = found.matches[trace::MatchId(0)];
    EXPECT_EQ(match.members, (std::vector{trace::TransferId(1), trace::TransferId(2)}));
    EXPECT_EQ(match.ready.ns, 12);
    EXPECT_EQ(match.lastRank, trace::RankId(1));
    EXPECT_EQ(countOf(trace, "unmatched_transfer"), 1);
}

// One end of an iteration is not recorded, and nothing numbers the messages: they are matched
// within iterations all the same.
TEST(Annotate, AMissingIterationShiftsNoMessagesOfOthers) {
    testing::SyntheticOptions options = optionsFor("gpipe");
    options.dp = 1;
    SyntheticRun run = makeSyntheticRun(options);
    std::erase_if(run.events, [](const testing::SyntheticEvent& event) {
        return event.rank == 1 && event.arguments.find("\"iteration\":1,") != std::string::npos;
    });
    for (testing::SyntheticEvent& event : run.events) {
        for (const std::string_view field : {"\"sequence\":", "\"group\":"}) {
            const std::size_t at = event.arguments.find(field);
            if (at == std::string::npos) continue;
            event.arguments.erase(at, event.arguments.find(',', at) + 1 - at);
        }
    }
    const trace::Trace trace = annotated(run);
    const auto& transfers = trace.annotations().transfers;
    std::map<std::int32_t, int> matched;
    for (const trace::Match& match : trace.annotations().matches) {
        ASSERT_EQ(match.members.size(), 2U);
        const trace::Transfer& first = transfers[match.members[0]];
        EXPECT_EQ(first.iteration, transfers[match.members[1]].iteration);
        ++matched[first.iteration];
    }
    EXPECT_EQ(matched, (std::map<std::int32_t, int>{{0, 8}, {2, 8}}));
    EXPECT_EQ(countOf(trace, "clock_disagrees"), 0);
    EXPECT_EQ(countOf(trace, "unmatched_transfer"), 8);
}

TEST(Annotate, ATaskThatStandsTwiceIsSaid) {
    SyntheticRun run = makeSyntheticRun(optionsFor("1f1b"));
    EXPECT_EQ(countOf(annotated(run), "task_twice"), 0);
    const std::vector<testing::SyntheticEvent> events = run.events;
    run.events.insert(run.events.end(), events.begin(), events.end());
    EXPECT_EQ(countOf(annotated(run), "task_twice"), static_cast<std::int64_t>(run.tasks.size()));
}

TEST(Annotate, DoesNotMatchAMessageMeantForAnother) {
    const trace::Trace trace = HandMade(3)
                                   .transfer(0, "0SEND_F0", {{0}, {10}}, message("send", 2, 1))
                                   .transfer(1, "1RECV_F0", {{0}, {10}}, message("recv", 0, 1))
                                   .annotate();
    EXPECT_TRUE(trace.annotations().matches.empty());
    EXPECT_EQ(countOf(trace, "unmatched_transfer"), 2);
}

TEST(Annotate, ReportsAReceiveThatEndsBeforeItsSendBegins) {
    const auto receivedAt = [](std::int64_t end) {
        return HandMade(2)
            .transfer(0, "0SEND_F0", {{100}, {120}}, message("send", 1, 1))
            .transfer(1, "1RECV_F0", {{40}, {end}}, message("recv", 0, 1))
            .annotate();
    };
    EXPECT_EQ(countOf(receivedAt(100), "clock_disagrees"), 0);
    EXPECT_EQ(countOf(receivedAt(99), "clock_disagrees"), 1);
    EXPECT_EQ(receivedAt(99).annotations().matches.size(), 1U);
}

// A task of 4 ms takes as long as all else; timers that are wrong by microseconds are no clock's
// fault.
TEST(Annotate, WhatTimersMayBeWrongByIsNoFaultOfAClock) {
    const auto receivedAt = [](std::int64_t end) {
        return HandMade(2)
            .task(0, "0F0", {{0}, {4'000'000}})
            .transfer(0, "0SEND_F0", {{4'000'000}, {4'100'000}}, message("send", 1, 1))
            .transfer(1, "1RECV_F0", {{2'000'000}, {end}}, message("recv", 0, 1))
            .annotate();
    };
    EXPECT_EQ(countOf(receivedAt(3'980'000), "clock_disagrees"), 0);
    EXPECT_EQ(countOf(receivedAt(3'980'000), "timers_disagree"), 1);
    EXPECT_EQ(countOf(receivedAt(3'400'000), "clock_disagrees"), 1);
    EXPECT_EQ(countOf(receivedAt(3'400'000), "timers_disagree"), 0);
}

TEST(Annotate, ACollectiveWithoutAllMembersIsIncomplete) {
    const std::string announce = R"({"group":3,"size":3,"dimension":"dp"})";
    const std::string part =
        R"({"group":3,"sequence":5,"iteration":0,"operation":"all_reduce","dimension":"dp"})";
    HandMade events(3);
    for (const std::int32_t rank : {0, 1, 2}) events.mark(rank, "process_group", announce);
    events.transfer(0, "all_reduce", {{0}, {50}}, part);
    {
        const trace::Trace trace = events.annotate();
        EXPECT_TRUE(trace.annotations().matches.empty());
        EXPECT_EQ(countOf(trace, "unmatched_transfer"), 1);
    }
    events.transfer(1, "all_reduce", {{20}, {50}}, part);
    {
        const trace::Trace trace = events.annotate();
        ASSERT_EQ(trace.annotations().matches.size(), 1U);
        EXPECT_FALSE(trace.annotations().matches[trace::MatchId(0)].complete);
        EXPECT_EQ(countOf(trace, "incomplete_match"), 1);
    }
    events.transfer(2, "all_reduce", {{30}, {50}}, part);
    const trace::Trace trace = events.annotate();
    const trace::Match& match = trace.annotations().matches[trace::MatchId(0)];
    EXPECT_TRUE(match.complete);
    EXPECT_EQ(match.ready.ns, 30);
    EXPECT_EQ(match.lastRank, trace::RankId(2));
    EXPECT_TRUE(trace.diagnostics().empty());
}

trace::RecognisedSchedule recognised(const schedule::Schedule& schedule) {
    testing::SyntheticOptions options;
    options.schedule = schedule;
    options.iterations = 2;
    options.forward = {{100}};
    options.backward = {{200}};
    return annotated(testing::makeSyntheticRun(options)).annotations().schedule.value();
}

TEST(Recognition, NamesEverySizeAndGroup) {
    for (const std::int32_t ranks : {2, 4}) {
        for (const std::int32_t group : {ranks, 2 * ranks}) {
            SCOPED_TRACE(group);
            const auto found = recognised(made("interleaved", {ranks, 4 * ranks, 2, group}));
            EXPECT_EQ(found.name, "interleaved");
            EXPECT_EQ(found.group, group);
            EXPECT_EQ(found.ranks, ranks);
            EXPECT_EQ(found.chunks, 2);
            EXPECT_EQ(found.microbatches, 4 * ranks);
            EXPECT_EQ(found.confidence, 1);
        }
    }
}

TEST(Recognition, PrefersTheSimplerOfEqualOrders) {
    EXPECT_EQ(recognised(made("1f1b", {2, 1, 1, 0})).name, "gpipe");
    EXPECT_EQ(recognised(made("folded", {4, 1, 1, 0})).name, "gpipe");
    EXPECT_EQ(recognised(made("folded", {1, 4, 1, 0})).name, "folded");  // backwards reversed
}

TEST(Recognition, KnowsTheFoldedScheduleThatGoesFirstInFirstOut) {
    schedule::Schedule fifo = made("folded", {2, 3, 2, 0});
    for (auto& order : fifo.order) {
        for (std::size_t i = 0; i + 2 < order.size(); ++i) {
            const auto isFirst = order[i].kind == ActionKind::FullBackward &&
                                 order[i].microbatch == 2 && order[i + 2].microbatch == 0 &&
                                 order[i + 2].stage == order[i].stage;
            if (isFirst) std::swap(order[i], order[i + 2]);
        }
    }
    ASSERT_NE(fifo.order, made("folded", {2, 3, 2, 0}).order);
    const auto found = recognised(fifo);
    EXPECT_EQ(found.name, "folded");
    EXPECT_EQ(found.confidence, 1);
}

TEST(Recognition, ConfidenceIsTheShareOfOrdersThatAgree) {
    testing::SyntheticOptions options = optionsFor("1f1b");
    SyntheticRun run = testing::makeSyntheticRun(options);
    const auto perturb = [&](std::int32_t rank) {  // two forwards trade places in each iteration
        for (auto& event : run.events) {
            if (event.rank != rank || event.domain != "pleat") continue;
            const std::string stage = std::to_string(rank % 2);
            std::string& name = event.name;
            if (name == stage + "F0") {
                name = stage + "F1";
            } else if (name == stage + "F1") {
                name = stage + "F0";
            }
        }
    };
    perturb(0);
    EXPECT_EQ(annotated(run).annotations().schedule->name, "1f1b");
    EXPECT_EQ(annotated(run).annotations().schedule->confidence, 0.75);
    perturb(1);
    perturb(2);
    EXPECT_EQ(annotated(run).annotations().schedule->name, "unknown");
    EXPECT_EQ(annotated(run).annotations().schedule->confidence, 0);
}

TEST(Recognition, WildNumbersMakeNoHugeSchedule) {
    const trace::Trace trace =
        HandMade(1).task(0, "999999F999999", {{0}, {10}}).task(0, "0F0", {{10}, {20}}).annotate();
    EXPECT_EQ(trace.annotations().schedule->name, "unknown");
}

}  // namespace
}  // namespace pleat
