#include "analysis/bubbles.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "analysis/critical_path.h"
#include "simulated_run.h"

namespace pleat::analysis {
namespace {

using graph::CostModel;
using graph::Node;
using graph::NodeKind;
using testing::SimulatedRun;
using testing::simulatedRun;

struct Layout {
    std::string_view schedule;
    schedule::GeneratorOptions options;
};

std::vector<Layout> layouts() {
    std::vector<Layout> all;
    for (const std::int32_t ranks : {1, 2, 4}) {
        for (const std::int32_t microbatches : {ranks, 2 * ranks}) {
            for (const std::int32_t chunks : {1, 2, 3}) {
                if (chunks == 1) all.push_back({"gpipe", {ranks, microbatches, 1, 0}});
                if (chunks == 1) all.push_back({"1f1b", {ranks, microbatches, 1, 0}});
                all.push_back({"interleaved", {ranks, microbatches, chunks, 0}});
                all.push_back({"folded", {ranks, microbatches, chunks, 0}});
            }
        }
    }
    return all;
}

CauseDurations sumOf(const SimulatedRun& run) {
    CauseDurations sum;
    for (const CauseDurations& rank : attributeBubbles(run.trace, IdleExplainer(run.trace),
                                                       run.graph, run.activities, run.partitions)) {
        for (std::size_t i = 0; i < kBubbleCauseCount; ++i) sum.of[i] += rank.of[i];
    }
    return sum;
}

std::int64_t bubbleOf(const SimulatedRun& run) {
    std::int64_t bubble = 0;
    for (const Partition& parts : run.partitions) bubble += parts.bubble.total().ns;
    return bubble;
}

// Gaps lie where the bubble does, in order, and their causes sum to its.
void expectTiled(const std::vector<IdleGap>& gaps, const base::IntervalSet& bubble,
                 const CauseDurations& causes) {
    CauseDurations sum;
    std::vector<base::Interval> pieces;
    base::TraceTime begun = {std::numeric_limits<std::int64_t>::min()};
    for (const IdleGap& gap : gaps) {
        ASSERT_FALSE(gap.pieces.empty());
        EXPECT_GT(gap.pieces.front().begin, begun);
        begun = gap.pieces.front().begin;
        base::Duration length;
        for (const base::Interval piece : gap.pieces) length += piece.length();
        EXPECT_EQ(gap.causes.total(), length);
        pieces.insert(pieces.end(), gap.pieces.begin(), gap.pieces.end());
        sum += gap.causes;
    }
    EXPECT_EQ(base::IntervalSet(pieces), bubble);
    EXPECT_EQ(base::IntervalSet(pieces).total(), causes.total());
    EXPECT_EQ(sum.of, causes.of);
}

// The least that must hold of any run.
void expectConsistent(const SimulatedRun& run) {
    const auto causes = attributeBubbles(run.trace, IdleExplainer(run.trace), run.graph,
                                         run.activities, run.partitions);
    ASSERT_EQ(causes.size(), run.partitions.size());
    const auto gaps = locateBubbles(run.trace, IdleExplainer(run.trace), run.graph, run.activities,
                                    run.partitions);
    ASSERT_EQ(gaps.size(), causes.size());
    for (std::size_t i = 0; i < causes.size(); ++i) {
        expectTiled(gaps[i], run.partitions[i].bubble, causes[i]);
        EXPECT_EQ(causes[i].total(), run.partitions[i].bubble.total());
        for (const base::Duration part : causes[i].of) EXPECT_GE(part.ns, 0);
        const Partition& parts = run.partitions[i];
        EXPECT_EQ(parts.compute.total() + parts.moving.total() + parts.waiting.total() +
                      parts.bubble.total(),
                  run.window.length());
    }
    const auto path = measuredCriticalPath(run.graph, run.window);
    base::TraceTime reached = run.window.begin;
    for (const PathPiece& piece : path) {
        EXPECT_EQ(piece.span.begin, reached);
        EXPECT_FALSE(piece.span.empty());
        reached = piece.span.end;
    }
    EXPECT_EQ(reached, run.window.end);
    const PathAttribution shares = attribute(run.trace, run.graph, path);
    EXPECT_EQ(shares.length, run.window.length());
}

TEST(Bubbles, AreFillAndDrainAloneInABalancedPipeline) {
    for (const Layout& layout : layouts()) {
        SCOPED_TRACE(layout.schedule);
        const std::int64_t p = layout.options.ranks, m = layout.options.microbatches,
                           v = layout.options.chunks;
        const CostModel costs{{6'000}, {12'000}, {0}, {0}, {0}};
        const SimulatedRun run = simulatedRun(layout.schedule, layout.options, costs);
        expectConsistent(run);
        const CauseDurations causes = sumOf(run);
        EXPECT_EQ(causes[BubbleCause::Fill] + causes[BubbleCause::Drain], causes.total());
        // bubble / (p x window) == (p - 1) / (v m + p - 1), as products of integers
        EXPECT_EQ(bubbleOf(run) * (v * m + p - 1), p * run.window.length().ns * (p - 1));
    }
}

TEST(Bubbles, OfTwoRanksSplitIntoFillBeforeTheFirstBackwardAndDrainAfter) {
    // 1F1B, two ranks, two microbatches, forward 1000, backward 2000. Rank 0: F0 [0,1) F1 [1,2)
    // idle [2,4) B0 [4,6) idle [6,7) B1 [7,9). Rank 1: idle [0,1) F0 B0 F1 B1 [1,7), idle [7,9).
    const SimulatedRun run = simulatedRun("1f1b", {2, 2, 1, 0}, {{1'000}, {2'000}, {0}, {0}, {0}});
    const auto causes = attributeBubbles(run.trace, IdleExplainer(run.trace), run.graph,
                                         run.activities, run.partitions);
    EXPECT_EQ(causes[0][BubbleCause::Fill].ns, 2'000);
    EXPECT_EQ(causes[0][BubbleCause::Drain].ns, 1'000);
    EXPECT_EQ(causes[1][BubbleCause::Fill].ns, 1'000);
    EXPECT_EQ(causes[1][BubbleCause::Drain].ns, 2'000);
}

TEST(Bubbles, ShowASlowStageAsImbalance) {
    const SimulatedRun run =
        simulatedRun("1f1b", {4, 16, 1, 0}, {{1'000}, {2'000}, {0}, {0}, {0}}, [](Node& node) {
            if (node.stage == 2) node.duration.ns *= 2;
        });
    expectConsistent(run);
    const CauseDurations causes = sumOf(run);
    // Every other rank waits about 16 x 3000 for the slow one.
    EXPECT_GT(causes[BubbleCause::Imbalance].ns, 3 * 12 * 3'000);
    EXPECT_EQ(causes[BubbleCause::LatePeer].ns, 0);
    EXPECT_EQ(causes[BubbleCause::MessageLatency].ns, 0);
    EXPECT_EQ(causes[BubbleCause::Unknown].ns, 0);
}

TEST(Bubbles, ShowOneSlowMicrobatchAsLatePeer) {
    const SimulatedRun run =
        simulatedRun("1f1b", {4, 16, 1, 0}, {{1'000}, {2'000}, {0}, {0}, {0}}, [](Node& node) {
            if (node.stage == 1 && node.microbatch == 8 &&
                node.action == schedule::ActionKind::Forward)
                node.duration.ns += 50'000;
        });
    expectConsistent(run);
    const CauseDurations causes = sumOf(run);
    EXPECT_GT(causes[BubbleCause::LatePeer].ns, 2 * 50'000);
    EXPECT_EQ(causes[BubbleCause::Imbalance].ns, 0);
    EXPECT_EQ(causes[BubbleCause::Unknown].ns, 0);
}

TEST(Bubbles, ShowSlowMessagesAsLatency) {
    const SimulatedRun run =
        simulatedRun("1f1b", {4, 8, 1, 0}, {{1'000}, {2'000}, {0}, {500}, {0}});
    expectConsistent(run);
    const CauseDurations causes = sumOf(run);
    EXPECT_GT(causes[BubbleCause::MessageLatency].ns, 0);
    EXPECT_EQ(causes[BubbleCause::Imbalance].ns + causes[BubbleCause::LatePeer].ns +
                  causes[BubbleCause::GradientSync].ns + causes[BubbleCause::Unknown].ns,
              0);
}

TEST(Bubbles, ShowTheIdleTimeOfOtherRanksDuringASyncAsGradientSync) {
    // Rank 0 alone has a long sync at the end; rank 1 has nothing to do until the window ends.
    const SimulatedRun run =
        simulatedRun("gpipe", {2, 2, 1, 0}, {{1'000}, {1'000}, {0}, {0}, {100}}, [](Node& node) {
            if (node.kind == NodeKind::Transfer && node.rank == 0) node.duration.ns = 70'000;
        });
    expectConsistent(run);
    const auto causes = attributeBubbles(run.trace, IdleExplainer(run.trace), run.graph,
                                         run.activities, run.partitions);
    // Rank 1 computes until 5000, syncs until 5100 and idles until 76000. An ideal pipeline drains
    // for 1000; the rest is the other rank's sync.
    EXPECT_EQ(causes[1][BubbleCause::Drain].ns, 1'000);
    EXPECT_EQ(causes[1][BubbleCause::GradientSync].ns, 69'900);
    EXPECT_EQ(causes[0][BubbleCause::GradientSync].ns, 0);
}

// Its own pause is what nothing explains; the other rank waited for it.
TEST(Bubbles, LeaveAHostDelayUnknownOnItsRankAloneAndMakeOthersWaitForALatePeer) {
    const SimulatedRun run =
        simulatedRun("gpipe", {2, 2, 1, 0}, {{1'000}, {1'000}, {0}, {0}, {0}}, [](Node& node) {
            if (node.rank == 0 && node.microbatch == 0 &&
                node.action == schedule::ActionKind::Forward)
                node.delay = {333};
        });
    expectConsistent(run);
    const auto causes = attributeBubbles(run.trace, IdleExplainer(run.trace), run.graph,
                                         run.activities, run.partitions);
    EXPECT_EQ(causes[0][BubbleCause::Unknown].ns, 333);
    EXPECT_EQ(causes[0][BubbleCause::LatePeer].ns, 0);
    EXPECT_EQ(causes[1][BubbleCause::Unknown].ns, 0);
    EXPECT_EQ(causes[1][BubbleCause::LatePeer].ns, 333);
}

TEST(Bubbles, SumToTheBubbleForRandomRuns) {
    std::mt19937 random(11);
    const auto number = [&](std::int64_t bound) {
        return static_cast<std::int64_t>(random()) % bound;
    };
    int runs = 0;
    for (int round = 0; round < 8; ++round) {
        for (const Layout& layout : layouts()) {
            const CostModel costs{{1'000 + number(9'000)},
                                  {1'000 + number(9'000)},
                                  {0},
                                  {number(3) * number(500)},
                                  {number(5'000)}};
            expectConsistent(simulatedRun(layout.schedule, layout.options, costs, [&](Node& node) {
                node.duration.ns += number(5) == 0 ? number(10'000) : number(100);
                node.delay = {number(4) == 0 ? number(700) : 0};
            }));
            ++runs;
        }
    }
    EXPECT_GE(runs, 200);
}

}  // namespace
}  // namespace pleat::analysis
