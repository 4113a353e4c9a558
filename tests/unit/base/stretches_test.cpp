#include "base/stretches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace pleat::base {
namespace {

TEST(Stretches, AreMergedToWhatAStableSortGives) {
    std::mt19937 random(5);
    const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
    for (int run = 0; run < 200; ++run) {
        std::vector<std::pair<int, int>> items;
        for (int stretch = static_cast<int>(random() % 6); stretch > 0; --stretch) {
            int value = 0;
            for (int n = static_cast<int>(random() % 8); n > 0; --n) {
                value += static_cast<int>(random() % 3);
                items.emplace_back(value, static_cast<int>(items.size()));
            }
        }
        auto expected = items;
        std::stable_sort(expected.begin(), expected.end(), before);
        sortStretches(std::span(items), before);
        EXPECT_EQ(items, expected);
    }
}

}  // namespace
}  // namespace pleat::base
