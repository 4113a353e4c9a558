#include "analysis/accounting.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string_view>

#include "analysis/exact_mean.h"
#include "analysis/overlap.h"
#include "hand_built_trace.h"

namespace pleat::analysis {
namespace {

using testing::at;
using testing::HandBuiltTrace;
using trace::Dimension;
using trace::PhaseKind;

// Activities of all ranks in the one window [begin, end).
std::vector<RankActivity> activitiesIn(const trace::Trace& trace, base::Interval window) {
    const std::vector<graph::IterationWindow> windows{{0, window, true}};
    return collectActivities(trace, windows, trainingRanks(trace)).front();
}

std::int64_t totalOf(const base::IntervalSet& set) { return set.total().ns; }

void expectPartition(const RankActivity& activity, const Partition& parts) {
    EXPECT_EQ(totalOf(parts.compute) + totalOf(parts.moving) + totalOf(parts.waiting) +
                  totalOf(parts.copy) + totalOf(parts.bubble),
              activity.window.length().ns);
    EXPECT_EQ(parts.compute | parts.moving | parts.waiting | parts.copy | parts.bubble,
              base::IntervalSet(activity.window));
    EXPECT_EQ(totalOf(parts.hidden & parts.compute), totalOf(parts.hidden));
}

TEST(Accounting, PutsEveryNanosecondIntoOneCategory) {
    // Rank 0 computes [0,40), its all-reduce waits [30,60) for rank 1 and moves [60,70); idle
    // after.
    const trace::Trace trace = HandBuiltTrace(2)
                                   .task(0, at(0, 40))
                                   .task(1, at(10, 60))
                                   .collective(Dimension::Dp, {{0, at(30, 70)}, {1, at(60, 70)}})
                                   .build();
    const auto activities = activitiesIn(trace, at(0, 100));
    const Partition first = partition(activities[0]);
    EXPECT_EQ(totalOf(first.compute), 40);
    EXPECT_EQ(totalOf(first.hidden), 0);
    EXPECT_EQ(totalOf(first.moving), 10);
    EXPECT_EQ(totalOf(first.waiting), 20);
    EXPECT_EQ(totalOf(first.bubble), 30);
    expectPartition(activities[0], first);

    const Partition second = partition(activities[1]);
    EXPECT_EQ(totalOf(second.waiting), 0) << "the rank that came last waits for nobody";
    EXPECT_EQ(totalOf(second.bubble), 40);
}

TEST(Accounting, NamesWhomACollectiveWaitedFor) {
    const trace::Trace trace =
        HandBuiltTrace(3)
            .task(0, at(0, 10))
            .task(1, at(0, 50))
            .task(2, at(0, 10))
            .collective(Dimension::Dp, {{0, at(10, 60)}, {1, at(50, 60)}, {2, at(20, 60)}})
            .build();
    const auto activities = activitiesIn(trace, at(0, 60));
    const auto waits = waitsOf(activities[0], partition(activities[0]));
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].lateRank, trace::RankId(1));
    EXPECT_EQ(waits[0].dimension, Dimension::Dp);
    EXPECT_EQ(waits[0].duration.ns, 40);
    EXPECT_TRUE(waitsOf(activities[1], partition(activities[1])).empty());
    EXPECT_EQ(waitsOf(activities[2], partition(activities[2])).at(0).duration.ns, 30);
}

TEST(Accounting, SplitsOverlappingWaitsWithoutCountingTwice) {
    // Rank 0 waits for rank 1 in [10,50) and for rank 2 in [20,80).
    const trace::Trace trace = HandBuiltTrace(3)
                                   .task(0, at(0, 10))
                                   .task(1, at(0, 50))
                                   .task(2, at(0, 80))
                                   .collective(Dimension::Dp, {{0, at(10, 55)}, {1, at(50, 55)}})
                                   .collective(Dimension::Tp, {{0, at(20, 90)}, {2, at(80, 90)}})
                                   .build();
    const auto activities = activitiesIn(trace, at(0, 90));
    const Partition parts = partition(activities[0]);
    const auto waits = waitsOf(activities[0], parts);
    ASSERT_EQ(waits.size(), 2u);
    EXPECT_EQ(waits[0].duration.ns, 40);  // rank 1, until it came
    EXPECT_EQ(waits[1].duration.ns, 25);  // rank 2, after [50,55) moved
    EXPECT_EQ(waits[0].duration.ns + waits[1].duration.ns, totalOf(parts.waiting));
}

// bad-inputs 39: a receive posted long before its send is idle time, not nine tenths of transfer.
TEST(Accounting, CountsAnEarlyReceiveAsIdleUntilItsSenderIsReady) {
    const trace::Trace trace = HandBuiltTrace(2)
                                   .task(0, at(0, 9))
                                   .task(1, at(10, 20))
                                   .message({0, at(9, 10)}, {1, at(0, 10)})
                                   .build();
    const auto activities = activitiesIn(trace, at(0, 20));
    const Partition receiver = partition(activities[1]);
    EXPECT_EQ(totalOf(receiver.bubble), 9);
    EXPECT_EQ(totalOf(receiver.moving), 1);
    EXPECT_EQ(totalOf(receiver.waiting), 0);
    const auto rows = transferOverlap(activities[1], receiver.compute);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].figures.waiting.ns, 9);
    EXPECT_EQ(rows[0].figures.moving.ns, 1);
    EXPECT_EQ(rows[0].figures.total().ns, 10);
}

// bad-inputs 40: an all-to-all that is late because its rank waited in a receive is what the other
// ranks wait for; on the rank itself the time is the receive's.
TEST(Accounting, BlamesALateAllToAllOnTheRankHeldUpByItsReceive) {
    const trace::Trace trace = HandBuiltTrace(3)
                                   .task(0, at(0, 50))
                                   .task(1, at(60, 70))
                                   .task(2, at(0, 10))
                                   .message({0, at(50, 55)}, {1, at(0, 55)})
                                   .collective(Dimension::Ep, {{1, at(55, 60)}, {2, at(10, 60)}})
                                   .build();
    const auto activities = activitiesIn(trace, at(0, 70));
    EXPECT_EQ(totalOf(partition(activities[1]).waiting), 0);
    EXPECT_EQ(totalOf(partition(activities[1]).bubble), 50);
    const auto waits = waitsOf(activities[2], partition(activities[2]));
    ASSERT_EQ(waits.size(), 1u);
    EXPECT_EQ(waits[0].lateRank, trace::RankId(1));
    EXPECT_EQ(waits[0].duration.ns, 45);
}

// bad-inputs 33: what is not compute hides nothing.
TEST(Accounting, HidesNoTransferUnderDataLoading) {
    const trace::Trace trace = HandBuiltTrace(1)
                                   .task(0, at(10, 20))
                                   .phase(0, PhaseKind::DataLoading, at(0, 10))
                                   .unmatched(Dimension::Dp, {0, at(0, 10)})
                                   .build();
    const auto activities = activitiesIn(trace, at(0, 20));
    const Partition parts = partition(activities[0]);
    EXPECT_EQ(totalOf(parts.hidden), 0);
    EXPECT_EQ(totalOf(parts.moving), 10);
    EXPECT_EQ(transferOverlap(activities[0], parts.compute).at(0).figures.overlapFraction(), 0.0);
}

TEST(Accounting, CountsAnOptimizerPhaseAsCompute) {
    const trace::Trace trace =
        HandBuiltTrace(1).task(0, at(0, 5)).phase(0, PhaseKind::Optimizer, at(5, 9)).build();
    EXPECT_EQ(totalOf(partition(activitiesIn(trace, at(0, 10))[0]).compute), 9);
}

// bad-inputs 36: concurrent transfers fully under compute cost nothing, and are not counted twice.
TEST(Overlap, MergesConcurrentTransfersOfOneKind) {
    const trace::Trace trace = HandBuiltTrace(1)
                                   .task(0, at(0, 100))
                                   .unmatched(Dimension::Dp, {0, at(10, 60)})
                                   .unmatched(Dimension::Dp, {0, at(30, 80)})
                                   .build();
    const auto activities = activitiesIn(trace, at(0, 100));
    const auto rows = transferOverlap(activities[0], partition(activities[0]).compute);
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].figures.count, 2);
    EXPECT_EQ(rows[0].figures.bytes, 200);
    EXPECT_EQ(rows[0].figures.hidden.ns, 70);
    EXPECT_EQ(rows[0].figures.moving.ns, 0);
    EXPECT_EQ(rows[0].figures.overlapFraction(), 1.0);
}

TEST(Overlap, GivesFortyPercentAsFortyPercent) {
    const trace::Trace trace =
        HandBuiltTrace(1).task(0, at(0, 40)).unmatched(Dimension::Dp, {0, at(0, 100)}).build();
    const auto activities = activitiesIn(trace, at(0, 100));
    const Partition parts = partition(activities[0]);
    EXPECT_DOUBLE_EQ(*transferOverlap(activities[0], parts.compute)[0].figures.overlapFraction(),
                     0.4);
}

// bad-inputs 23: two all-reduces back to back do not overlap each other.
TEST(Overlap, AddsUpTransfersThatFollowEachOther) {
    const trace::Trace trace = HandBuiltTrace(1)
                                   .task(0, at(0, 1))
                                   .unmatched(Dimension::Dp, {0, at(10, 20)})
                                   .unmatched(Dimension::Dp, {0, at(20, 30)})
                                   .build();
    const auto activities = activitiesIn(trace, at(0, 30));
    const Partition parts = partition(activities[0]);
    EXPECT_EQ(transferOverlap(activities[0], parts.compute)[0].figures.total().ns, 20);
}

// bad-inputs 35: no communication is no figure, never NaN and never 0 %.
TEST(Overlap, HasNoFractionWhereNothingMoved) {
    const trace::Trace silent = HandBuiltTrace(1).task(0, at(0, 10)).build();
    const auto none = activitiesIn(silent, at(0, 10));
    EXPECT_TRUE(transferOverlap(none[0], partition(none[0]).compute).empty());
    EXPECT_FALSE(OverlapFigures{}.overlapFraction().has_value());
}

TEST(Overlap, ShowsEachChunksGradientSync) {
    // Chunk 1's sync runs under chunk 0's backward, chunk 0's has nothing left to run under.
    const trace::Trace trace = HandBuiltTrace(1)
                                   .task(0, at(0, 100), schedule::ActionKind::FullBackward)
                                   .collective(Dimension::Dp, {{0, at(50, 90)}}, 1)
                                   .collective(Dimension::Dp, {{0, at(100, 140)}}, 0)
                                   .build();
    const auto activities = activitiesIn(trace, at(0, 140));
    const auto rows = gradientSyncOverlap(activities[0], partition(activities[0]).compute);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].chunk, 0);
    EXPECT_EQ(rows[0].figures.overlapFraction(), 0.0);
    EXPECT_EQ(rows[1].figures.overlapFraction(), 1.0);
}

TEST(Activity, ClipsToTheWindowAndCountsATransferWhereItEnds) {
    const trace::Trace trace =
        HandBuiltTrace(1).task(0, at(5, 25)).unmatched(Dimension::Dp, {0, at(8, 22)}).build();
    const std::vector<graph::IterationWindow> windows{
        {0, at(0, 10), true}, {1, at(10, 20), true}, {2, at(20, 30), true}};
    const auto activities = collectActivities(trace, windows, trainingRanks(trace));
    const std::int64_t compute[] = {5, 10, 5};
    const std::int64_t moving[] = {2, 10, 2};
    const std::int64_t count[] = {0, 0, 1};
    for (std::size_t w = 0; w < 3; ++w) {
        const Partition parts = partition(activities[w][0]);
        expectPartition(activities[w][0], parts);
        EXPECT_EQ(totalOf(parts.compute), compute[w]);
        const auto rows = transferOverlap(activities[w][0], parts.compute);
        EXPECT_EQ(rows.at(0).figures.total().ns, moving[w]);
        EXPECT_EQ(rows.at(0).figures.count, count[w]);
    }
}

TEST(Activity, LeavesOutProcessesThatDoNotTrain) {
    const trace::Trace trace = HandBuiltTrace(3).task(2, at(0, 1)).task(0, at(0, 1)).build();
    EXPECT_EQ(trainingRanks(trace),
              (std::vector<trace::RankId>{trace::RankId(0), trace::RankId(2)}));
}

TEST(Accounting, SumsToTheWindowForAnyIntervals) {
    std::mt19937 random(7);
    const auto number = [&](int bound) { return static_cast<int>(random() % unsigned(bound)); };
    for (int run = 0; run < 300; ++run) {
        HandBuiltTrace made(2);
        const auto span = [&] {
            const int begin = number(1000);
            return at(begin, begin + number(200));
        };
        made.task(0, span()).task(1, span());
        for (int i = number(20); i > 0; --i) {
            const base::Interval first = span(), second = span();
            made.task(static_cast<std::uint32_t>(number(2)), span());
            made.phase(0, PhaseKind::DataLoading, span());
            made.collective(number(2) ? Dimension::Dp : Dimension::Tp, {{0, first}, {1, second}},
                            number(3) - 1);
            made.message({0, span()}, {1, span()});
        }
        for (const RankActivity& activity : activitiesIn(made.build(), at(100, 900))) {
            const Partition parts = partition(activity);
            expectPartition(activity, parts);
            std::int64_t waited = 0;
            for (const Wait& wait : waitsOf(activity, parts)) waited += wait.duration.ns;
            EXPECT_EQ(waited, totalOf(parts.waiting));
        }
    }
}

TEST(TimeAccount, AddsUpAndItsMeanStillSums) {
    TimeAccount one;
    one.parts = {{base::Duration{10}, base::Duration{1}, {}, base::Duration{3}, base::Duration{5}}};
    one.causes[BubbleCause::Fill] = {2};
    one.causes[BubbleCause::Unknown] = {3};
    one.hidden = {4};
    TimeAccount sum = one;
    sum += one;
    EXPECT_EQ(sum.total().ns, 38);
    EXPECT_EQ(sum[TimePart::Copy].ns, 6);
    EXPECT_EQ(sum[BubbleCause::Unknown].ns, 6);
    const TimeAccount mean = sum.mean(4);  // 38 / 4 = 9.5
    EXPECT_EQ(mean.total().ns, 9);
    EXPECT_EQ(mean[TimePart::Bubble], mean.causes.total());
    EXPECT_EQ(mean[TimePart::Compute].ns, 5);
    EXPECT_EQ(mean.hidden.ns, 2);
}

TEST(TimeAccount, NamesItsPartsAndCausesOnce) {
    std::set<std::string_view> names;
    for (const TimePart part : kTimeParts) names.insert(toString(part));
    for (const BubbleCause cause : kBubbleCauses) names.insert(toString(cause));
    EXPECT_EQ(names.size(), kTimePartCount + kBubbleCauseCount);
    EXPECT_EQ(toString(TimePart::Bubble), "bubble");
    EXPECT_EQ(toString(BubbleCause::DataLoading), "data_loading");
    EXPECT_EQ(toString(BubbleCause::Unknown), "unknown");
}

TEST(ExactMeans, SumToTheMeanOfTheWhole) {
    EXPECT_EQ(exactMeans({1, 1, 1}, 3), (std::vector<std::int64_t>{0, 0, 1}));
    EXPECT_EQ(exactMeans({10, 0, 5}, 5), (std::vector<std::int64_t>{2, 0, 1}));
    EXPECT_EQ(exactMeans({2, 2, 2, 2}, 3), (std::vector<std::int64_t>{0, 1, 1, 0}));
}

}  // namespace
}  // namespace pleat::analysis
