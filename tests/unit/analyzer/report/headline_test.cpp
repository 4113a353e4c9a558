// What stands at the head of every answer.
#include "report/headline.h"

#include <gtest/gtest.h>

#include "report/diff_report.h"
#include "report/info_report.h"
#include "report/path_report.h"
#include "report/rank_path_report.h"
#include "report/text_report.h"
#include "report/what_if_report.h"

namespace pleat::report {
namespace {

base::Diagnostics cutOff() {
    base::Diagnostics diagnostics;
    diagnostics.add("open_range", "x", 2);
    diagnostics.add("truncated", "the file ends at byte 5");
    diagnostics.add("damaged_event", "x");
    return diagnostics;
}

constexpr std::string_view kWarnings =
    "WARNING: a file is cut off: what came after the cut is missing\n"
    "WARNING: 1 damaged event was left out\n"
    "WARNING: 2 ranges have no end in the data\n";

TEST(Headline, ProblemsWithTheDataStandAtTheHeadOfEveryAnswer) {
    analysis::RunAnalysis run;
    run.diagnostics = cutOff();
    EXPECT_TRUE(renderText(run).starts_with(kWarnings)) << renderText(run);
    analysis::RunInfo info;
    info.diagnostics = cutOff();
    EXPECT_TRUE(renderText(info).starts_with(kWarnings)) << renderText(info);
    analysis::PathAnalysis path;
    path.diagnostics = cutOff();
    EXPECT_TRUE(renderText(path).starts_with(kWarnings)) << renderText(path);
    analysis::RankPath rankPath;
    rankPath.diagnostics = cutOff();
    EXPECT_TRUE(renderText(rankPath).starts_with(kWarnings)) << renderText(rankPath);
    analysis::WhatIf answer;
    answer.iterations.emplace_back();
    answer.diagnostics = cutOff();
    EXPECT_TRUE(renderText(answer).starts_with(kWarnings)) << renderText(answer);
}

TEST(Headline, IsOneSentenceWithTheProblemsFirst) {
    analysis::RunAnalysis run;
    run.diagnostics = cutOff();
    EXPECT_EQ(
        headlineOf(run).sentence(),
        "A file is cut off: what came after the cut is missing; 1 damaged event was left out; 2 "
        "ranges have no end in the data.");
}

TEST(Headline, SaysWhatIsLostMostWhereNothingIsWrong) {
    analysis::RunAnalysis run;
    analysis::RankSummary& rank = run.ranks.emplace_back();
    rank.time.parts[analysis::TimePart::Compute] = {60'000'000};
    rank.time.parts[analysis::TimePart::Moving] = {10'000'000};
    rank.time.parts[analysis::TimePart::Bubble] = {30'000'000};
    run.iterations.mean = {100'000'000};
    run.bubble.byCause[analysis::BubbleCause::Imbalance] = 0.25;
    run.bubble.byCause[analysis::BubbleCause::Fill] = 0.05;
    EXPECT_EQ(headlineOf(run).sentence(),
              "Largest losses: idle time (imbalance) 25.0 % of all ranks' time (25.000 ms per "
              "iteration), "
              "exposed communication 10.0 % (10.000 ms).");
}

TEST(Headline, NamesTheWorstStragglerFirst) {
    analysis::RunAnalysis run;
    analysis::Straggler& pauses = run.stragglers.emplace_back();
    pauses.suspect.kind = analysis::SuspectKind::Pause;
    pauses.gain = {9};
    analysis::Straggler& stage = run.stragglers.emplace_back();
    stage.suspect.kind = analysis::SuspectKind::Stage;
    stage.suspect.number = 3;
    stage.operation = "forward-compute";
    stage.timesIdeal = 1.64;
    stage.slowdown = 1.232;
    EXPECT_EQ(headlineOf(run).sentence(), "") << "what saves nothing is not the reason";
    stage.gain = {9};
    run.iterations.mean = {50};
    EXPECT_EQ(headlineOf(run).sentence(),
              "Stage 3's forward-compute takes 1.64 x its usual time; on its own this makes the "
              "iteration 23.2 % longer (fixing only this saves 18.0 %).");
    run.stragglers.back().timesIdeal = 1;
    EXPECT_EQ(
        headlineOf(run).sentence(),
        "Stage 3 makes the iteration 23.2 % longer on its own (fixing only this saves 18.0 %).");
    run.stragglers.back().suspect.kind = analysis::SuspectKind::Pause;
    run.stragglers.back().suspect.number = 5;
    EXPECT_EQ(
        headlineOf(run).sentence(),
        "Pauses of rank 5 make the iteration 23.2 % longer on their own (fixing only this saves "
        "18.0 %).");
}

TEST(Headline, PausesAreThoseOfTheMeasuredPathAsInTheSharesByKind) {
    analysis::RunAnalysis run;
    run.replay.emplace().pauseShare = 0.5;
    auto& path = run.criticalPath.emplace();
    path.length = {100};
    path.byKind = {{"forward", {91}}, {"pause", {9}}};
    EXPECT_TRUE(headlineOf(run).problems.empty());
    path.byKind = {{"forward", {80}}, {"pause", {20}}};
    EXPECT_EQ(headlineOf(run).problems.front(),
              "unexplained pauses make up 20.0 % of the critical path");
}

TEST(Headline, NamesAnUnexplainedShareAndAReplayThatCannotBeUsed) {
    analysis::RunAnalysis run;
    auto& unknown = run.bubble.byCause[analysis::BubbleCause::Unknown];
    unknown = 0.099;
    EXPECT_TRUE(headlineOf(run).problems.empty());
    unknown = 0.12;
    run.replay.emplace().errorFraction = 0.06;
    const auto problems = headlineOf(run).problems;
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_NE(problems[0].find("the replay differs from the measured iterations by 6.0 %"),
              std::string::npos)
        << problems[0];
    EXPECT_EQ(problems[1], "12.0 % of all ranks' time is idle for no known cause");
    const std::string text = renderText(run);
    EXPECT_LT(text.find("12.0 % of all ranks"), text.find("Iteration time"));
}

TEST(Headline, SaysWhichOfTwoRunsIsDamaged) {
    analysis::Comparison comparison;
    comparison.other.diagnostics = cutOff();
    EXPECT_EQ(headlineOf(comparison).problems.front(),
              "NEW: a file is cut off: what came after the cut is missing");
}

TEST(Headline, CodesWithoutWordsOfTheirOwnAreNamedWhereTheyAreErrors) {
    base::Diagnostics diagnostics;
    diagnostics.add("rank_conflict", "x");
    diagnostics.add("rank_guessed", "x");
    EXPECT_EQ(dataProblems(diagnostics),
              (std::vector<std::string>{"figures may be wrong, see rank_conflict in the "
                                        "notes"}));
}

}  // namespace
}  // namespace pleat::report
