#include "graph/run_index.h"

#include <gtest/gtest.h>

#include <random>
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

struct Placed {
    trace::RankId rank;
    base::Interval span;
};

// Whatever touches the stretch is within the range, and of a long list little else is.
TEST(TouchIndex, HoldsAllThatTouchesAndLittleElse) {
    std::mt19937 random(3);
    for (int run = 0; run < 60; ++run) {
        std::vector<Placed> items;
        for (std::uint32_t rank = 0; rank < 3; ++rank) {
            std::int64_t begin = 0;
            for (int n = static_cast<int>(random() % 2'000); n > 0; --n) {
                begin += static_cast<std::int64_t>(random() % 20);
                const std::int64_t length = random() % 500 == 0 ? 9'000 : random() % 30;
                items.push_back({trace::RankId(rank), {{begin}, {begin + length}}});
            }
        }
        graph::TouchIndex touching(3);
        for (const Placed& item : items) touching.add(item);
        touching.finish();
        for (int ask = 0; ask < 50; ++ask) {
            const auto begin = static_cast<std::int64_t>(random() % 25'000);
            const base::Interval span{{begin}, {begin + static_cast<std::int64_t>(random() % 99)}};
            const trace::RankId rank(static_cast<std::uint32_t>(random() % 3));
            const auto [first, last] = touching.range(items, rank, span);
            for (std::size_t i = 0; i < items.size(); ++i) {
                const bool within = i >= first && i < last;
                const bool touches = items[i].rank == rank && items[i].span.begin <= span.end &&
                                     items[i].span.end >= span.begin;
                EXPECT_TRUE(within || !touches);
                EXPECT_TRUE(!within || items[i].rank == rank);
            }
        }
    }
    graph::TouchIndex even(1);
    std::vector<Placed> items;
    for (std::int64_t i = 0; i < 100'000; ++i)
        items.push_back({trace::RankId(0), {{10 * i}, {10 * i + 9}}});
    for (const Placed& item : items) even.add(item);
    even.finish();
    const auto [first, last] = even.range(items, trace::RankId(0), {{500'000}, {500'100}});
    EXPECT_LE(first, 50'000U);
    EXPECT_EQ(last, 50'011U);
    EXPECT_LT(last - first, 300U);
}

}  // namespace
}  // namespace pleat
