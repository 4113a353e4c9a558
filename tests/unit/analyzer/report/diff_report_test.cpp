// What changed between two runs as a person reads it: whole reports against tests/golden, and the
// first sentence for every verdict.
#include "report/diff_report.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "golden_text.h"
#include "report_runs.h"

namespace pleat::report {
namespace {

using testing::expectGolden;
using testing::expectNoLongLine;

TEST(DiffReport, OfAChangedRunFitsAScreen) {
    const testing::BeforeAndAfter runs = testing::changedRun();
    const std::string text = renderText(analysis::compareRuns(runs.before, runs.after));
    expectGolden("diff_folded.txt", text);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 70);
}

TEST(DiffReport, OfAChangedRunAsMarkdown) {
    const testing::BeforeAndAfter runs = testing::changedRun();
    expectGolden("diff_folded.md", renderMarkdown(analysis::compareRuns(runs.before, runs.after)),
                 std::string::npos);
}

std::string firstSentence(const analysis::Comparison& comparison) {
    std::string text = renderText(comparison);
    text = text.substr(0, text.find("\n\n"));
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

// The iteration alone, with a given length in each iteration.
analysis::RunSeries iterationsOf(const std::vector<double>& lengths) {
    analysis::RunSeries run;
    run.iterations.indices.resize(lengths.size());
    run.ranks.resize(1);
    run.series[{analysis::Level::Iteration, -1, "iteration", "time"}] = {
        analysis::Unit::Nanoseconds, true, lengths};
    return run;
}

TEST(DiffReport, TheFirstSentenceAnswers) {
    const auto said = [](const std::vector<double>& base, const std::vector<double>& other) {
        return firstSentence(analysis::compareRuns(iterationsOf(base), iterationsOf(other)));
    };
    const std::vector<double> ten(6, 10e6), twelve(6, 12e6), near(6, 10.02e6);
    EXPECT_EQ(
        said(ten, twelve),
        "NEW is slower: +2.000 ms (+20.0 %), 10.000 -> 12.000 ms in the median, 95 % interval "
        "+2.000 to +2.000 ms.");
    EXPECT_EQ(
        said(twelve, ten),
        "NEW is faster: -2.000 ms (-16.7 %), 12.000 -> 10.000 ms in the median, 95 % interval "
        "-2.000 to -2.000 ms.");
    EXPECT_EQ(said(ten, near),
              "NEW is as fast as BASE: +0.020 ms (+0.2 %), 10.000 -> 10.020 ms in the median, 95 % "
              "interval +0.020 to +0.020 ms, which is within 1.0 %.");
    EXPECT_EQ(said(ten, {12e6}),
              "Cannot tell whether NEW is faster: BASE has 6 iterations and NEW 1, and 5 of each "
              "are the least that can tell. As measured: +2.000 ms (+20.0 %), 10.000 -> 12.000 ms "
              "in the median.");
    const std::string noise = said({8e6, 9e6, 10e6, 11e6, 12e6}, {8e6, 9e6, 10.5e6, 11e6, 13e6});
    EXPECT_TRUE(noise.starts_with("Cannot tell whether NEW is faster: +0.500 ms (+5.0 %)"))
        << noise;
    EXPECT_NE(noise.find("holds both zero and more than 1.0 %; record more iterations."),
              std::string::npos)
        << noise;
}

TEST(DiffReport, OfARunAndItselfListsNothing) {
    const analysis::RunSeries run = testing::changedRun().before;
    const std::string text = renderText(analysis::compareRuns(run, run));
    EXPECT_TRUE(text.starts_with("BASE and NEW are the same in every figure, ")) << text;
    EXPECT_EQ(text.find("by chance"), std::string::npos) << text;
    EXPECT_EQ(text.find("What changed"), std::string::npos) << text;
    EXPECT_EQ(text.find("Only in"), std::string::npos) << text;
}

// A part may go far against the whole: it is named too.
TEST(DiffReport, NamesWhatWentTheOtherWay) {
    analysis::Comparison comparison =
        analysis::compareRuns(testing::changedRun().before, testing::changedRun().after);
    comparison.reasons = {0};
    comparison.against = 1;
    comparison.parts[1].other = comparison.parts[1].base + base::Duration{7'000'000};
    EXPECT_NE(renderText(comparison).find(" against moving +7.000 ms."), std::string::npos)
        << renderText(comparison);
}

TEST(DiffReport, WhatOneRunHasAloneIsNamedOnce) {
    testing::SyntheticOptions small = testing::foldedOptions();
    small.dp = 1;
    const auto series = analysis::seriesOf(testing::tracedRun(small), {});
    ASSERT_TRUE(series);
    const std::string text =
        renderText(analysis::compareRuns(testing::changedRun().before, *series));
    EXPECT_NE(text.find("Only in BASE: rank 2, rank 3, dp all_reduce\n"), std::string::npos)
        << text;
    EXPECT_NE(text.find("layout_differs"), std::string::npos) << text;
    EXPECT_TRUE(text.starts_with("Cannot tell whether NEW, on other ranks, is faster: ")) << text;
}

TEST(DiffReport, LongNamesAndMarkupStayReadable) {
    const std::string name = "void kernel<float, 4>(a | b) " + std::string(100, 'x');
    analysis::RunSeries base = iterationsOf(std::vector<double>(6, 10e6));
    analysis::RunSeries other = base;
    const analysis::SeriesKey key{analysis::Level::Kernel, -1, name, "time"};
    base.series[key] = {analysis::Unit::Nanoseconds, true, std::vector<double>(6, 1e6)};
    other.series[key] = {analysis::Unit::Nanoseconds, true, std::vector<double>(6, 2e6)};
    const analysis::Comparison comparison = analysis::compareRuns(base, other);
    expectNoLongLine(renderText(comparison));
    EXPECT_NE(renderMarkdown(comparison).find("void kernel\\<float, 4>(a \\| b)"),
              std::string::npos);
}

}  // namespace
}  // namespace pleat::report
