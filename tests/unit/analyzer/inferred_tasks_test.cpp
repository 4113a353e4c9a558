// Tasks of runs in which nothing names them: made runs shown as a profiler shows them, with device
// work, messages and steps only, against the tasks they were made of.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "annotate/annotate.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"
#include "trace/trace_builder.h"

namespace pleat::annotate {
namespace {

using base::Duration;

// A made run as a profiler would have recorded it.
trace::Trace profileOf(const testing::SyntheticRun& run, bool withTasks = true,
                       bool withSteps = true) {
    trace::TraceBuilder builder;
    struct Lanes {
        trace::LaneId host, compute, communication;
    };
    std::vector<Lanes> lanes;
    for (std::int32_t number = 0; number < run.ranks; ++number) {
        trace::Rank rank;
        rank.number = number;
        const trace::RankId id = builder.addRank(rank);
        lanes.push_back({builder.addLane({id, trace::LaneKind::HostThread, 1, ""}),
                         builder.addLane({id, trace::LaneKind::DeviceStream, 7, ""}),
                         builder.addLane({id, trace::LaneKind::DeviceStream, 20, ""})});
    }
    const auto add = [&](trace::LaneId lane, const char* domain, const std::string& name,
                         base::Interval span, const std::string& arguments = "") {
        builder.addEvent({lane, builder.intern(name), builder.intern(domain),
                          trace::EventKind::Range, trace::EventFlag::None, span},
                         arguments);
    };
    for (std::size_t step = 0; withSteps && step < run.iterations.size(); ++step) {
        for (std::size_t rank = 0; rank < lanes.size(); ++rank)
            add(lanes[rank].host, "user_annotation", fmt::format("ProfilerStep#{}", step),
                run.iterations[step][rank]);
    }
    for (const testing::SyntheticTask& task : run.tasks) {
        if (withTasks)
            add(lanes[static_cast<std::size_t>(task.rank)].compute, "kernel", "gemm", task.span);
    }
    for (const testing::SyntheticTransfer& transfer : run.transfers) {
        if (transfer.peer < 0) continue;
        const bool sends = transfer.action.kind == schedule::ActionKind::SendForward ||
                           transfer.action.kind == schedule::ActionKind::SendBackward;
        add(lanes[static_cast<std::size_t>(transfer.rank)].communication, "kernel",
            "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", transfer.span,
            fmt::format(
                R"({{"Collective name":"{}","{}":{},"Process Group Name":"pp","Group size":{}}})",
                sends ? "send" : "recv", sends ? "Dst Rank" : "Src Rank", transfer.peer,
                run.ranks));
    }
    return std::move(builder).build().trace;
}

testing::SyntheticOptions optionsOf(const char* schedule, std::int32_t ranks,
                                    std::int32_t microbatches) {
    testing::SyntheticOptions options;
    options.schedule = schedule::makeSchedule(schedule, {ranks, microbatches, 1, 0}).value();
    options.iterations = 3;
    options.forward = {Duration{40'000}};
    options.backward = {Duration{80'000}};
    options.link = Duration{2'000};
    return options;
}

using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::int32_t, int>;

class InferredTasks
    : public ::testing::TestWithParam<std::tuple<const char*, std::int32_t, std::int32_t>> {};

TEST_P(InferredTasks, AreThoseThatRan) {
    const auto& [schedule, ranks, microbatches] = GetParam();
    const testing::SyntheticRun run =
        testing::makeSyntheticRun(optionsOf(schedule, ranks, microbatches));
    std::map<Key, base::Interval> expected;
    for (const testing::SyntheticTask& task : run.tasks) {
        expected[{task.rank, task.iteration, task.action.stage, task.action.microbatch,
                  static_cast<int>(task.action.kind)}] = task.span;
    }
    const trace::Trace trace = annotate(profileOf(run)).value();
    ASSERT_EQ(trace.annotations().tasks.size(), expected.size());
    for (const trace::Task& task : trace.annotations().tasks) {
        const Key key{trace.ranks()[task.rank].number, task.iteration, task.stage, task.microbatch,
                      static_cast<int>(task.kind)};
        ASSERT_TRUE(expected.contains(key));
        const base::Interval right = expected[key];
        const auto what = fmt::format(
            "rank {} iteration {} microbatch {} kind {}: {}..{} for "
            "{}..{}",
            std::get<0>(key), task.iteration, task.microbatch, std::get<4>(key), task.span.begin.ns,
            task.span.end.ns, right.begin.ns, right.end.ns);
        EXPECT_LE(std::abs((task.span.begin - right.begin).ns), 2'000) << what;
        EXPECT_LE(std::abs((task.span.end - right.end).ns), 2'000) << what;
    }
    ASSERT_TRUE(trace.annotations().schedule);
    EXPECT_EQ(trace.annotations().schedule->name, schedule);
    EXPECT_EQ(trace.annotations().schedule->microbatches, microbatches);
    EXPECT_EQ(trace.annotations().schedule->confidence, 1);
    ASSERT_NE(trace.diagnostics().find("tasks_inferred"), nullptr);
    for (const trace::Transfer& transfer : trace.annotations().transfers) {
        EXPECT_GE(transfer.microbatch, 0);
        EXPECT_TRUE(transfer.match.valid());
    }
}

INSTANTIATE_TEST_SUITE_P(Schedules, InferredTasks,
                         ::testing::Combine(::testing::Values("gpipe", "1f1b"),
                                            ::testing::Values(2, 3, 4), ::testing::Values(4, 8)),
                         [](const auto& parameter) {
                             return fmt::format("Of_{}_{}_{}", std::get<0>(parameter.param),
                                                std::get<1>(parameter.param),
                                                std::get<2>(parameter.param));
                         });

TEST(InferredTasksOdd, OrdersOfNoKnownScheduleGiveNoTasks) {
    testing::SyntheticOptions options = optionsOf("1f1b", 4, 8);
    // Two forwards more in flight than 1F1B has.
    for (auto& actions : options.schedule.order) {
        std::stable_sort(actions.begin(), actions.end(), [](const auto& a, const auto& b) {
            const auto place = [](const schedule::Action& action) {
                return action.kind == schedule::ActionKind::Forward ? action.microbatch / 6 * 2
                                                                    : action.microbatch / 6 * 2 + 1;
            };
            return place(a) < place(b);
        });
    }
    const trace::Trace trace = annotate(profileOf(testing::makeSyntheticRun(options))).value();
    EXPECT_EQ(trace.annotations().tasks.size(), 0U);
    EXPECT_NE(trace.diagnostics().find("pattern_not_understood"), nullptr);
    EXPECT_FALSE(trace.annotations().schedule);
}

TEST(InferredTasksOdd, MessagesAloneAreEnough) {
    const testing::SyntheticRun run = testing::makeSyntheticRun(optionsOf("1f1b", 4, 8));
    const trace::Trace trace = annotate(profileOf(run, false)).value();
    EXPECT_EQ(trace.annotations().tasks.size(), run.tasks.size());
    ASSERT_TRUE(trace.annotations().schedule);
    EXPECT_EQ(trace.annotations().schedule->name, "1f1b");
}

TEST(InferredTasksOdd, IterationsEndWhereThePipelineRunsEmpty) {
    for (const char* schedule : {"gpipe", "1f1b"}) {
        const testing::SyntheticRun run = testing::makeSyntheticRun(optionsOf(schedule, 3, 4));
        const trace::Trace trace = annotate(profileOf(run, true, false)).value();
        ASSERT_EQ(trace.annotations().tasks.size(), run.tasks.size());
        std::map<std::int32_t, int> perIteration;
        for (const trace::Task& task : trace.annotations().tasks) ++perIteration[task.iteration];
        EXPECT_EQ(perIteration, (std::map<std::int32_t, int>{{0, 24}, {1, 24}, {2, 24}}));
        EXPECT_NE(trace.diagnostics().find("iteration_guessed"), nullptr);
    }
}

TEST(InferredTasksOdd, NothingIsInferredFromARing) {
    testing::SyntheticOptions options = optionsOf("1f1b", 4, 8);
    options.schedule = schedule::makeSchedule("interleaved", {4, 8, 2, 4}).value();
    const trace::Trace trace = annotate(profileOf(testing::makeSyntheticRun(options))).value();
    EXPECT_EQ(trace.annotations().tasks.size(), 0U);
}

}  // namespace
}  // namespace pleat::annotate
