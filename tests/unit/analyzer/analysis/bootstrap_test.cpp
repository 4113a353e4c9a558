#include "analysis/bootstrap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "base/statistics.h"

namespace pleat::analysis {
namespace {

using Values = std::vector<double>;

// Normally distributed by Box and Muller, for the standard's own distributions differ between
// libraries.
Values drawn(std::mt19937_64& generator, std::size_t count, double median, double spread) {
    const auto uniform = [&] { return (static_cast<double>(generator() >> 11) + 0.5) * 0x1p-53; };
    Values values;
    for (std::size_t i = 0; i < count; ++i) {
        const double radius = std::sqrt(-2 * std::log(uniform()));
        values.push_back(median + spread * radius * std::cos(2 * std::numbers::pi * uniform()));
    }
    return values;
}

TEST(Bootstrap, OfConstantsTheIntervalIsTheDifference) {
    MedianDifference difference;
    EXPECT_EQ(difference.interval({5}, {8}), std::pair(3.0, 3.0));
    EXPECT_EQ(difference.interval({5, 5, 5}, {8, 8}), std::pair(3.0, 3.0));
}

// Resampled or not: around the limit the interval is the same, within its own noise.
TEST(Bootstrap, ManyValuesHaveTheIntervalThatResamplingWouldGive) {
    std::mt19937_64 generator(5);
    std::vector<base::Duration> durations;
    for (const double value : drawn(generator, kMostResampled + 1, 1e6, 5e4))
        durations.push_back({std::llround(value)});
    const auto many = meanInterval(durations);
    durations.pop_back();
    const auto resampled = meanInterval(durations);
    ASSERT_TRUE(many && resampled);
    const auto length = [](const auto& interval) {
        return static_cast<double>((interval->second - interval->first).ns);
    };
    EXPECT_NEAR(length(many) / length(resampled), 1, 0.06);
    EXPECT_NEAR(static_cast<double>((many->first - resampled->first).ns), 0, 0.1 * length(many));
}

TEST(Bootstrap, AMeasurementDoesNotDifferFromItself) {
    EXPECT_EQ(MedianDifference().interval({1, 100, 3}, {1, 100, 3}), std::pair(0.0, 0.0));
    // Equal medians of other values may.
    const auto [low, high] = MedianDifference().interval({1, 3, 100}, {2, 3, 90});
    EXPECT_LT(low, 0);
    EXPECT_GT(high, 0);
}

TEST(Bootstrap, SwappingTheTwoNegatesTheInterval) {
    std::mt19937_64 generator(11);
    MedianDifference difference;
    for (std::size_t i = 0; i < 100; ++i) {
        const Values a = drawn(generator, 2 + i % 9, 100, 10),
                     b = drawn(generator, 3 + i % 7, 110, 5);
        const auto [low, high] = difference.interval(a, b);
        EXPECT_LE(low, high);
        EXPECT_EQ(MedianDifference().interval(b, a), std::pair(-high, -low));
    }
}

// The plain way: resample, sort, take the middle. Its intervals come from other draws, so they only
// have to be near.
TEST(Bootstrap, EqualsThePlainBootstrapUpToItsDraws) {
    std::mt19937_64 generator(12);
    const Values base = drawn(generator, 30, 100, 10), other = drawn(generator, 25, 120, 10);
    const auto resampled = [&](const Values& values) {
        Values resample;
        for (std::size_t i = 0; i < values.size(); ++i)
            resample.push_back(values[generator() % values.size()]);
        return base::medianOf(resample);
    };
    Values differences;
    for (int i = 0; i < 20'000; ++i) differences.push_back(resampled(other) - resampled(base));
    std::sort(differences.begin(), differences.end());
    const auto [low, high] = MedianDifference().interval(base, other);
    const double width = differences[19'500] - differences[500];
    EXPECT_NEAR(low, differences[500], width * 0.1);
    EXPECT_NEAR(high, differences[19'500], width * 0.1);
}

// What the interval is for: in 200 pairs of runs whose medians differ by 7 it holds 7 in at least
// nine of ten, and excludes 0 where the difference is many times the spread.
TEST(Bootstrap, TheIntervalHoldsTheTrueDifference) {
    for (const std::size_t count : std::vector<std::size_t>{5, 8, 12, 20, 45}) {
        std::mt19937_64 generator(count);
        MedianDifference difference;
        int held = 0;
        for (int i = 0; i < 200; ++i) {
            const auto [low, high] = difference.interval(drawn(generator, count, 100, 4),
                                                         drawn(generator, count, 107, 6));
            held += low <= 7 && 7 <= high ? 1 : 0;
        }
        EXPECT_GE(held, 180) << count << " iterations";
        RecordProperty("held_of_200_with_" + std::to_string(count), held);
        const auto [low, high] =
            difference.interval(drawn(generator, count, 100, 1), drawn(generator, count, 150, 1));
        EXPECT_GT(low, 0) << high;
    }
}

}  // namespace
}  // namespace pleat::analysis
