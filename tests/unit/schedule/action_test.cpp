#include "schedule/action.h"

#include <gtest/gtest.h>

#include <random>

#include "schedule/placement.h"

namespace pleat::schedule {
namespace {

TEST(Action, IsSpelledAsPyTorchSpellsIt) {
    EXPECT_EQ(toString({2, ActionKind::Forward, 0, {}}), "2F0");
    EXPECT_EQ(toString({2, ActionKind::SendForward, 13, {}}), "2SEND_F13");
    EXPECT_EQ(toString({0, ActionKind::ReduceGradient, -1, {}}), "0REDUCE_GRAD");
    const Action overlap{0,
                         ActionKind::OverlapForwardBackward,
                         -1,
                         {{0, ActionKind::Forward, 7, {}}, {7, ActionKind::FullBackward, 3, {}}}};
    EXPECT_EQ(toString(overlap), "(0F7;7B3)OVERLAP_F_B");
    EXPECT_EQ(*parseAction("(0F7;7B3)OVERLAP_F_B"), overlap);
}

TEST(Action, EveryKindSurvivesPrintingAndParsing) {
    std::mt19937 random(3);
    std::uniform_int_distribution<std::int32_t> number(0, 2'000'000'000);
    for (int kind = 0; kind < static_cast<int>(ActionKind::OverlapForwardBackward); ++kind) {
        for (int round = 0; round < 50; ++round) {
            Action action{number(random), static_cast<ActionKind>(kind), number(random), {}};
            const bool bare = action.kind == ActionKind::Unshard ||
                              action.kind == ActionKind::Reshard ||
                              action.kind == ActionKind::ReduceGradient;
            if (bare) action.microbatch = -1;
            const auto parsed = parseAction(toString(action));
            ASSERT_TRUE(parsed.ok()) << toString(action);
            EXPECT_EQ(*parsed, action);
        }
    }
}

TEST(Action, WhateverFollowsOrIsMissingIsAnError) {
    for (const std::string_view text : {"",
                                        "F0",
                                        "2",
                                        "2F",
                                        "2F0garbage",
                                        "2F0 ",
                                        " 2F0",
                                        "-1F0",
                                        "2F-1",
                                        "2REDUCE_GRAD0",
                                        "2SEND_F",
                                        "2X0",
                                        "2f0",
                                        "99999999999F0",
                                        "2F99999999999",
                                        "2OVERLAP_F_B",
                                        "(0F7;7B3)",
                                        "(0F7;7B3)OVERLAP_F_B0",
                                        "(0F7)OVERLAP_F_B",
                                        "(0F7;7B3;1F1)OVERLAP_F_B",
                                        "(;)OVERLAP_F_B",
                                        "(0F7;7SEND_F3)OVERLAP_F_B",
                                        "()",
                                        "(",
                                        "2F0,2F1"}) {
        const auto parsed = parseAction(text);
        ASSERT_FALSE(parsed.ok()) << text;
        EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
    }
    EXPECT_NE(parseAction("2F0garbage").error().message.find("character 4"), std::string::npos);
}

TEST(Action, AnOverlapWithoutItsPartsIsNamedByItsKind) {
    EXPECT_EQ(toString(Action{2, ActionKind::OverlapForwardBackward, -1, {}}), "2OVERLAP_F_B");
}

TEST(Placement, LoopedAndVShapedFollowTheirDefinitions) {
    const Placement looped = Placement::looped(3, 2);
    const Placement vShaped = Placement::vShaped(3);
    for (std::int32_t stage = 0; stage < 6; ++stage) {
        EXPECT_EQ(looped.rankOf(stage), stage % 3);
        EXPECT_EQ(looped.chunkOf(stage), stage / 3);
        EXPECT_EQ(vShaped.rankOf(stage), stage < 3 ? stage : 5 - stage);
    }
    EXPECT_EQ(vShaped.chunkOf(5), 1);
    EXPECT_EQ(looped.stagesOf(1).size(), 2U);
}

}  // namespace
}  // namespace pleat::schedule
