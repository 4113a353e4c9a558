#include "base/nearest_name.h"

#include <gtest/gtest.h>

#include <array>

namespace pleat::base {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"gpipe", "1f1b", "interleaved", "folded"};

TEST(NearestName, FindsTheKnownNameATypingErrorMeant) {
    EXPECT_EQ(nearestName("fodled", kNames), "folded");
    EXPECT_EQ(nearestName("interleave", kNames), "interleaved");
    EXPECT_EQ(nearestName("1fb1", kNames), "1f1b");
}

TEST(NearestName, SuggestsNothingWhereNothingIsNear) {
    EXPECT_EQ(nearestName("zero-bubble", kNames), "");
    EXPECT_EQ(nearestName("", kNames), "");
}

}  // namespace
}  // namespace pleat::base
