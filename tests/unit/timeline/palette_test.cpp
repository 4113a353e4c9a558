#include "timeline/palette.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "timeline/worker_pool.h"

namespace pleat::timeline {
namespace {

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
