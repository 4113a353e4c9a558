// Two orders of communications of which some were lost.
#include "annotate/order_alignment.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace pleat::annotate {
namespace {

using Partners = std::vector<std::ptrdiff_t>;

// One recording of collectives 0 to n - 1, as a rank made it: which it has, and when they ended.
struct Recording {
    std::vector<std::size_t> which;
    std::vector<OrderedPart> parts;
};

struct Made {
    std::size_t count = 100;
    std::size_t perStep = 0;       // above 0: steps that repeat exactly, else irregular gaps
    std::int64_t kinds = 1;        // sizes that follow each other
    std::int64_t noiseNs = 5'000;  // of one end
    std::int64_t clockNs = 0;      // this rank's clock
    std::set<std::size_t> lost = {};
};

Recording recorded(const Made& made, unsigned seed) {
    std::mt19937 same(7), own(seed);
    Recording recording;
    std::int64_t time = 0;
    for (std::size_t i = 0; i < made.count; ++i) {
        const std::size_t within = made.perStep > 0 ? i % made.perStep : 0;
        time += made.perStep > 0 ? 700'000 + 150'000 * static_cast<std::int64_t>(within)
                                 : 500'000 + static_cast<std::int64_t>(same() % 1'500'000);
        const auto noise =
            static_cast<std::int64_t>(own() % static_cast<std::uint64_t>(made.noiseNs + 1));
        if (made.lost.contains(i)) continue;
        recording.which.push_back(i);
        recording.parts.push_back(
            {static_cast<std::int64_t>(i) % made.kinds, time + made.clockNs + noise});
    }
    return recording;
}

// Of the pairs that both recorded, how many were found, and how many wrong ones beside them.
void expectRight(const Made& a, const Made& b, const char* what) {
    const Recording first = recorded(a, 1), second = recorded(b, 2);
    const auto found = alignOrders(first.parts, second.parts);
    ASSERT_TRUE(found) << what;
    std::size_t wrong = 0, right = 0, both = 0;
    for (std::size_t i = 0; i < second.which.size(); ++i) {
        const std::ptrdiff_t at = found->partners[i];
        const bool exists = !a.lost.contains(second.which[i]);
        both += exists ? 1 : 0;
        if (at == kNoPartner) continue;
        const bool same = first.which[static_cast<std::size_t>(at)] == second.which[i];
        right += same ? 1 : 0;
        wrong += same ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0U) << what;
    EXPECT_EQ(right, both) << what;
}

TEST(OrderAlignment, OneLostAnywhereShiftsNothing) {
    for (const std::size_t lost : {std::size_t{0}, std::size_t{1}, std::size_t{10}, std::size_t{50},
                                   std::size_t{98}, std::size_t{99}}) {
        expectRight({}, {.lost = {lost}}, "lost by the other");
        expectRight({.lost = {lost}}, {}, "lost by the reference");
    }
}

TEST(OrderAlignment, SeveralLostOnBothSidesAreFound) {
    expectRight({.lost = {20, 70}}, {.lost = {40, 41}}, "as many on each side");
    expectRight({}, {.lost = {0, 1, 30, 31, 32, 90}}, "three in a row");
    std::set<std::size_t> half;
    for (std::size_t i = 30; i < 60; ++i) half.insert(i);
    expectRight({}, {.lost = half}, "a long stretch");
}

TEST(OrderAlignment, ClocksNeedNotAgree) {
    expectRight({}, {.clockNs = 11'560'000'000, .lost = {50}}, "11.56 s ahead");
    expectRight({.lost = {10}}, {.clockNs = -77'000'000, .lost = {50}}, "behind");
}

TEST(OrderAlignment, TimersMayBeNoisy) {
    expectRight({.noiseNs = 120'000}, {.noiseNs = 120'000, .lost = {25, 75}}, "120 us");
}

// Steps repeat to the nanosecond; on one clock, what ends together is the same.
TEST(OrderAlignment, StepsMayRepeatExactly) {
    expectRight({.perStep = 8}, {.perStep = 8, .lost = {41}}, "one of a step");
    expectRight({.perStep = 8, .kinds = 8}, {.perStep = 8, .kinds = 8, .lost = {41}}, "sizes");
    expectRight({.perStep = 8, .kinds = 8},
                {.perStep = 8, .kinds = 8, .clockNs = 3'333'333'333, .lost = {41}},
                "sizes, another clock");
}

TEST(OrderAlignment, SizesTellApartWhatTimesDoNot) {
    // All end at once, in steps: only the sizes say which is missing.
    const std::vector<OrderedPart> reference = {{1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0}, {6, 0}};
    const std::vector<OrderedPart> other = {{1, 0}, {2, 0}, {4, 0}, {5, 0}, {6, 0}};
    const auto found = alignOrders(reference, other);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->partners, (Partners{0, 1, 3, 4, 5}));
}

TEST(OrderAlignment, OtherCommunicationsAreNotForced) {
    const Recording first = recorded({.kinds = 2}, 1);
    Recording second = recorded({.kinds = 3}, 2);
    for (OrderedPart& part : second.parts) part.kind += 10;
    EXPECT_FALSE(alignOrders(first.parts, second.parts));
    EXPECT_FALSE(alignOrders(first.parts, {}));
}

// 200 made pairs of recordings, each with up to 3 % lost at random on both sides: 99 of 100 pairs
// are the right ones, and what has no partner is left alone.
TEST(OrderAlignment, RandomLossesAreResynchronised) {
    std::mt19937 random(99);
    std::size_t pairs = 0, right = 0, wrong = 0;
    for (unsigned run = 0; run < 200; ++run) {
        Made a, b;
        a.count = b.count = 20 + random() % 400;
        a.kinds = b.kinds = run % 2 == 0 ? 1 : 5;
        a.perStep = b.perStep = run % 4 < 2 ? 0 : 6;
        a.noiseNs = b.noiseNs = run % 3 == 0 ? 100'000 : 8'000;
        b.clockNs = a.perStep > 0 ? 0 : static_cast<std::int64_t>(random() % 1'000'000'000);
        for (Made* one : {&a, &b}) {
            for (std::size_t i = 0; i < one->count; ++i)
                if (random() % 100 < 3) one->lost.insert(i);
        }
        const Recording first = recorded(a, 2 * run), second = recorded(b, 2 * run + 1);
        const auto found = alignOrders(first.parts, second.parts);
        for (std::size_t i = 0; i < second.which.size(); ++i) {
            pairs += a.lost.contains(second.which[i]) ? 0 : 1;
            const std::ptrdiff_t at = found ? found->partners[i] : kNoPartner;
            if (at == kNoPartner) continue;
            const bool same = first.which[static_cast<std::size_t>(at)] == second.which[i];
            right += same ? 1 : 0;
            wrong += same ? 0 : 1;
        }
    }
    EXPECT_GE(static_cast<double>(right), 0.99 * static_cast<double>(pairs))
        << right << '/' << pairs;
    EXPECT_LE(static_cast<double>(wrong), 0.005 * static_cast<double>(pairs)) << wrong;
}

// A hundred thousand, with a thousand lost: a table of all pairs would have 10^10 cells.
TEST(OrderAlignment, LongOrdersAreAlignedInABand) {
    Made b;
    b.count = 100'000;
    for (std::size_t i = 50; i < b.count; i += 100) b.lost.insert(i);
    expectRight({.count = b.count}, b, "long");
}

}  // namespace
}  // namespace pleat::annotate
