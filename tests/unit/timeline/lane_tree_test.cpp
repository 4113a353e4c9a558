#include "timeline/lane_tree.h"

#include <gtest/gtest.h>

#include "unit/timeline/made_trace.h"

namespace pleat::timeline {
namespace {

using trace::LaneId;
using trace::RankId;

// Ranks 1, a launcher, 0, with two lanes each; the first lane of each is two rows deep.
struct Tree {
    Tree() {
        MadeTrace made;
        for (const std::int32_t number : {1, -1, 0}) {
            const RankId rank = made.addRank(number);
            made.addLane(rank, {{0, 100}, {10, 20}});
            made.addLane(rank, {{0, 100}});
        }
        index = std::make_unique<LodIndex>(made.build(), pool);
        tree = std::make_unique<LaneTree>(*index);
    }
    [[nodiscard]] std::vector<PlacedRow> visible(std::int32_t scroll, std::int32_t height) const {
        std::vector<PlacedRow> rows;
        tree->placeVisible(scroll, height, rows);
        return rows;
    }
    WorkerPool pool{1};
    std::unique_ptr<LodIndex> index;
    std::unique_ptr<LaneTree> tree;
};

constexpr std::int32_t kLane = kRowHeight + kLaneGap, kRankLine = kRankHeight + kLaneGap;
constexpr std::int32_t kWholeRank = kRankLine + 2 * kRowHeight + kLaneGap + kLane;

TEST(LaneTree, RanksStandInOrderOfNumberAndOtherProcessesLast) {
    const Tree made;
    EXPECT_EQ(made.tree->rankOrder()[0], RankId(2));
    EXPECT_EQ(made.tree->rankOrder()[1], RankId(0));
    EXPECT_EQ(made.tree->rankOrder()[2], RankId(1));
    EXPECT_EQ(made.tree->height(), 3 * kWholeRank);
}

TEST(LaneTree, PlacesRanksLanesAndRowsBelowEachOther) {
    const Tree made;
    const std::vector<PlacedRow> rows = made.visible(0, kWholeRank);
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows[0], (PlacedRow{RankId(2), {}, -1, 0, kRankHeight, false}));
    EXPECT_EQ(rows[1], (PlacedRow{RankId(2), LaneId(4), 0, kRankLine, kRowHeight, true}));
    EXPECT_EQ(rows[2],
              (PlacedRow{RankId(2), LaneId(4), 1, kRankLine + kRowHeight, kRowHeight, false}));
    EXPECT_EQ(rows[3].lane, LaneId(5));
}

TEST(LaneTree, ScrollingMovesLinesAndCutsThem) {
    const Tree made;
    const std::vector<PlacedRow> rows = made.visible(kRankLine + 5, 30);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].lane, LaneId(4));
    EXPECT_EQ(rows[0].y, -5);
    EXPECT_EQ(rows[1].row, 1);
}

TEST(LaneTree, ACollapsedRankIsOneSummaryRow) {
    Tree made;
    made.tree->setCollapsed(RankId(2), true);
    EXPECT_EQ(made.tree->height(), 2 * kWholeRank + kRankLine);
    const std::vector<PlacedRow> rows = made.visible(0, kRankLine + 1);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].row, 0);
    EXPECT_FALSE(rows[0].lane.valid());
    EXPECT_EQ(rows[1].rank, RankId(0));
    made.tree->setAllCollapsed(true);
    EXPECT_EQ(made.tree->height(), 3 * kRankLine);
    EXPECT_EQ(made.tree->locate(LaneId(5), 0, 0).y, 0);
    made.tree->setAllCollapsed(false);
    EXPECT_EQ(made.tree->height(), 3 * kWholeRank);
}

TEST(LaneTree, ACollapsedLaneShowsItsOutermostRow) {
    Tree made;
    made.tree->setCollapsed(LaneId(4), true);
    EXPECT_EQ(made.tree->height(), 3 * kWholeRank - kRowHeight);
    EXPECT_EQ(made.tree->locate(LaneId(4), 1, 0).row, 0);
}

TEST(LaneTree, PinnedLanesStayAboveWhatScrolls) {
    Tree made;
    made.tree->setPinned(LaneId(1), true);
    EXPECT_EQ(made.tree->pinnedHeight(), kLane);
    EXPECT_EQ(made.tree->height(), 3 * kWholeRank);
    const std::vector<PlacedRow> rows = made.visible(1000, 60);
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows[0].lane, LaneId(1));
    EXPECT_EQ(rows[0].y, 0);
    EXPECT_EQ(made.tree->at(5, 1000)->lane, LaneId(1));
    EXPECT_EQ(made.tree->locate(LaneId(1), 0, 1000).y, 0);
    made.tree->setPinned(LaneId(1), false);
    EXPECT_EQ(made.tree->pinnedHeight(), 0);
}

TEST(LaneTree, RanksAndLanesCanBeMoved) {
    Tree made;
    made.tree->move(RankId(1), RankId(2));
    EXPECT_EQ(made.visible(0, 10)[0].rank, RankId(1));
    made.tree->move(RankId(1), RankId());
    EXPECT_EQ(made.visible(0, 10)[0].rank, RankId(2));
    made.tree->move(LaneId(5), LaneId(4));
    EXPECT_EQ(made.tree->laneOrder(RankId(2))[0], LaneId(5));
    made.tree->move(LaneId(5), LaneId(0));  // of another rank
    EXPECT_EQ(made.tree->laneOrder(RankId(2))[0], LaneId(5));
}

TEST(LaneTree, FindsTheLineAtAHeightAndTheHeightOfALine) {
    const Tree made;
    for (const std::int32_t scroll : {0, 13, kWholeRank}) {
        for (const PlacedRow& row : made.visible(scroll, 200)) {
            for (const std::int32_t y : {row.y, row.y + row.height - 1}) {
                if (y < 0) continue;
                const auto found = made.tree->at(y, scroll);
                ASSERT_TRUE(found);
                EXPECT_EQ(*found, row);
            }
            if (row.lane.valid()) {
                EXPECT_EQ(made.tree->locate(row.lane, static_cast<std::size_t>(row.row), scroll),
                          row);
            }
        }
    }
    EXPECT_FALSE(made.tree->at(kRankHeight, 0));  // between lines
    EXPECT_FALSE(made.tree->at(100'000, 0));
    EXPECT_FALSE(made.tree->at(-1, 0));
}

TEST(LaneTree, ScrollEndsWithTheLastLine) {
    const Tree made;
    EXPECT_EQ(made.tree->clampedScroll(-5, 100), 0);
    EXPECT_EQ(made.tree->clampedScroll(100'000, 100), 3 * kWholeRank - 100);
    EXPECT_EQ(made.tree->clampedScroll(50, 100'000), 0);
}

TEST(LaneTree, OfTenThousandLanesOnlyVisibleOnesArePlaced) {
    MadeTrace made;
    for (std::int32_t number = 0; number < 100; ++number) {
        const RankId rank = made.addRank(number);
        for (int lane = 0; lane < 100; ++lane) made.addLane(rank, {{0, 10}});
    }
    WorkerPool pool(1);
    const LodIndex index(made.build(), pool);
    const LaneTree tree(index);
    std::vector<PlacedRow> rows;
    tree.placeVisible(100'000, 1000, rows);
    EXPECT_GT(rows.size(), 40U);
    EXPECT_LE(rows.size(), 1000U / kRowHeight + 2);
}

}  // namespace
}  // namespace pleat::timeline
