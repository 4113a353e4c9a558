// What a text shows of many ranks.
#include "report/rank_rows.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/rank_shape.h"
#include "golden_text.h"

namespace pleat::report {
namespace {

// 16 replicas of 4 pipeline ranks; every rank computes 60 ms of 100.
// The rest of 100 ms is idle.
void compute(analysis::RankSummary& rank, std::int64_t milliseconds) {
    rank.time.parts[analysis::TimePart::Compute] = {milliseconds * 1'000'000};
    const base::Duration idle{(100 - milliseconds) * 1'000'000};
    rank.time.parts[analysis::TimePart::Bubble] = idle;
    rank.time.causes[analysis::BubbleCause::Drain] = idle;
}

std::vector<analysis::RankSummary> manyRanks() {
    std::vector<analysis::RankSummary> ranks;
    for (std::int32_t dp = 0; dp < 16; ++dp) {
        for (std::int32_t pp = 0; pp < 4; ++pp) {
            analysis::RankSummary& rank = ranks.emplace_back();
            rank.number = static_cast<std::int32_t>(ranks.size()) - 1;
            rank.coordinates.dp = dp;
            rank.coordinates.pp = pp;
            compute(rank, 60);
        }
    }
    return ranks;
}

TEST(RankShape, NamesTheSlowestTheFastestAndWhatStandsOut) {
    auto ranks = manyRanks();
    compute(ranks[21], 75);
    compute(ranks[40], 50);
    for (std::size_t dp = 0; dp < 16; ++dp) compute(ranks[dp * 4 + 3], 72);
    const analysis::RankShape shape = analysis::shapeOf(ranks);
    EXPECT_EQ(ranks[shape.slowest].number, 21);
    EXPECT_EQ(ranks[shape.fastest].number, 40);
    EXPECT_EQ(ranks[shape.median].time[analysis::TimePart::Compute].ns, 60'000'000);
    ASSERT_EQ(shape.outliers.size(), 2U);
    EXPECT_EQ(ranks[shape.outliers[0].index].number, 21);  // the fourth stage is slow by design
    EXPECT_DOUBLE_EQ(shape.outliers[0].ratio, 1.25);
    ASSERT_EQ(shape.byPp.size(), 4U);
    EXPECT_TRUE(shape.byPp[3].standsOut);
    EXPECT_DOUBLE_EQ(shape.byPp[3].ratio, 1.2);
    EXPECT_FALSE(shape.byPp[0].standsOut);
    ASSERT_EQ(shape.byDp.size(), 16U);
    EXPECT_TRUE(shape.byDp[5].standsOut);
}

TEST(RankRows, ShowTheShapeOfManyRanksAndEveryRowWhereAskedFor) {
    auto ranks = manyRanks();
    compute(ranks[21], 75);
    const std::string shape = renderRanks(ranks, false);
    EXPECT_NE(shape.find("slowest    21  5  1  75.0%   75.000"), std::string::npos) << shape;
    EXPECT_NE(shape.find("rank 21 25.0 % more"), std::string::npos) << shape;
    EXPECT_NE(shape.find("--all-ranks"), std::string::npos);
    EXPECT_LT(std::count(shape.begin(), shape.end(), '\n'), 12);
    testing::expectNoLongLine(shape);
    const std::string all = renderRanks(ranks, true);
    EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 64 + 3);
    ranks.pop_back();
    const std::string few = renderRanks(ranks, false);
    EXPECT_EQ(std::count(few.begin(), few.end(), '\n'), 63 + 3);
}

}  // namespace
}  // namespace pleat::report
