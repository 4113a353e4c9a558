#include "timeline/viewport.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "timeline/navigation_history.h"
#include "timeline/ruler.h"
#include "trace/limits.h"

namespace pleat::timeline {
namespace {

constexpr std::int64_t kExa = 1'000'000'000'000'000'000;

// From the deepest zoom to a whole that is 10^18 ns long, at begins near 0 and far away.
std::vector<Viewport> manyViewports() {
    std::vector<Viewport> viewports;
    for (const std::int64_t begin : {std::int64_t{0}, std::int64_t{7}, kExa, -kExa})
        for (const double scale : {0.1, 0.7, 1.0, 1.5, 2.0, 1000.25, 3.3e6, 2.6e14})
            viewports.push_back({{begin}, scale, 3840});
    return viewports;
}

TEST(Viewport, EveryTimeLiesInExactlyOneColumn) {
    std::mt19937 random(1);
    for (const Viewport& viewport : manyViewports()) {
        EXPECT_EQ(timeAt(viewport, 0), viewport.begin);
        const base::Interval shown = visible(viewport);
        std::uniform_int_distribution<std::int64_t> within(shown.begin.ns, shown.end.ns - 1);
        for (int i = 0; i < 2000; ++i) {
            const base::TraceTime time{within(random)};
            const std::int32_t column = columnAt(viewport, time);
            ASSERT_GE(column, 0);
            ASSERT_LT(column, viewport.width);
            ASSERT_LE(timeAt(viewport, column), time);
            ASSERT_LT(time, timeAt(viewport, column + 1));
        }
    }
}

TEST(Viewport, APixelGoesToATimeAndBack) {
    for (const Viewport& viewport : manyViewports()) {
        for (std::int32_t column = 0; column < viewport.width; ++column) {
            const base::TraceTime time = timeAt(viewport, column);
            if (time == timeAt(viewport, column + 1)) continue;  // shorter than a nanosecond
            ASSERT_EQ(columnAt(viewport, time), column) << viewport.nsPerPixel;
            ASSERT_NEAR(pixelAt(viewport, time), column, 1 / viewport.nsPerPixel + 1e-6);
        }
    }
}

TEST(Viewport, TimesOutsideLieInTheColumnsBeside) {
    const Viewport viewport{{100}, 2, 10};
    EXPECT_EQ(columnAt(viewport, {99}), -1);
    EXPECT_EQ(columnAt(viewport, {120}), 10);
    EXPECT_EQ(columnAt(viewport, {kExa}), 10);
    EXPECT_EQ(columnAt(viewport, {-kExa}), -1);
    EXPECT_EQ(edgeAt(viewport, {-kExa}), 0);
    EXPECT_EQ(edgeAt(viewport, {kExa}), 10);
}

TEST(Viewport, WhatLastsAPixelIsAtLeastAPixelWide) {
    std::mt19937 random(2);
    for (const Viewport& viewport : manyViewports()) {
        const std::int64_t pixel = wholeNsPerPixel(viewport);
        const base::Interval shown = visible(viewport);
        std::uniform_int_distribution<std::int64_t> within(shown.begin.ns, shown.end.ns - pixel);
        for (int i = 0; i < 2000; ++i) {
            const base::TraceTime begin{within(random)};
            ASSERT_LT(edgeAt(viewport, begin), edgeAt(viewport, begin + base::Duration{pixel}));
        }
    }
}

TEST(Viewport, ANanosecondIsTenPixelsAtTheDeepestZoom) {
    const Viewport viewport{{50}, kFinestNsPerPixel, 100};
    EXPECT_EQ(edgeAt(viewport, {50}), 0);
    EXPECT_EQ(edgeAt(viewport, {51}), 10);
    EXPECT_EQ(edgeAt(viewport, {52}), 20);
    EXPECT_EQ(columnAt(viewport, {50}), 0);
}

TEST(Viewport, ZoomingKeepsTheTimeUnderTheCursor) {
    for (const Viewport& viewport : manyViewports()) {
        for (const double x : {0.0, 17.0, 1920.0, 3839.0}) {
            for (const double factor : {0.25, 0.8, 1.25}) {
                const Viewport zoomed = zoomedAround(viewport, x, factor);
                const double before = x * viewport.nsPerPixel;
                const double after =
                    static_cast<double>((zoomed.begin - viewport.begin).ns) + x * zoomed.nsPerPixel;
                EXPECT_NEAR(before, after, 0.5 + std::abs(before) * 1e-12);
            }
        }
    }
}

TEST(Viewport, PanningThereAndBackEndsWhereItBegan) {
    for (const Viewport& viewport : manyViewports())
        EXPECT_EQ(panned(panned(viewport, 100), -100), viewport);
}

TEST(Viewport, FittedShowsTheWholeAndLittleMore) {
    for (const base::Interval whole : {base::Interval{{0}, {1}},
                                       {{5}, {12}},
                                       {{0}, {1000}},
                                       {{-kExa}, {kExa}},
                                       {{kExa}, {kExa}}}) {
        const Viewport viewport = fitted(whole, 3840);
        EXPECT_EQ(viewport.begin, whole.begin);
        EXPECT_GE(visible(viewport).end, whole.end);
        const auto length = static_cast<double>(whole.length().ns);
        EXPECT_LE(viewport.nsPerPixel * 3840, std::max(length * 1.001, 3840 * kFinestNsPerPixel));
    }
}

TEST(Viewport, ClampedStaysWithinTheWhole) {
    const base::Interval whole{{1000}, {101'000}};
    EXPECT_EQ(clamped({{-50}, 1e9, 100}, whole), fitted(whole, 100));
    EXPECT_EQ(clamped({{0}, 10, 100}, whole).begin, whole.begin);
    EXPECT_EQ(visible(clamped({{500'000}, 10, 100}, whole)).end, whole.end);
    const Viewport inside{{2000}, 10, 100};
    EXPECT_EQ(clamped(inside, whole), inside);
}

TEST(Viewport, MovingAndZoomingBeyondAllTimesStaysWithinThem) {
    const base::Interval whole{{-trace::kFarthestNs}, {trace::kFarthestNs}};
    const Viewport all = fitted(whole, 1000);
    for (const double pixels : {-1e300, -1e15, 1e15, 1e300})
        EXPECT_EQ(clamped(panned(all, pixels), whole), all);
    EXPECT_EQ(clamped(zoomedAround(all, 500, 1e9), whole), all);
    EXPECT_EQ(visible(clamped(panned({{0}, 1, 1000}, 1e300), whole)).end, whole.end);
    EXPECT_EQ(clamped(panned({{0}, 1, 1000}, -1e300), whole).begin, whole.begin);
}

TEST(Ruler, StepsAreOneTwoOrFiveTimesAPowerOfTen) {
    EXPECT_EQ(niceStep(0.3).ns, 1);
    EXPECT_EQ(niceStep(3).ns, 5);
    EXPECT_EQ(niceStep(50).ns, 50);
    EXPECT_EQ(niceStep(51).ns, 100);
    EXPECT_EQ(niceStep(1.1e6).ns, 2'000'000);
    EXPECT_EQ(niceStep(1e300).ns, kExa);
}

TEST(Ruler, TicksStandAtRoundTimesWithOneUnit) {
    const std::vector<Tick> ticks = rulerTicks({{1'500'000}, 1000, 400}, {500'000}, 100);
    ASSERT_EQ(ticks.size(), 4U);
    EXPECT_EQ(ticks[0].label, "1.0 ms");
    EXPECT_EQ(ticks[0].x, 0);
    EXPECT_EQ(ticks[1].label, "1.1 ms");
    EXPECT_EQ(ticks[1].x, 100);
    EXPECT_EQ(ticks[3].label, "1.3 ms");
}

TEST(Ruler, NeighbouringTicksNeverReadTheSame) {
    for (const Viewport& viewport : manyViewports()) {
        const std::vector<Tick> ticks = rulerTicks(viewport, {0}, 120);
        for (std::size_t i = 1; i < ticks.size(); ++i) {
            EXPECT_NE(ticks[i].label, ticks[i - 1].label);
            EXPECT_GE(ticks[i].x - ticks[i - 1].x, 119);
        }
        EXPECT_LE(ticks.size(), 3840U / 119);
    }
}

TEST(Ruler, DurationsAreWrittenInTheirOwnUnit) {
    EXPECT_EQ(durationText({999}), "999 ns");
    EXPECT_EQ(durationText({1'500}), "1.500 us");
    EXPECT_EQ(durationText({-2'000'001}), "-2.000 ms");
    EXPECT_EQ(durationText({61'000'000'000}), "61.000 s");
}

TEST(NavigationHistory, GoesBackAndForth) {
    const Viewport a{{0}, 1, 10}, b{{1}, 1, 10}, c{{2}, 1, 10};
    NavigationHistory history(a);
    EXPECT_FALSE(history.undo());
    history.record(b, Motion::Jump);
    history.record(c, Motion::Jump);
    EXPECT_EQ(history.undo(), b);
    EXPECT_EQ(history.undo(), a);
    EXPECT_EQ(history.redo(), b);
    history.record(a, Motion::Jump);
    EXPECT_FALSE(history.redo());
    EXPECT_EQ(history.undo(), b);
}

TEST(NavigationHistory, MotionThatGoesOnIsOneStep) {
    const Viewport start{{0}, 1, 10};
    NavigationHistory history(start);
    for (std::int64_t i = 1; i <= 50; ++i) history.record({{i}, 1, 10}, Motion::Continues);
    history.endMotion();
    for (std::int64_t i = 51; i <= 99; ++i) history.record({{i}, 1, 10}, Motion::Continues);
    EXPECT_EQ(history.current().begin.ns, 99);
    EXPECT_EQ(history.undo()->begin.ns, 50);
    EXPECT_EQ(history.undo(), start);
    EXPECT_EQ(history.redo()->begin.ns, 50);
}

TEST(NavigationHistory, GoesWithAnotherWidthAndTheOtherPicture) {
    NavigationHistory history({{0}, 10, 100});
    history.record({{200}, 1, 100}, Motion::Jump);
    NavigationHistory later = history.shifted({5'000});
    history.fit({{0}, {1'000}}, 50);
    EXPECT_EQ(history.current(), (Viewport{{200}, 2, 50}));
    EXPECT_EQ(history.undo(), (Viewport{{0}, 20, 50}));
    EXPECT_EQ(later.current(), (Viewport{{5'200}, 1, 100}));
    EXPECT_EQ(later.undo(), (Viewport{{5'000}, 10, 100}));
    EXPECT_EQ(later.redo(), (Viewport{{5'200}, 1, 100}));
}

TEST(NavigationHistory, ForgetsTheOldestSteps) {
    NavigationHistory history({{0}, 1, 10});
    for (std::int64_t i = 1; i <= 2000; ++i) history.record({{i}, 1, 10}, Motion::Jump);
    int steps = 0;
    while (history.undo()) ++steps;
    EXPECT_EQ(steps, 499);
}

}  // namespace
}  // namespace pleat::timeline
