#include "base/interval_set.h"

#include <gtest/gtest.h>

#include <random>

namespace pleat::base {
namespace {

IntervalSet set(std::vector<std::pair<std::int64_t, std::int64_t>> pairs) {
    std::vector<Interval> intervals;
    for (const auto& [begin, end] : pairs) intervals.push_back({{begin}, {end}});
    return IntervalSet(std::move(intervals));
}

TEST(IntervalSet, MergesTouchingAndOverlappingIntervalsAndDropsEmptyOnes) {
    EXPECT_EQ(set({{5, 7}, {0, 2}, {2, 3}, {6, 9}, {4, 4}, {8, 1}}), set({{0, 3}, {5, 9}}));
    EXPECT_EQ(set({{0, 3}, {5, 9}}).total(), Duration{7});
}

TEST(IntervalSet, DifferenceCutsHolesAndEdges) {
    EXPECT_EQ(set({{0, 10}}) - set({{0, 1}, {3, 5}, {9, 12}}), set({{1, 3}, {5, 9}}));
    EXPECT_EQ(set({{0, 10}}) - set({{0, 10}}), IntervalSet());
    EXPECT_EQ(set({{0, 4}, {6, 9}}) - set({{3, 7}}), set({{0, 3}, {7, 9}}));
}

// The naive meaning: one flag per nanosecond.
std::vector<bool> flags(const IntervalSet& s, std::int64_t length) {
    std::vector<bool> result(static_cast<std::size_t>(length));
    for (const Interval i : s.intervals()) {
        for (std::int64_t t = i.begin.ns; t < i.end.ns; ++t)
            result[static_cast<std::size_t>(t)] = true;
    }
    return result;
}

TEST(IntervalSet, OperationsEqualTheNaiveOnesOnRandomSets) {
    constexpr std::int64_t kLength = 60;
    std::mt19937 random(7);
    std::uniform_int_distribution<std::int64_t> position(0, kLength);
    for (int round = 0; round < 500; ++round) {
        std::vector<std::pair<std::int64_t, std::int64_t>> left, right;
        for (int i = 0; i < round % 9; ++i) left.emplace_back(position(random), position(random));
        for (int i = 0; i < round % 7; ++i) right.emplace_back(position(random), position(random));
        const IntervalSet a = set(left), b = set(right);
        const auto fa = flags(a, kLength), fb = flags(b, kLength);
        const auto both = flags(a & b, kLength), either = flags(a | b, kLength),
                   only = flags(a - b, kLength);
        for (std::size_t t = 0; t < fa.size(); ++t) {
            EXPECT_EQ(both[t], fa[t] && fb[t]);
            EXPECT_EQ(either[t], fa[t] || fb[t]);
            EXPECT_EQ(only[t], fa[t] && !fb[t]);
        }
        EXPECT_EQ((a - b).total() + (a & b).total(), a.total());
    }
}

}  // namespace
}  // namespace pleat::base
