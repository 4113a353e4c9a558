#include "base/string_pool.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace pleat::base {
namespace {

TEST(StringPool, InternsEachTextOnceAndFindsItBack) {
    StringPool pool;
    const StringId a = pool.intern("forward");
    EXPECT_EQ(pool.intern(std::string("for") + "ward"), a);
    EXPECT_NE(pool.intern("backward"), a);
    EXPECT_EQ(pool.text(a), "forward");
    EXPECT_EQ(pool.find("absent"), std::nullopt);
    EXPECT_EQ(pool.text(StringId()), "");
}

TEST(StringPool, ViewsStayValidWhileThePoolGrowsAndMoves) {
    StringPool pool;
    const StringId first = pool.intern("x");
    const std::string_view view = pool.text(first);
    for (int i = 0; i < 10'000; ++i) pool.intern(std::to_string(i));
    const StringPool moved = std::move(pool);
    EXPECT_EQ(view, "x");
    EXPECT_EQ(moved.find("9999"), StringId(10'000));
}

}  // namespace
}  // namespace pleat::base
