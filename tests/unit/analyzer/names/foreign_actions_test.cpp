// Actions named outside our own domains: taken where they form a pipeline's work, counted where
// not.
#include "annotate/action_names.h"
#include "unit/analyzer/names/made_profile.h"

namespace pleat::annotate {
namespace {

using importers::countOf;
using testing::Lines;
using testing::MadeProfile;
using testing::taskLines;

TEST(ActionNames, AreReadInEverySpelling) {
    for (const char* name : {"2F0", "PP:2F0", "2F0, op_id = 7", "PP:2F0, seq = 3"}) {
        const auto action = actionNamed(name);
        ASSERT_TRUE(action) << name;
        EXPECT_EQ(toString(*action), "2F0");
    }
    EXPECT_EQ(toString(*actionNamed("PP:1SEND_F3")), "1SEND_F3");
    EXPECT_EQ(toString(*actionNamed("(0F7;7B3)OVERLAP_F_B")), "(0F7;7B3)OVERLAP_F_B");
    for (const char* name : {"", "F0", "2F", "2F0garbage", "PP:", "2X0", "-2F0", "1F1B"})
        EXPECT_FALSE(actionNamed(name)) << name;
}

// Two ranks of a 1F1B pipeline with two microbatches.
MadeProfile pipeline(const std::string& category, const std::string& prefix = "") {
    MadeProfile profile;
    profile.rank(1, 0).rank(2, 1);
    for (int step = 0; step < 2; ++step) {
        const double at = 1'000 * step;
        const auto run = [&](int pid, const std::string& action, double start) {
            profile.range(pid, prefix + action, at + start, 10, category);
        };
        profile.range(1, fmt::format("step {}", step), at, 900, category);
        profile.range(2, fmt::format("step {}", step), at, 900, category);
        run(1, "0F0", 0), run(1, "0F1", 10), run(1, "0B0", 40), run(1, "0B1", 60);
        run(2, "1F0", 10), run(2, "1B0", 20), run(2, "1F1", 30), run(2, "1B1", 40);
    }
    return profile;
}

TEST(ForeignActions, AreTakenInAnyDomain) {
    for (const char* category : {"app", "NVTX", "my.own.domain"}) {
        for (const char* prefix : {"", "PP:"}) {
            SCOPED_TRACE(fmt::format("{} {}", category, prefix));
            const trace::Trace trace = pipeline(category, prefix).annotated();
            EXPECT_EQ(trace.annotations().tasks.size(), 16U);
            const auto lines = taskLines(trace);
            EXPECT_EQ(lines.front(), "r0 it0 0F0 0..10");
            EXPECT_EQ(lines.back(), "r1 it1 1B1 1040..1050");
            EXPECT_EQ(trace.annotations().schedule.value().name, "1f1b");
            EXPECT_EQ(countOf(trace, "actions_recognised"), 16);
            EXPECT_EQ(countOf(trace, "actions_not_used"), 0);
        }
    }
}

// A profiler's file is one process.
TEST(ForeignActions, AreTakenAmongAProfilersAnnotations) {
    MadeProfile profile;
    profile.range(1, "0F0", 0, 10).launch(1, 1, 20, 30);
    profile.range(1, "0F0", 20, 30, "gpu_user_annotation");
    profile.range(1, "0B0", 10, 10).launch(1, 11, 50, 40);
    EXPECT_EQ(taskLines(profile.annotated()), (Lines{"r0 it0 0F0 20..50", "r0 it0 0B0 50..90"}));
}

// What only looks like actions is counted and left alone.
TEST(ForeignActions, AreHintedAtWhereTheyDoNotPairUp) {
    MadeProfile profile;
    for (int i = 0; i < 12; ++i)
        profile.range(1, fmt::format("{}F{}", i, 7 * i), 10 * i, 5, "hashes");
    const trace::Trace trace = profile.annotated();
    EXPECT_TRUE(trace.annotations().tasks.empty());
    EXPECT_EQ(countOf(trace, "actions_not_used"), 12);
    EXPECT_NE(trace.diagnostics().find("actions_not_used")->example.find("domain \"hashes\""),
              std::string::npos);
}

TEST(ForeignActions, MessagesAmongThemAreTransfers) {
    MadeProfile profile = pipeline("app");
    for (int step = 0; step < 2; ++step) {
        for (int m = 0; m < 2; ++m) {
            const double at = 1'000 * step + 10 * m;
            profile.range(1, fmt::format("0SEND_F{}", m), at + 10, 3, "app");
            profile.range(2, fmt::format("1RECV_F{}", m), at + 5, 8, "app");
        }
    }
    const trace::Trace trace = profile.annotated();
    EXPECT_EQ(trace.annotations().transfers.size(), 8U);
    EXPECT_EQ(trace.annotations().matches.size(), 4U);
}

// One domain is the program's tasks; a second that repeats a part of them is not counted again.
TEST(ForeignActions, TheMoreCompleteDomainIsTaken) {
    MadeProfile profile = pipeline("app");
    profile.range(1, "0F0", 0, 10, "copy").range(1, "0B0", 40, 10, "copy");
    const trace::Trace trace = profile.annotated();
    EXPECT_EQ(trace.annotations().tasks.size(), 16U);
    EXPECT_EQ(countOf(trace, "actions_not_used"), 2);
    EXPECT_EQ(countOf(trace, "task_twice"), 0);
}

// Tasks of our own domain are what the program says; nothing else is looked for.
TEST(ForeignActions, AreNotLookedForWhereTasksAreKnown) {
    MadeProfile profile = pipeline("pleat");
    profile.range(1, "0F0", 0, 10, "app");
    const trace::Trace trace = profile.annotated();
    EXPECT_EQ(trace.annotations().tasks.size(), 16U);
    EXPECT_EQ(countOf(trace, "actions_not_used"), 0);
}

}  // namespace
}  // namespace pleat::annotate
