// Reports as a person reads them, compared with the files under tests/golden. After an intended
// change: PLEAT_UPDATE_GOLDEN=1 build/release/bin/report_test, and read the difference.
#include "report/text_report.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "report/info_report.h"
#include "report/path_report.h"
#include "report/units.h"
#include "report/what_if_report.h"
#include "report_runs.h"
#include "trace/trace_builder.h"

namespace pleat::report {
namespace {

// Characters, for a line may hold letters of several bytes.
std::size_t charactersOf(const std::string& line) {
    std::size_t characters = 0;
    for (const char c : line) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return characters;
}

void expectGolden(const std::string& name, const std::string& text) {
    const std::string path = PLEAT_SOURCE_DIR "/tests/golden/" + name;
    if (std::getenv("PLEAT_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
    std::ostringstream golden;
    golden << std::ifstream(path).rdbuf();
    EXPECT_EQ(text, golden.str()) << path;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(charactersOf(line), kTextWidth) << line;
}

TEST(TextReport, OfAFoldedRun) {
    expectGolden("report_folded.txt", renderText(*analysis::analyseRun(testing::foldedRun(), {})));
}

TEST(TextReport, SaysThatNothingStandsOut) {
    analysis::RunAnalysis analysis;
    analysis.ranks.emplace_back();
    EXPECT_NE(renderText(analysis).find("Stragglers: none; no rank"), std::string::npos);
}

TEST(TextReport, OfATraceWithoutTasksSaysWhatIsMissing) {
    const std::string text =
        renderText(*analysis::analyseRun(trace::TraceBuilder().build().trace, {}));
    EXPECT_NE(text.find("Iteration time: none, see the notes below"), std::string::npos);
    EXPECT_NE(text.find("no_tasks"), std::string::npos);
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

TEST(WhatIfReport, WarnsOfALargeReplayErrorBeforeItPredicts) {
    analysis::WhatIf answer;
    answer.iterations.push_back({3, {100'000'000}, {90'000'000}, {80'000'000}});
    answer.measured = {100'000'000};
    answer.replay = {90'000'000};
    answer.replayError = 0.1;
    const std::string text = renderText(answer);
    const std::size_t warning = text.find("WARNING: above 5.0 %");
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
