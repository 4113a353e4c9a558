#include "report/units.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace pleat::report {
namespace {

TEST(Units, WriteMillisecondsWithThreeDigits) {
    EXPECT_EQ(milliseconds({12'345'678}), "12.346");
    EXPECT_EQ(milliseconds({999'500}), "1.000");
    EXPECT_EQ(milliseconds({499}), "0.000");
    EXPECT_EQ(milliseconds({-1'500'000}), "-1.500");
    EXPECT_EQ(milliseconds({-1}), "0.000");
}

TEST(Units, SharesSumToAHundredPercent) {
    const std::vector<base::Duration> thirds{{1}, {1}, {1}};
    EXPECT_EQ(tenthsOfPercent(thirds), (std::vector<std::int32_t>{334, 333, 333}));
    EXPECT_EQ(tenthsOfPercent(std::vector<base::Duration>{{0}, {0}}),
              (std::vector<std::int32_t>{0, 0}));
    std::mt19937_64 random(5);
    for (int run = 0; run < 200; ++run) {
        std::vector<base::Duration> parts;
        for (int i = 0; i < 5; ++i)
            parts.push_back({static_cast<std::int64_t>(random() % 10'000'000'000)});
        const auto tenths = tenthsOfPercent(parts);
        EXPECT_EQ(std::accumulate(tenths.begin(), tenths.end(), 0), 1000);
    }
}

TEST(Units, WrapAtBlanksAndIndent) {
    const std::string text =
        wrapped("  loss    ", std::string(60, 'a') + " " + std::string(50, 'b') + " c");
    EXPECT_EQ(text,
              "  loss    " + std::string(60, 'a') + "\n          " + std::string(50, 'b') + " c\n");
    EXPECT_EQ(wrapped("x ", std::string(300, 'y')), "x " + std::string(300, 'y') + "\n");
}

TEST(Units, NotesSayWhatTheyAreOn) {
    base::Diagnostics diagnostics;
    EXPECT_EQ(renderDiagnostics(diagnostics), "");
    diagnostics.add("dropped_event", "a thing", 3);
    const std::string text = renderDiagnostics(diagnostics);
    EXPECT_EQ(text,
              "\nNotes on the data (error: figures may be wrong; loss: something missing; info: "
              "repaired or guessed)\n  loss    dropped_event (3x): a thing\n");
    EXPECT_LE(text.find('\n', 1), kTextWidth);
    EXPECT_TRUE(renderDiagnostics(diagnostics, "NEW").starts_with("\nNotes on NEW ("));
}

}  // namespace
}  // namespace pleat::report
