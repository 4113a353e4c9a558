#include "timeline/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "timeline/event_colours.h"
#include "timeline/worker_pool.h"

namespace pleat::timeline {
namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

// What people see, in linear RGB: Machado, Oliveira and Fernandes, "A Physiologically-based Model
// for Simulation of Color Vision Deficiency" (2009), at full severity.
constexpr Matrix kUsual = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr Matrix kProtanopia = {{{0.152286, 1.052583, -0.204868},
                                 {0.114503, 0.786281, 0.099216},
                                 {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix kDeuteranopia = {{{0.367322, 0.860646, -0.227968},
                                   {0.280085, 0.672501, 0.047413},
                                   {-0.011820, 0.042940, 0.968881}}};

double linear(std::uint8_t part) {
    const double value = part / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

// CIE L*a*b*, white point D65.
std::array<double, 3> labOf(Rgb colour, const Matrix& seen) {
    const std::array<double, 3> rgb = {linear(colour.red), linear(colour.green),
                                       linear(colour.blue)};
    std::array<double, 3> s{};
    for (std::size_t i = 0; i < 3; ++i)
        s[i] = std::clamp(seen[i][0] * rgb[0] + seen[i][1] * rgb[1] + seen[i][2] * rgb[2], 0., 1.);
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = f((0.4124 * s[0] + 0.3576 * s[1] + 0.1805 * s[2]) / 0.9505);
    const double y = f(0.2126 * s[0] + 0.7152 * s[1] + 0.0722 * s[2]);
    const double z = f((0.0193 * s[0] + 0.1192 * s[1] + 0.9505 * s[2]) / 1.089);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

// CIE76.
double difference(Rgb a, Rgb b, const Matrix& seen) {
    const auto p = labOf(a, seen), q = labOf(b, seen);
    return std::sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                     (p[2] - q[2]) * (p[2] - q[2]));
}

// The least between any two kinds of events.
double leastDifference(const Palette& colours, const Matrix& seen) {
    const std::vector<LegendEntry> kinds = allKinds();
    double least = std::numeric_limits<double>::max();
    for (std::size_t i = 0; i < kinds.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            least = std::min(least, difference(colours.events[kinds[i].colour],
                                               colours.events[kinds[j].colour], seen));
    return least;
}

TEST(Palette, KindsAreToldApartAlsoByColourBlindPeople) {
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        EXPECT_GE(leastDifference(palette(theme), kUsual), 20);
        EXPECT_GE(leastDifference(palette(theme), kProtanopia), 11);
        EXPECT_GE(leastDifference(palette(theme), kDeuteranopia), 11);
    }
}

TEST(Palette, TheCriticalPathStandsOutFromTheBackground) {
    for (const Theme theme : {Theme::Light, Theme::Dark})
        EXPECT_GE(contrast(palette(theme).critical, palette(theme).background), 4.5);
}

TEST(Palette, TextIsReadableOnEveryColour) {
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        const Palette& colours = palette(theme);
        for (const Rgb colour : colours.events) EXPECT_GE(contrast(colour, textOn(colour)), 4.5);
        EXPECT_GE(contrast(colours.text, colours.background), 7);
        EXPECT_GE(contrast(colours.text, colours.header), 7);
    }
}

TEST(Palette, NoColourLooksLikeTheBackgroundOrAnotherOne) {
    for (const Theme theme : {Theme::Light, Theme::Dark}) {
        const Palette& colours = palette(theme);
        for (std::size_t i = 0; i < kColours; ++i) {
            EXPECT_NE(colours.events[i], colours.background);
            for (std::size_t j = 0; j < i; ++j) EXPECT_NE(colours.events[i], colours.events[j]);
        }
    }
}

TEST(WorkerPool, DoesEveryPieceOnceJobAfterJob) {
    for (const unsigned threads : {1U, 2U, 5U}) {
        WorkerPool pool(threads);
        for (std::size_t count = 0; count < 200; ++count) {
            std::vector<std::atomic<int>> done(count);
            pool.forEach(count, [&](std::size_t i) { ++done[i]; });
            for (const auto& one : done) ASSERT_EQ(one.load(), 1);
        }
    }
}

TEST(WorkerPool, SeveralThreadsMayUseItInTurn) {
    WorkerPool pool(2);
    std::atomic<std::size_t> sum{0};
    {
        std::vector<std::jthread> callers;
        for (int caller = 0; caller < 4; ++caller)
            callers.emplace_back([&] {
                for (int job = 0; job < 50; ++job)
                    pool.forEach(10, [&](std::size_t i) { sum += i; });
            });
    }
    EXPECT_EQ(sum.load(), 4U * 50U * 45U);
}

}  // namespace
}  // namespace pleat::timeline
