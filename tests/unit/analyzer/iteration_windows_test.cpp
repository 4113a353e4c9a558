// Where iterations begin and end, on traces written down by hand and on files of others.
#include "graph/iteration_windows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "annotate/annotate.h"
#include "graph/run_index.h"
#include "unit/analyzer/analysis/device_trace.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat {
namespace {

using importers::sharedTraces;
using pleat::testing::DeviceTrace;
namespace categories = trace::categories;
using Lengths = std::vector<std::int64_t>;

Lengths lengthsOf(const trace::Trace& trace) {
    Lengths lengths;
    for (const graph::IterationWindow& window : graph::iterationWindows(trace))
        lengths.push_back(window.window.length().ns);
    return lengths;
}

std::int64_t noted(const trace::Trace& trace, std::string_view code) {
    const graph::RunIndex run(trace);
    const base::Diagnostic* found = run.diagnostics().find(code);
    return found == nullptr ? 0 : found->count;
}

base::Result<trace::Trace> opened(const std::string& name) {
    auto trace = importers::importFile(sharedTraces() / "faults" / name);
    if (!trace) return trace;
    return annotate::annotate(*trace);
}

TEST(FaultFiles, ACopyOnASideStreamMovesNoBound) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto trace = opened("host_runs_ahead_prefetch_copy.json");
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(lengthsOf(*trace), (Lengths{20'000'000, 20'000'000, 40'000'000, 20'000'000}));
    EXPECT_EQ(noted(*trace, "iteration_bounds_unsure"), 0);
}

TEST(FaultFiles, WorkOfEarlierIterationsIsNamedAndNotCounted) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto trace = opened("work_of_before_the_first_step.json");
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(lengthsOf(*trace), (Lengths{20'000'000}));
    EXPECT_EQ(noted(*trace, "work_before_iterations"), 15);
}

TEST(FaultFiles, AnAllGatherBeforeTheFirstTaskBelongsToItsIteration) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto trace = opened("ndtimeline_all_gather_before_first_task.json");
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(lengthsOf(*trace), (Lengths{277'000'000, 277'000'000}));
    const auto run = analysis::analyseRun(*trace, {});
    ASSERT_TRUE(run && run->replay);
    EXPECT_EQ(run->replay->measured, run->iterations.mean);
}

TEST(FaultFiles, TheOutermostNumberedRangesAreTheIterations) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto trace = opened("iteration_ranges_nested.sqlite");
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(lengthsOf(*trace), (Lengths{50'000'000, 50'000'000, 49'000'000}));
    EXPECT_EQ(importers::countOf(*trace, "iteration_ranges_nested"), 12);
}

TEST(FaultFiles, ThePublishedRunHasOneIterationTime) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto file = sharedTraces() / "straggler" / "timeline-ST.json.gz";
    const auto read = importers::importFile(file);
    ASSERT_TRUE(read) << read.error().message;
    const auto trace = annotate::annotate(*read);
    ASSERT_TRUE(trace);
    const auto run = analysis::analyseRun(*trace, {});
    ASSERT_TRUE(run && run->replay);
    EXPECT_NEAR(static_cast<double>(run->iterations.mean.ns), 2214.448e6, 1e3);
    EXPECT_EQ(run->replay->measured, run->iterations.mean);
}

// Steps of 5 on the host, which calls all of a step's work at once; on the device they take 20.
DeviceTrace hostAhead(std::int64_t iterations, std::int64_t begin = 1) {
    DeviceTrace trace;
    for (int i = 0; i < iterations; ++i) {
        trace.step(i, i * 50, i * 50 + 50);
        trace.work(i * 50 + 1, begin + i * 200, begin + i * 200 + 100);
        trace.work(i * 50 + 2, begin + i * 200 + 100, begin + i * 200 + 200);
    }
    return trace;
}

TEST(DeviceIterations, FollowTheDeviceWhereTheHostRunsAhead) {
    const auto trace = hostAhead(6).build();
    EXPECT_EQ(lengthsOf(trace), (Lengths{200, 200, 200, 200, 200, 200}));
    EXPECT_EQ(noted(trace, "work_before_iterations"), 0);
}

TEST(DeviceIterations, ACheckpointCopiedBesideTheLastStepIsNoPartOfIt) {
    DeviceTrace trace = hostAhead(4);
    trace.copied(160, 700, 5'000, 1'000);
    EXPECT_EQ(lengthsOf(trace.build()), (Lengths{200, 200, 200, 200}));
}

TEST(DeviceIterations, ASyncThatNothingCoversBelongsToTheIterationThatCalledIt) {
    DeviceTrace trace;
    for (int i = 0; i < 4; ++i) {
        trace.step(i, i * 10, i * 10 + 10);
        trace.work(i * 10 + 1, i * 200, i * 200 + 150);
        trace.work(i * 10 + 2, i * 200 + 140, i * 200 + 190, categories::kKernel,
                   "ncclDevKernel_AllGather", 9);
    }
    // The device does nothing for the last 10 of the 200.
    const auto windows = graph::iterationWindows(trace.build());
    ASSERT_EQ(windows.size(), 4U);
    EXPECT_EQ(windows[2].window.begin.ns, 390);
    EXPECT_EQ(windows[3].window, (base::Interval{{590}, {790}}));
}

TEST(DeviceIterations, TwoStreamsThatComputeTellTheBoundTogether) {
    DeviceTrace trace;
    for (int i = 0; i < 4; ++i) {
        const std::int64_t at = i * 300;
        trace.step(i, i * 10, i * 10 + 10);
        trace.work(i * 10 + 1, at, at + 100);  // forward and optimizer here, backward on 20
        trace.work(i * 10 + 2, at + 100, at + 280, categories::kKernel, "gemm", 20);
        trace.work(i * 10 + 3, at + 280, at + 300);
    }
    EXPECT_EQ(lengthsOf(trace.build()), (Lengths{300, 300, 300, 300}));
}

TEST(DeviceIterations, WorkOfAStreamWithoutACallBelongsToWhatRanBeforeIt) {
    DeviceTrace trace = hostAhead(4, 101);
    trace.work(-1, 0, 60).work(-1, 60, 101);  // of before: it runs when the host is in step 0 and 1
    const auto built = trace.build();
    EXPECT_EQ(lengthsOf(built), (Lengths{200, 200, 200, 200}));
    EXPECT_EQ(noted(built, "work_before_iterations"), 2);
}

TEST(DeviceIterations, SayWhereNothingTellsHowFarTheHostWasAhead) {
    DeviceTrace trace;
    for (int i = 0; i < 4; ++i) {
        trace.step(i, i * 50, i * 50 + 50);
        trace.work(-1, i * 200, i * 200 + 200);
    }
    EXPECT_EQ(noted(trace.build(), "iteration_bounds_unsure"), 4);
    DeviceTrace together;
    for (int i = 0; i < 4; ++i) {
        together.step(i, i * 200, i * 200 + 200);
        together.work(-1, i * 200 + 10, i * 200 + 190);
    }
    const auto built = together.build();
    EXPECT_EQ(noted(built, "iteration_bounds_unsure"), 0);
    EXPECT_EQ(lengthsOf(built), (Lengths{200, 200, 200, 200}));
}

TEST(DeviceIterations, SayWhereNothingMarksThem) {
    const auto trace = DeviceTrace().work(0, 10, 20).work(100, 110, 120).build();
    EXPECT_EQ(lengthsOf(trace), (Lengths{110}));
    EXPECT_EQ(noted(trace, "iterations_unmarked"), 1);
    EXPECT_EQ(noted(DeviceTrace().step(0, 0, 30).work(0, 10, 20).build(), "iterations_unmarked"),
              0);
}

// Only the profiler's ranges around the kernels say where a step is; the host, which is not marked,
// called all of them at once.
TEST(DeviceIterations, AreThoseOfTheDeviceWhereTheHostHasNone) {
    DeviceTrace trace;
    for (int step = 0; step < 3; ++step) {
        const std::int64_t begin = 100 * step;
        trace.work(step, begin + 10, begin + 90)
            .work(-1, begin, begin + 100, categories::kDeviceAnnotation,
                  "ProfilerStep#" + std::to_string(step), 9);
    }
    const auto built = trace.build();
    EXPECT_EQ(lengthsOf(built), (Lengths{100, 100, 100}));
    EXPECT_EQ(noted(built, "iterations_unmarked"), 0);
}

// The host had called both steps before the device began the first: the profiler's ranges around
// the kernels lie behind both, and belong to the steps in which their kernels were called.
TEST(DeviceIterations, ADeviceRangeBelongsToTheStepThatCalledItsKernels) {
    DeviceTrace trace;
    trace.step(0, 0, 50).step(1, 50, 100);
    for (int step = 0; step < 2; ++step) {
        const std::int64_t begin = 200 + 100 * step;
        trace.work(-1, begin, begin + 90, categories::kDeviceAnnotation, "PP:0F0")
            .work(50 * step + 10, begin + 10, begin + 80);
    }
    const auto built = trace.build();
    std::vector<std::int32_t> iterations;
    for (const trace::Task& task : built.annotations().tasks) iterations.push_back(task.iteration);
    EXPECT_EQ(iterations, (std::vector<std::int32_t>{0, 1}));
}

// No range marks iterations: an all-reduce belongs to the iteration of the task in which it was
// called, though the device runs it beside the next one's.
TEST(DeviceIterations, CommunicationIsOfTheTaskThatCalledIt) {
    const char* const kAllReduce = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL";
    DeviceTrace trace;
    trace.range("PP:0F0", 0, 10).range("PP:0F0", 20, 30);
    trace.work(1, 2, 12).work(5, 22, 28, categories::kKernel, kAllReduce, 20);
    trace.work(21, 22, 32).work(25, 50, 60, categories::kKernel, kAllReduce, 20);
    const auto built = trace.build();
    std::vector<std::int32_t> iterations;
    for (const trace::Transfer& transfer : built.annotations().transfers)
        iterations.push_back(transfer.iteration);
    EXPECT_EQ(iterations, (std::vector<std::int32_t>{0, 1}));
}

TEST(DeviceIterations, LeaveOutALastStepOfWhichMostIsMissing) {
    DeviceTrace trace = hostAhead(5);
    trace.step(5, 250, 300).work(251, 1'001, 1'101);
    const auto windows = graph::iterationWindows(trace.build());
    ASSERT_EQ(windows.size(), 6U);
    EXPECT_TRUE(windows[4].complete);
    EXPECT_FALSE(windows[5].complete);
}

trace::Trace ofText(const std::string& events) {
    const auto read = importers::importText("[" + events + "]");
    EXPECT_TRUE(read) << importers::messageOf(read);
    return annotate::annotate(*read).value();
}

std::string range(const std::string& name, int begin, int end, int thread = 1) {
    return fmt::format(
        R"({{"ph":"X","cat":"user_annotation","name":"{}","ts":{},"dur":{},"pid":1,"tid":{}}})",
        name, begin, end - begin, thread);
}

std::vector<std::int32_t> numbersOf(const trace::Trace& trace) {
    std::vector<std::int32_t> numbers;
    for (const trace::IterationSpan& span : trace.annotations().iterations)
        numbers.push_back(span.iteration);
    return numbers;
}

TEST(IterationLevels, TheOutermostThatRepeatsAreTheIterations) {
    std::string text = range("iteration 0", 0, 1'000);  // a name around the whole run
    for (int i = 0; i < 3; ++i) {
        text += "," + range("step " + std::to_string(7 + i), i * 300, i * 300 + 300);
        for (int k = 0; k < 4; ++k)
            text +=
                "," + range("iter_" + std::to_string(k), i * 300 + k * 70, i * 300 + k * 70 + 60);
    }
    const trace::Trace trace = ofText(text);
    EXPECT_EQ(numbersOf(trace), (std::vector<std::int32_t>{7, 8, 9}));
    EXPECT_EQ(importers::countOf(trace, "iteration_ranges_nested"), 13);
}

TEST(IterationLevels, OfTwoSeriesSideBySideTheLongerIsTheTraining) {
    std::string text;
    for (int i = 0; i < 4; ++i) {
        if (i > 0) text += ",";
        text += range("iteration " + std::to_string(i), i * 300, i * 300 + 200) + "," +
                range("step " + std::to_string(i + 20), i * 300 + 210, i * 300 + 290);
    }
    EXPECT_EQ(numbersOf(ofText(text)), (std::vector<std::int32_t>{0, 1, 2, 3}));
}

TEST(IterationLevels, LeavesOneSeriesAsItIs) {
    std::string text;
    for (int i = 0; i < 4; ++i)
        text += (i > 0 ? "," : "") + range("step " + std::to_string(i), i * 300, i * 300 + 300);
    const trace::Trace trace = ofText(text);
    EXPECT_EQ(numbersOf(trace), (std::vector<std::int32_t>{0, 1, 2, 3}));
    EXPECT_EQ(importers::countOf(trace, "iteration_ranges_nested"), 0);
}

}  // namespace
}  // namespace pleat
