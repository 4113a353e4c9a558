#include "base/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
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

}  // namespace
}  // namespace pleat::base
