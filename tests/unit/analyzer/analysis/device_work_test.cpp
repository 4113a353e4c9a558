// Accounting of ranks whose devices were recorded: kernels, copies and what the host called when.
#include "analysis/device_work.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/device_catalogue.h"
#include "analysis/run_analysis.h"
#include "device_trace.h"
#include "trace/categories.h"

namespace pleat::analysis {
namespace {

namespace categories = trace::categories;
using testing::DeviceTrace;

RunAnalysis analysed(DeviceTrace trace) { return analyseRun(trace.build(), {}).value(); }

base::Duration causeOf(const RankSummary& rank, BubbleCause cause) {
    return rank.time.causes[cause];
}

constexpr const char* kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

TEST(DeviceWork, KernelsComputeCopiesCopyAndIdleIsNamed) {
    DeviceTrace trace;
    trace.work(0, 10, 40).work(1, 30, 60, categories::kCopy, "Memcpy HtoD", 8);
    trace.work(80, 90, 100);   // called after the device was free
    trace.work(85, 110, 120);  // called before
    const RunAnalysis run = analysed(std::move(trace));
    ASSERT_EQ(run.ranks.size(), 1U);
    const RankSummary& rank = run.ranks.front();
    EXPECT_EQ(rank.time.total().ns, 110);
    EXPECT_EQ(rank.time[TimePart::Compute].ns, 50);
    EXPECT_EQ(rank.time[TimePart::Copy].ns, 20);  // [40, 60)
    EXPECT_EQ(rank.time[TimePart::Bubble].ns, 40);
    EXPECT_EQ(causeOf(rank, BubbleCause::HostLate).ns, 30);
    EXPECT_EQ(causeOf(rank, BubbleCause::Unknown).ns, 10);
    EXPECT_EQ(run.diagnostics.find("no_tasks")->severity, base::Severity::Info);
}

TEST(DeviceWork, WorkThatWasNotRecordedIsNoIdleOfTheHost) {
    DeviceTrace trace;
    trace.work(0, 0, 10).untracedCall(20).work(50, 60, 70);
    const RunAnalysis run = analysed(std::move(trace));
    EXPECT_EQ(causeOf(run.ranks.front(), BubbleCause::UntracedWork).ns, 50);
    EXPECT_EQ(causeOf(run.ranks.front(), BubbleCause::HostLate).ns, 0);
}

TEST(DeviceWork, TheLastStepEndsWithWhatTheDeviceDidForIt) {
    DeviceTrace trace;
    trace.step(4, 0, 50).step(5, 50, 60).work(10, 20, 40).work(52, 70, 90).work(61, 95, 99);
    const RunAnalysis run = analysed(std::move(trace));
    EXPECT_EQ(run.iterations.indices, (std::vector<std::int32_t>{4, 5}));
    EXPECT_EQ(run.iterations.mean.ns, 45);  // [0, 50) and [50, 90)
}

// bad-inputs 35: no communication is none, and a tenth exposed is a tenth.
TEST(DeviceWork, ExposedCommunicationIsWhatNoKernelCovers) {
    DeviceTrace none;
    none.work(0, 0, 100);
    EXPECT_TRUE(analysed(std::move(none)).transfers.empty());
    DeviceTrace some;
    some.work(0, 0, 90).work(1, 80, 100, categories::kKernel, kAllReduce, 20);
    const RunAnalysis run = analysed(std::move(some));
    EXPECT_EQ(run.ranks.front().time[TimePart::Moving].ns, 10);
    EXPECT_EQ(run.ranks.front().time.hidden.ns, 10);
    ASSERT_EQ(run.transfers.size(), 1U);
    EXPECT_DOUBLE_EQ(*run.transfers.front().figures.overlapFraction(), 0.5);
}

// bad-inputs 11, 15, 33: streams that wait do not work.
TEST(DeviceWork, WaitingOnTheDeviceIsNoWork) {
    DeviceTrace trace;
    trace.work(0, 0, 10).work(-1, 10, 40, categories::kDeviceSync, "Stream Wait Event");
    trace.work(5, 40, 50).work(-1, 0, 50, categories::kDeviceAnnotation, "forward");
    const RunAnalysis run = analysed(std::move(trace));
    EXPECT_EQ(run.ranks.front().time[TimePart::Compute].ns, 20);
    EXPECT_EQ(run.ranks.front().time[TimePart::Bubble].ns, 30);
}

TEST(DeviceCatalogue, SaysWhatPeopleAskOfKernelsLaunchesAndCopies) {
    DeviceTrace trace;
    trace.work(0, 10, 30'010)
        .work(1, 30'010, 30'020)
        .work(2, 40'000, 90'000, categories::kKernel, "other");
    trace.copied(3, 100'000, 101'000, 8'000);
    const auto devices = catalogueDevices(trace.build());
    ASSERT_TRUE(devices);
    ASSERT_EQ(devices->kernels.size(), 3U);
    EXPECT_EQ(devices->kernels[0].name, "other");
    EXPECT_EQ(devices->kernels[1].name, "gemm");
    EXPECT_EQ(devices->kernels[1].count, 2);
    EXPECT_EQ(devices->kernels[1].total.ns, 30'010);
    EXPECT_EQ(devices->kernels[1].longest.ns, 30'000);
    EXPECT_EQ(devices->launches.count, 4);
    EXPECT_EQ(devices->launches.shortOnes, 2);            // 10 ns and the copy
    EXPECT_EQ(devices->launches.medianDelay.ns, 35'003);  // of 10, 30 009, 39 998, 99 997
    EXPECT_EQ(devices->launches.p90Delay.ns, 99'997);
    ASSERT_EQ(devices->queues.size(), 1U);
    EXPECT_EQ(devices->queues[0].deepest, 4);
    ASSERT_EQ(devices->copies.size(), 1U);
    EXPECT_EQ(devices->copies[0].bytes, 8'000);
    EXPECT_DOUBLE_EQ(*devices->copies[0].bytesPerSecond, 8e9);
    EXPECT_TRUE(devices->communicators.empty());
}

TEST(DeviceQueue, IdleTimeIsSplitByWhenTheNextWorkWasCalled) {
    DeviceTrace trace;
    trace.work(0, 100, 200)
        .work(50, 250, 300)          // 50 after a call made before: between work
        .work(310, 340, 400)         // called when the device was free: host late, 40
        .work(320, 10'400, 10'500)   // called before and long held up: other, 10 000
        .work(330, 10'450, 10'900);  // begins before that has ended
    const trace::Trace built = trace.build();
    const auto queues = deviceQueues(built, DeviceWorkKinds(built));
    ASSERT_EQ(queues.size(), 1U);
    const DeviceIdle& idle = queues[0].idle;
    EXPECT_EQ(idle.betweenWork.ns, 50);
    EXPECT_EQ(idle.hostWait.ns, 40);
    EXPECT_EQ(idle.other.ns, 10'000);
    EXPECT_EQ(idle.busy.ns, 100 + 50 + 60 + 500);
    EXPECT_EQ((idle.busy + idle.betweenWork + idle.hostWait + idle.other).ns, 10'900 - 100);
}

TEST(DeviceQueue, DepthIsHowMuchIsCalledAndNotBegun) {
    DeviceTrace trace;
    // From 0 to 600: one waits in [100, 300), two in [300, 400), one in [400, 500).
    trace.work(-1, 0, 350).work(100, 400, 450).work(300, 500, 600);
    const trace::Trace built = trace.build();
    const DeviceQueue queue = deviceQueues(built, DeviceWorkKinds(built)).at(0);
    EXPECT_EQ(queue.deepest, 2);
    EXPECT_DOUBLE_EQ(queue.meanDepth, (200.0 + 2 * 100 + 100) / 600);
    EXPECT_DOUBLE_EQ(queue.emptyFraction, 200.0 / 600);
    ASSERT_EQ(queue.depthOverTime.size(), kQueueSpans);
    EXPECT_DOUBLE_EQ(queue.depthOverTime[9], 0);
    EXPECT_DOUBLE_EQ(queue.depthOverTime[10], 1);
    EXPECT_DOUBLE_EQ(queue.depthOverTime[30], 2);
    EXPECT_DOUBLE_EQ(queue.depthOverTime[49], 1);
    EXPECT_DOUBLE_EQ(queue.depthOverTime[50], 0);
}

TEST(DeviceCatalogue, IsNoneWithoutDeviceWork) {
    EXPECT_FALSE(catalogueDevices(DeviceTrace().step(1, 0, 10).build()));
}

TEST(DeviceWork, AnyWorkSumsToTheWindow) {
    std::mt19937 random(5);
    const auto upTo = [&](int most) {
        return static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
    };
    for (int round = 0; round < 200; ++round) {
        DeviceTrace trace;
        std::int64_t time = 0;
        for (int i = 0; i < 30; ++i) {
            time += upTo(40);
            const std::int64_t begin = time + upTo(60);
            const std::string_view category = i % 4 == 0 ? categories::kCopy : categories::kKernel;
            trace.work(upTo(5) == 0 ? -1 : time, begin, begin + 1 + upTo(50), category,
                       i % 5 == 1 ? kAllReduce : "gemm", 7 + upTo(3));
            if (upTo(6) == 0) trace.untracedCall(time + upTo(20));
        }
        if (round % 2 == 0) trace.step(1, 0, time / 2).step(2, time / 2, time);
        const RunAnalysis run = analysed(std::move(trace));
        ASSERT_EQ(run.ranks.size(), 1U);
        const RankSummary& rank = run.ranks.front();
        EXPECT_EQ(rank.time.causes.total(), rank.time[TimePart::Bubble]);
        EXPECT_EQ(rank.time.total(), run.iterations.mean);
        for (const base::Duration part : rank.time.causes.of) EXPECT_GE(part.ns, 0);
    }
}

}  // namespace
}  // namespace pleat::analysis
