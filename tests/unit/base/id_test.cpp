#include "base/id.h"

#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>

#include "base/time.h"

namespace pleat::base {
namespace {

using AppleId = Id<struct AppleTag>;
using PearId = Id<struct PearTag>;

template <class A, class B>
concept Comparable = requires(A a, B b) {
    a == b;
};
template <class A, class B>
concept Subtractable = requires(A a, B b) {
    a - b;
};
template <class Container, class Index>
concept Indexable = requires(Container c, Index i) {
    c[i];
};

TEST(Id, DoesNotMixWithOtherIdsOrIntegers) {
    static_assert(!Comparable<AppleId, PearId>);
    static_assert(!std::convertible_to<int, AppleId>);
    static_assert(!std::convertible_to<AppleId, int>);
    static_assert(!std::is_convertible_v<AppleId, PearId>);
    static_assert(Indexable<IdVector<struct AppleTag, int>, AppleId>);
    static_assert(!Indexable<IdVector<struct AppleTag, int>, PearId>);
    static_assert(!Indexable<IdVector<struct AppleTag, int>, std::size_t>);
    EXPECT_FALSE(AppleId().valid());
    EXPECT_TRUE(AppleId(0).valid());
}

TEST(Time, ClocksDoNotMix) {
    static_assert(!Subtractable<TraceTime, HostTime>);
    static_assert(!Subtractable<HostTime, DeviceTime>);
    static_assert(!std::is_convertible_v<TraceTime, DeviceTime>);
    EXPECT_EQ(TraceTime{7} - TraceTime{4}, Duration{3});
    EXPECT_EQ(TraceTime{7} - Duration{4}, TraceTime{3});
}

TEST(IdVector, PushReturnsTheIdThatFindsTheItem) {
    IdVector<struct AppleTag, int> apples;
    const AppleId first = apples.push(10);
    const AppleId second = apples.push(20);
    EXPECT_EQ(apples[first], 10);
    EXPECT_EQ(apples[second], 20);
    EXPECT_EQ(apples.size(), 2U);
}

}  // namespace
}  // namespace pleat::base
