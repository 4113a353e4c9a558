// Which of two ranks' communications belong together where none carries a number.
#include "annotate/order_shift.h"

#include <gtest/gtest.h>

#include <vector>

namespace pleat::annotate {
namespace {

using Parts = std::vector<OrderedPart>;

// Irregular ends, as of real iterations; the same moments for everyone who sees them.
Parts endings(int first, int count, std::int64_t clock = 0, std::int64_t wobble = 3'000) {
    Parts parts;
    std::int64_t time = 0;
    std::uint32_t random = 1;
    for (int i = 0; i < first + count; ++i) {
        random = random * 1'664'525 + 1'013'904'223;
        time += 1'000'000 + random % 1'500'000;
        if (i >= first) parts.push_back({0, time + clock + (i % 3) * wobble});
    }
    return parts;
}

std::ptrdiff_t shiftOf(const Parts& reference, const Parts& other) {
    const auto found = findShift(reference, other);
    EXPECT_TRUE(found && found->sure);
    return found ? found->shift : 99;
}

TEST(OrderShift, TheSameOrderStays) { EXPECT_EQ(shiftOf(endings(0, 20), endings(0, 20)), 0); }

TEST(OrderShift, ALaterBeginIsFoundByTheEnds) {
    EXPECT_EQ(shiftOf(endings(0, 20), endings(1, 19)), 1);
    EXPECT_EQ(shiftOf(endings(3, 20), endings(0, 20)), -3);
}

TEST(OrderShift, AnUnknownClockDoesNotHideIt) {
    EXPECT_EQ(shiftOf(endings(0, 20), endings(2, 18, 11'560'000'000)), 2);
    EXPECT_EQ(shiftOf(endings(0, 20), endings(0, 20, 11'560'000'000)), 0);
}

TEST(OrderShift, KindsThatDifferRuleAShiftOut) {
    Parts reference = endings(0, 6), other = endings(1, 5);
    for (std::size_t i = 0; i < reference.size(); ++i)
        reference[i].kind = static_cast<std::int64_t>(i % 2);
    for (std::size_t i = 0; i < other.size(); ++i)
        other[i].kind = static_cast<std::int64_t>((i + 1) % 2);
    EXPECT_EQ(shiftOf(reference, other), 1);
    other[2].kind = 9;
    EXPECT_FALSE(findShift(reference, other));
}

TEST(OrderShift, WhereEverythingRepeatsOneClockDecides) {
    const auto regular = [](int first, std::int64_t clock) {
        Parts parts;
        for (int i = first; i < 20; ++i) parts.push_back({0, 1'000'000 * i + clock});
        return parts;
    };
    EXPECT_EQ(shiftOf(regular(0, 0), regular(1, 0)), 1);
    const auto unknown = findShift(regular(0, 0), regular(1, 77'777'777));
    ASSERT_TRUE(unknown);
    EXPECT_EQ(unknown->shift, 0);
    EXPECT_FALSE(unknown->sure);
}

// One pair that is left over explains anything.
TEST(OrderShift, ManyMustAgree) {
    EXPECT_EQ(shiftOf(endings(0, 300), endings(0, 30, 0, 40'000)), 0);
    EXPECT_EQ(shiftOf(endings(0, 2), endings(0, 2, 0, 60'000)), 0);
    EXPECT_EQ(shiftOf(endings(0, 300), endings(200, 30)), 200);
    EXPECT_EQ(shiftOf(endings(0, 200), endings(40, 200)), 40);
}

TEST(OrderShift, NothingMatchesNothing) { EXPECT_FALSE(findShift({}, Parts{{0, 5}})); }

}  // namespace
}  // namespace pleat::annotate
