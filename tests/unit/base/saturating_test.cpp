#include "base/saturating.h"

#include <gtest/gtest.h>

namespace pleat::base {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();

TEST(Saturating, IsPlainArithmeticWhereTheResultFits) {
    EXPECT_EQ(saturatingSum(3, 4), 7);
    EXPECT_EQ(saturatingSum(kMost - 1, 1), kMost);
    EXPECT_EQ(saturatingProduct(-3, 4), -12);
    EXPECT_EQ(saturatingProduct(kMost, 1), kMost);
}

TEST(Saturating, StaysAtTheNearestValueWhereItDoesNot) {
    EXPECT_EQ(saturatingSum(kMost, 4096), kMost);
    EXPECT_EQ(saturatingSum(kLeast, -1), kLeast);
    EXPECT_EQ(saturatingProduct(kMost, 8), kMost);
    EXPECT_EQ(saturatingProduct(kMost, -8), kLeast);
    EXPECT_EQ(saturatingProduct(kLeast, -1), kMost);
}

}  // namespace
}  // namespace pleat::base
