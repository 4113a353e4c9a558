// Reports as a person reads them: whole ones against tests/golden.
#include "report/text_report.h"

#include <gtest/gtest.h>

#include "golden_text.h"
#include "report/info_report.h"
#include "report/path_report.h"
#include "report/units.h"
#include "report/what_if_report.h"
#include "report_runs.h"
#include "trace/trace_builder.h"

namespace pleat::report {
namespace {

using testing::expectGolden;

TEST(TextReport, OfAFoldedRun) {
    expectGolden("report_folded.txt", renderText(*analysis::analyseRun(testing::foldedRun(), {})));
}

TEST(TextReport, SaysThatNothingStandsOut) {
    analysis::RunAnalysis analysis;
    analysis.ranks.emplace_back();
    analysis.stragglerSearch.compared = {{analysis::SuspectKind::Rank, 4},
                                         {analysis::SuspectKind::Operation, 3}};
    EXPECT_NE(renderText(analysis).find(
                  "Stragglers: none: compared 4 ranks, 3 operations; none of them costs 1.0 % of"),
              std::string::npos);
    // Nor where pauses may hide whom others waited for.
    analysis.replay.emplace();
    analysis.replay->pauseShare = 0.42;
    const std::string text = renderText(analysis);
    EXPECT_NE(text.find("Stragglers: none found: compared 4 ranks"), std::string::npos) << text;
    EXPECT_NE(text.find("but 42.0 %"), std::string::npos) << text;
    // "None" is no answer where nothing was compared.
    analysis.stragglerSearch = {{}, "no iteration could be replayed"};
    EXPECT_NE(renderText(analysis).find("Stragglers: not looked for: no iteration"),
              std::string::npos);
}

TEST(TextReport, OfATraceWithoutTasksSaysWhatIsMissing) {
    const std::string text =
        renderText(*analysis::analyseRun(trace::TraceBuilder().build().trace, {}));
    EXPECT_NE(text.find("Iteration time: none, see the notes below"), std::string::npos);
    EXPECT_NE(text.find("nothing_to_analyse"), std::string::npos);
}

TEST(PathReport, OfAFoldedRun) {
    expectGolden("critical_path_folded.txt",
                 renderText(*analysis::analysePath(testing::foldedRun(), {})));
}

TEST(WhatIfReport, OfAFoldedRun) {
    expectGolden("whatif_folded.txt",
                 renderText(*analysis::analyseWhatIf(
                     testing::foldedRun(), {.ideal = {"stage:3"}, .scale = {{"F", 1.5}}})));
}

TEST(WhatIfReport, WarnsOfPausesBeforeItPredicts) {
    analysis::WhatIf answer;
    answer.iterations.push_back({3, {100'000'000}, {100'000'000}, {80'000'000}});
    answer.measured = answer.replay = {100'000'000};
    answer.withoutPauses = {70'000'000};
    answer.pauseShare = 0.3;
    const std::string text = renderText(answer);
    EXPECT_LT(text.find("WARNING: unexplained pauses make up 30.0 %"), text.find("Prediction:"))
        << text;
    EXPECT_NE(text.find("70.000 ms"), std::string::npos);
    answer.pauseShare = 0.05;
    EXPECT_EQ(renderText(answer).find("WARNING"), std::string::npos);
}

TEST(WhatIfReport, WarnsOfALargeReplayErrorBeforeItPredicts) {
    analysis::WhatIf answer;
    answer.iterations.push_back({3, {100'000'000}, {90'000'000}, {80'000'000}});
    answer.measured = {100'000'000};
    answer.replay = {90'000'000};
    answer.replayError = 0.1;
    const std::string text = renderText(answer);
    const std::size_t warning = text.find("WARNING: the replay error is above 5.0 %");
    ASSERT_NE(warning, std::string::npos) << text;
    EXPECT_LT(warning, text.find("Prediction:"));
    answer.replayError = 0.04;
    EXPECT_EQ(renderText(answer).find("WARNING"), std::string::npos);
}

TEST(InfoReport, OfAFoldedRun) {
    expectGolden("info_folded.txt", renderText(analysis::describeRun(testing::foldedRun())));
}

TEST(InfoReport, SaysWhenAKilledRanksEventsEnd) {
    analysis::RunInfo info;
    info.length = {5'000'000'000};
    analysis::ProcessInfo& process = info.processes.emplace_back();
    process.rank.number = 2;
    process.rank.pid = 4711;
    process.rank.end = trace::ProcessEnd::Killed;
    process.lastEvent = base::Duration{3'766'000'000};
    process.endsEarlyBy = {1'234'000'000};
    EXPECT_NE(renderText(info).find("rank 2 (pid 4711) was killed; its last event ends 1.234 s "
                                    "before the trace does"),
              std::string::npos);
}

}  // namespace
}  // namespace pleat::report
