#include "schedule/generators.h"

#include <gtest/gtest.h>

#include <string>

#include "schedule/lower.h"
#include "schedule/schedule_csv.h"
#include "schedule/validate.h"

namespace pleat::schedule {
namespace {

std::string text(std::string_view name, const GeneratorOptions& options) {
    const auto schedule = makeSchedule(name, options);
    return schedule ? writeCsv(*schedule) : schedule.error().message;
}

TEST(Generators, GpipeRunsAllForwardsThenAllBackwards) {
    EXPECT_EQ(text("gpipe", {.ranks = 2, .microbatches = 2}),
              "0F0,0F1,0B0,0B1,0REDUCE_GRAD\n"
              "1F0,1F1,1B0,1B1,1REDUCE_GRAD\n");
}

TEST(Generators, OneForwardOneBackwardAlternatesAfterItsWarmUp) {
    EXPECT_EQ(text("1f1b", {.ranks = 3, .microbatches = 4}),
              "0F0,0F1,0F2,0B0,0F3,0B1,0B2,0B3,0REDUCE_GRAD\n"
              "1F0,1F1,1B0,1F2,1B1,1F3,1B2,1B3,1REDUCE_GRAD\n"
              "2F0,2B0,2F1,2B1,2F2,2B2,2F3,2B3,2REDUCE_GRAD\n");
    EXPECT_EQ(text("1f1b", {.ranks = 3, .microbatches = 1}),
              "0F0,0B0,0REDUCE_GRAD\n1F0,1B0,1REDUCE_GRAD\n2F0,2B0,2REDUCE_GRAD\n");
}

// Megatron's order for p = 2, v = 2, M = 2: warm-up 2(p-r-1) + (v-1)g forwards.
TEST(Generators, InterleavedTakesTheLastChunkFirstOnTheWayBack) {
    EXPECT_EQ(text("interleaved", {.ranks = 2, .microbatches = 2, .chunks = 2}),
              "0F0,0F1,2F0,2F1,2B0,2B1,2REDUCE_GRAD,0B0,0B1,0REDUCE_GRAD\n"
              "1F0,1F1,3F0,3B0,3F1,3B1,3REDUCE_GRAD,1B0,1B1,1REDUCE_GRAD\n");
}

TEST(Generators, FoldedRunsAChunkForAllMicrobatchesLastInFirstOut) {
    EXPECT_EQ(text("folded", {.ranks = 2, .microbatches = 2, .chunks = 2}),
              "0F0,0F1,2F0,2F1,2B1,2B0,2REDUCE_GRAD,0B1,0B0,0REDUCE_GRAD\n"
              "1F0,1F1,3F0,3F1,3B1,3B0,3REDUCE_GRAD,1B1,1B0,1REDUCE_GRAD\n");
}

TEST(Generators, WhatAScheduleCannotServeIsOneLineThatSaysWhatToUse) {
    const auto refused = [](std::string_view name, const GeneratorOptions& options) {
        const auto made = makeSchedule(name, options);
        EXPECT_FALSE(made.ok()) << name;
        EXPECT_EQ(made.error().code, base::ErrorCode::Usage);
        return made.error().message;
    };
    EXPECT_NE(refused("fodled", {}).find("did you mean folded?"), std::string::npos);
    EXPECT_NE(refused("gpipe", {.ranks = 2, .microbatches = 2, .chunks = 2}).find("folded"),
              std::string::npos);
    EXPECT_NE(refused("1f1b", {.ranks = 2, .microbatches = 2, .chunks = 2}).find("interleaved"),
              std::string::npos);
    EXPECT_NE(refused("interleaved", {.ranks = 4, .microbatches = 2, .chunks = 2}).find("2 < 4"),
              std::string::npos);
    EXPECT_NE(refused("interleaved", {.ranks = 4, .microbatches = 6, .chunks = 2}).find("multiple"),
              std::string::npos);
    refused("interleaved", {.ranks = 4, .microbatches = 8, .chunks = 2, .group = 2});
    refused("folded", {.ranks = 4, .microbatches = 8, .chunks = 2, .group = 4});
    refused("folded", {.ranks = 0});
    refused("folded", {.ranks = 1'000'000, .microbatches = 1'000'000, .chunks = 1'000});
}

TEST(Generators, EveryScheduleIsValidBeforeAndAfterLowering) {
    for (const std::string_view name : scheduleNames()) {
        for (std::int32_t ranks = 1; ranks <= 5; ++ranks) {
            for (std::int32_t chunks = 1; chunks <= 3; ++chunks) {
                for (std::int32_t microbatches = 1; microbatches <= 11; ++microbatches) {
                    const auto made = makeSchedule(name, {ranks, microbatches, chunks, 0});
                    if (!made) continue;
                    const auto lowered = lower(*made);
                    ASSERT_TRUE(lowered.ok()) << name << " " << ranks << " " << chunks << " "
                                              << microbatches << ": " << lowered.error().message;
                    const auto valid = validate(*lowered);
                    EXPECT_TRUE(valid.ok()) << (valid ? "" : valid.error().message);
                }
            }
        }
    }
}

}  // namespace
}  // namespace pleat::schedule
