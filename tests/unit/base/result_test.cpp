#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace pleat::base {
namespace {

Result<std::unique_ptr<int>> make(bool works) {
    if (!works) return Error{ErrorCode::Io, "cannot open file"};
    return std::make_unique<int>(3);
}

TEST(Result, HoldsAMoveOnlyValueOrAnError) {
    Result<std::unique_ptr<int>> good = make(true);
    ASSERT_TRUE(good.ok());
    EXPECT_EQ(*std::move(good).value(), 3);
    const Result<std::unique_ptr<int>> bad = make(false);
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, ErrorCode::Io);
}

TEST(Result, ContextIsAddedInFront) {
    EXPECT_EQ(make(false).error().within("loading rank 3").message,
              "loading rank 3: cannot open file");
}

TEST(Result, OfVoidIsSuccessByDefault) {
    EXPECT_TRUE(Result<void>().ok());
    EXPECT_FALSE(Result<void>(Error{ErrorCode::Usage, "no"}).ok());
}

}  // namespace
}  // namespace pleat::base
