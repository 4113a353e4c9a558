#include "graph/run_index.h"

#include <gtest/gtest.h>

#include <vector>

#include "annotate/annotate.h"
#include "support/synthetic_run.h"

namespace pleat {
namespace {

trace::Trace annotated(testing::SyntheticOptions options) {
    options.iterations = 5;
    return annotate::annotate(testing::traceOf(testing::makeSyntheticRun(options))).value();
}

// The naive definition: all items, filtered by their iteration.
template <class Items>
std::vector<std::uint32_t> filtered(const Items& items, std::int32_t iteration) {
    std::vector<std::uint32_t> found;
    std::uint32_t next = 0;
    for (const auto& item : items) {
        if (item.iteration == iteration) found.push_back(next);
        ++next;
    }
    return found;
}

std::vector<std::uint32_t> listOf(std::span<const std::uint32_t> items) {
    return {items.begin(), items.end()};
}

TEST(RunIndex, GivesEachIterationWhatWasRecordedForIt) {
    const trace::Trace trace = annotated(testing::balancedOptions("interleaved", 2));
    const graph::RunIndex run(trace);
    ASSERT_EQ(run.windows().size(), 5U);
    for (const graph::IterationWindow& window : run.windows()) {
        const graph::IterationItems items = run.itemsOf(window.iteration);
        const trace::Annotations& found = trace.annotations();
        EXPECT_FALSE(items.tasks.empty());
        EXPECT_EQ(listOf(items.tasks), filtered(found.tasks, window.iteration));
        EXPECT_EQ(listOf(items.phases), filtered(found.phases, window.iteration));
        EXPECT_EQ(listOf(items.transfers), filtered(found.transfers, window.iteration));
    }
    EXPECT_TRUE(run.itemsOf(5).tasks.empty());
    EXPECT_TRUE(run.itemsOf(-1).tasks.empty());
}

TEST(RunIndex, KnowsWhichRanksHaveADevice) {
    auto options = testing::balancedOptions("1f1b", 1);
    const trace::Trace host = annotated(options);
    options.devices = true;
    const trace::Trace device = annotated(options);
    const graph::RunIndex onHost(host), onDevice(device);
    ASSERT_EQ(onHost.trainingRanks().size(), 4U);
    ASSERT_EQ(onDevice.trainingRanks().size(), 4U);
    for (const trace::RankId rank : onHost.trainingRanks())
        EXPECT_FALSE(onHost.onDevice()[rank.index()]);
    for (const trace::RankId rank : onDevice.trainingRanks())
        EXPECT_TRUE(onDevice.onDevice()[rank.index()]);
}

}  // namespace
}  // namespace pleat
