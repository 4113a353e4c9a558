#include "base/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace pleat::base {
namespace {

TEST(Statistics, TheMedianOfAnEvenNumberIsTheMeanOfTheTwoInTheMiddle) {
    EXPECT_EQ(medianOf(std::vector<std::int64_t>{5}), 5);
    EXPECT_EQ(medianOf(std::vector<std::int64_t>{9, 1, 5}), 5);
    EXPECT_EQ(medianOf(std::vector<std::int64_t>{4, 9, 1, 7}), 5) << "5.5, rounded towards zero";
    EXPECT_DOUBLE_EQ(medianOf(std::vector<double>{4, 9, 1, 7}), 5.5);
    EXPECT_EQ(medianOf(std::vector<Duration>{{10}, {30}}), Duration{20});
    EXPECT_EQ(medianOf(std::vector<double>{}), 0);
}

TEST(Statistics, AQuantileIsTheNearestRank) {
    std::vector<int> values{50, 15, 40, 20, 35};
    EXPECT_EQ(nearestRank(values, 3, 10), 20);
    EXPECT_EQ(nearestRank(values, 4, 10), 20);
    EXPECT_EQ(nearestRank(values, 5, 10), 35);
    EXPECT_EQ(nearestRank(values, 9, 10), 50);
    EXPECT_EQ(nearestRank(values, 0, 10), 15);
    EXPECT_EQ(nearestRank(values, 10, 10), 50);
}

TEST(Statistics, AgreeWithSortingForAnyOrder) {
    std::mt19937_64 generator(7);
    for (std::size_t size = 1; size < 60; ++size) {
        std::vector<double> values(size);
        for (double& value : values) value = static_cast<double>(generator() % 20);
        std::vector<double> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_DOUBLE_EQ(medianOf(values), (sorted[(size - 1) / 2] + sorted[size / 2]) / 2);
        EXPECT_DOUBLE_EQ(nearestRank(values, 9, 10), sorted[(size * 9 + 9) / 10 - 1]);
    }
}

TEST(Statistics, TheMiddleOfTwoDoesNotOverflow) {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
    using Values = std::vector<std::int64_t>;
    EXPECT_EQ(medianOf(Values{kMost, kMost}), kMost);
    EXPECT_EQ(medianOf(Values{-kMost, kMost}), 0);
    EXPECT_EQ(medianOf(Values{-kMost, -kMost + 2}), -kMost + 1);
    EXPECT_EQ(medianOf(Values{1, 2}), 1);
    EXPECT_EQ(medianOf(Values{-3, -2}), -2);
    EXPECT_EQ(medianOf(Values{-1, 2}), 0);
    EXPECT_EQ(medianOf(std::vector<Duration>{{kMost}, {kMost - 2}}).ns, kMost - 1);
    EXPECT_DOUBLE_EQ(medianOf(std::vector<double>{1.5, 2.0}), 1.75);
}

}  // namespace
}  // namespace pleat::base
