// Which schedule ran, where the order of tasks does not tell one from another, or nothing tells the
// stages.
#include "unit/analyzer/names/made_profile.h"

namespace pleat::annotate {
namespace {

using importers::countOf;
using testing::MadeProfile;

// Runs each rank's actions one after another.
trace::Trace run(const std::vector<std::vector<std::string>>& ranks) {
    MadeProfile profile;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        const int pid = static_cast<int>(r) + 1;
        profile.rank(pid, static_cast<int>(r));
        for (std::size_t i = 0; i < ranks[r].size(); ++i)
            profile.range(pid, ranks[r][i], 100.0 * static_cast<double>(i + r), 100, "app");
    }
    return profile.annotated();
}

std::string titleOf(const trace::Trace& trace) {
    return scheduleTitle(trace.annotations().schedule.value());
}

TEST(ScheduleGuess, WhatFitsTheSameOrderIsNamedToo) {
    // One microbatch: every schedule is a forward and a backward.
    EXPECT_EQ(titleOf(run({{"0F0", "0B0"}, {"1F0", "1B0"}})), "gpipe, 1f1b or folded");
    // All forwards, then all backwards in the same order, one chunk: GPipe, or folded first in
    // first out.
    EXPECT_EQ(titleOf(run({{"0F0", "0F1", "0B0", "0B1"}, {"1F0", "1F1", "1B0", "1B1"}})),
              "gpipe or folded");
    // 1F1B's last stage alternates.
    EXPECT_EQ(titleOf(run({{"0F0", "0F1", "0B0", "0B1"}, {"1F0", "1B0", "1F1", "1B1"}})), "1f1b");
}

TEST(ScheduleGuess, AnOrderOfNoScheduleHasNoName) {
    const trace::Trace trace = run({{"0F1", "0F0", "0B0", "0B1"}, {"1F1", "1B0", "1F0", "1B1"}});
    EXPECT_EQ(titleOf(trace), "unknown");
    EXPECT_EQ(trace.annotations().schedule->confidence, 0);
}

// Every rank runs stage 0, and nothing says that this is all there is.
TEST(ScheduleGuess, OneStageOnSeveralRanksIsNoSchedule) {
    const trace::Trace trace = run(
        {{"0F0", "0F1", "0B0", "0B1"}, {"0F0", "0F1", "0B0", "0B1"}, {"0F0", "0F1", "0B0", "0B1"}});
    EXPECT_EQ(trace.annotations().tasks.size(), 12U);
    EXPECT_EQ(titleOf(trace), "unknown");
    EXPECT_EQ(trace.annotations().schedule->ranks, 0);
    EXPECT_EQ(trace.annotations().schedule->confidence, 0);
    EXPECT_EQ(countOf(trace, "stages_unknown"), 3);
    EXPECT_EQ(countOf(trace, "coordinates_guessed"), 0);
    const std::string& said = trace.diagnostics().find("stages_unknown")->example;
    EXPECT_NE(said.find("range_push(f\"{stage}F{microbatch}\")"), std::string::npos) << said;
    EXPECT_EQ(said.find("pleat-train"), std::string::npos);
}

// Names without a stage, as Megatron's functions are: also on one rank alone.
TEST(ScheduleGuess, NamesWithoutStagesAndMessagesAreNoSchedule) {
    MadeProfile profile;
    for (int i = 0; i < 4; ++i) profile.range(1, "forward_step", 10 * i, 10);
    for (int i = 4; i < 8; ++i) profile.range(1, "backward_step", 10 * i, 10);
    const trace::Trace trace = profile.annotated();
    EXPECT_EQ(trace.annotations().tasks.size(), 8U);
    EXPECT_EQ(titleOf(trace), "unknown");
    EXPECT_EQ(countOf(trace, "stages_unknown"), 1);
}

// A place in the layout that the program says is no guess.
TEST(ScheduleGuess, APlaceThatIsRecordedTellsTheStage) {
    MadeProfile profile;
    for (const int rank : {0, 1}) {
        profile.add(fmt::format(
            R"({{"ph":"i","cat":"pleat","name":"rank","pid":{0},"tid":{0},"ts":0,"args":{{"rank":{0},"pp":0,"dp":{0}}}}})",
            rank));
        profile.range(rank, "0F0", 0, 10, "pleat").range(rank, "0B0", 10, 10, "pleat");
    }
    const trace::Trace trace = profile.annotated();
    EXPECT_EQ(titleOf(trace), "gpipe, 1f1b or folded");
    EXPECT_EQ(countOf(trace, "stages_unknown"), 0);
}

}  // namespace
}  // namespace pleat::annotate
