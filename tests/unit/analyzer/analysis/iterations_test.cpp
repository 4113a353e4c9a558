#include "analysis/iterations.h"

#include <gtest/gtest.h>

namespace pleat::analysis {
namespace {

std::vector<graph::IterationWindow> windowsOf(const std::vector<std::int64_t>& lengths) {
    std::vector<graph::IterationWindow> windows;
    base::TraceTime begin;
    for (const std::int64_t length : lengths) {
        const base::TraceTime end = begin + base::Duration{length};
        windows.push_back({static_cast<std::int32_t>(windows.size()), {begin, end}, true});
        begin = end;
    }
    return windows;
}

TEST(Iterations, GivesMedianNearestRankAndMean) {
    const IterationStatistics statistics =
        iterationStatistics(windowsOf({10, 20, 30, 40, 50, 60, 70, 80, 90, 200}));
    EXPECT_EQ(statistics.median.ns, 55);
    EXPECT_EQ(statistics.p90.ns, 90);
    EXPECT_EQ(statistics.mean.ns, 65);
    ASSERT_TRUE(statistics.ci95);
    EXPECT_LT(statistics.ci95->first.ns, 65);
    EXPECT_GT(statistics.ci95->second.ns, 65);
}

TEST(Iterations, HaveNoIntervalFromOneValueAndAPointFromEqualOnes) {
    EXPECT_FALSE(iterationStatistics(windowsOf({10})).ci95);
    EXPECT_EQ(iterationStatistics(windowsOf({10})).p90.ns, 10);
    const auto equal = iterationStatistics(windowsOf({10, 10, 10}));
    EXPECT_EQ(equal.ci95->first.ns, 10);
    EXPECT_EQ(equal.ci95->second.ns, 10);
    EXPECT_TRUE(iterationStatistics({}).indices.empty());
}

TEST(Iterations, LeavesOutIncompleteOnesAndSaysSo) {
    auto windows = windowsOf({10, 20, 30});
    windows[2].complete = false;
    base::Diagnostics diagnostics;
    const auto selected = selectIterations(windows, {}, diagnostics);
    ASSERT_TRUE(selected);
    EXPECT_EQ(selected->size(), 2u);
    ASSERT_NE(diagnostics.find("iteration_incomplete"), nullptr);
    EXPECT_EQ(diagnostics.find("iteration_incomplete")->count, 1);
}

TEST(Iterations, TakesBothEndsOfARangeAndRefusesOneThatWasNotRecorded) {
    const auto windows = windowsOf({10, 20, 30, 40});
    base::Diagnostics diagnostics;
    const auto selected = selectIterations(windows, std::vector{IterationRange{1, 2}}, diagnostics);
    ASSERT_TRUE(selected);
    ASSERT_EQ(selected->size(), 2u);
    EXPECT_EQ(selected->front().iteration, 1);
    EXPECT_EQ(selected->back().iteration, 2);
    const auto several =
        selectIterations(windows, std::vector<IterationRange>{{3, 3}, {0, 1}, {1, 1}}, diagnostics);
    ASSERT_TRUE(several);
    ASSERT_EQ(several->size(), 3u);
    EXPECT_EQ(several->back().iteration, 3);
    const auto outside =
        selectIterations(windows, std::vector<IterationRange>{{0, 1}, {7, 9}}, diagnostics);
    ASSERT_FALSE(outside);
    EXPECT_EQ(outside.error().code, base::ErrorCode::Usage);
    EXPECT_EQ(outside.error().message, "no iteration in 7:9 was recorded; the trace has 0:3");
}

}  // namespace
}  // namespace pleat::analysis
