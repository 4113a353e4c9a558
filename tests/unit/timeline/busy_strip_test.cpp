#include "timeline/busy_strip.h"

#include <gtest/gtest.h>

namespace pleat::timeline {
namespace {

base::Interval span(std::int64_t begin, std::int64_t end) { return {{begin}, {end}}; }

using Shares = std::vector<std::uint8_t>;

TEST(BusyStrip, SharesWorkAmongThePartsItLiesIn) {
    BusyStrip strip(span(1'000, 1'400), 4);
    ASSERT_EQ(strip.bounds().size(), 5U);
    EXPECT_EQ(strip.bounds()[1].ns, 1'100);
    strip.add(span(1'050, 1'200));
    EXPECT_EQ(strip.shares(1), (Shares{127, 255, 0, 0}));
    strip.add(span(1'000, 1'100));  // of a second row
    EXPECT_EQ(strip.shares(2), (Shares{191, 127, 0, 0}));
}

TEST(BusyStrip, ShowsWhatIsLittleAndWhatHasNoLength) {
    BusyStrip strip(span(0, 4'000'000), 4);
    strip.add(span(10, 11));
    strip.add(span(2'500'000, 2'500'000));
    EXPECT_EQ(strip.shares(1), (Shares{1, 0, 1, 0}));
}

TEST(BusyStrip, KeepsWithinItsTimes) {
    BusyStrip strip(span(0, 400), 4);
    strip.add(span(-500, 50));
    strip.add(span(350, 900));
    EXPECT_EQ(strip.shares(1), (Shares{127, 0, 0, 127}));
    EXPECT_EQ(strip.shares(0), (Shares{1, 0, 0, 1}));  // of no rows there is no share
}

TEST(BusyStrip, OfNoTimeIsEmpty) {
    EXPECT_EQ(BusyStrip(span(5, 5), 3).shares(2), (Shares{0, 0, 0}));
}

}  // namespace
}  // namespace pleat::timeline
