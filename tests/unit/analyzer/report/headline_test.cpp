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
    diagnostics.add(base::Severity::Info, "open_range", "x", 2);
    diagnostics.add(base::Severity::DataLoss, "truncated", "the file ends at byte 5");
    diagnostics.add(base::Severity::DataLoss, "damaged_event", "x");
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
    EXPECT_EQ(headlineOf(run).sentence(),
              "A file is cut off: what came after the cut is missing; 1 damaged event was left out; 2 "
              "ranges have no end in the data.");
}

TEST(Headline, SaysWhatCostsMostWhereNothingIsWrong) {
    analysis::RunAnalysis run;
    analysis::RankSummary& rank = run.ranks.emplace_back();
    rank.total = {100'000'000};
    rank.compute = {60'000'000};
    rank.moving = {10'000'000};
    rank.bubble = {30'000'000};
    run.iterations.mean = {100'000'000};
    run.bubble.byCause[static_cast<std::size_t>(analysis::BubbleCause::Imbalance)] = 0.25;
    run.bubble.byCause[static_cast<std::size_t>(analysis::BubbleCause::Fill)] = 0.05;
    EXPECT_EQ(
        headlineOf(run).sentence(),
        "Idle time (imbalance) costs most: 25.0 % of all ranks' time, 25.000 of 100.000 ms an "
        "iteration.");
}

TEST(Headline, NamesAnUnexplainedShareAndAReplayThatCannotBeUsed) {
    analysis::RunAnalysis run;
    auto& unknown = run.bubble.byCause[static_cast<std::size_t>(analysis::BubbleCause::Unknown)];
    unknown = 0.099;
    EXPECT_TRUE(headlineOf(run).problems.empty());
    unknown = 0.12;
    run.replay.emplace().errorFraction = 0.06;
    const auto problems = headlineOf(run).problems;
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_NE(problems[0].find("the replay is 6.0 % off"), std::string::npos) << problems[0];
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
    diagnostics.add(base::Severity::Error, "rank_conflict", "x");
    diagnostics.add(base::Severity::Info, "rank_guessed", "x");
    EXPECT_EQ(dataProblems(diagnostics),
              (std::vector<std::string>{"figures may be wrong, see rank_conflict in the "
                                        "notes"}));
}

}  // namespace
}  // namespace pleat::report
