#include "analysis/iteration_analysis.h"

#include <gtest/gtest.h>

#include "analysis/run_analysis.h"
#include "annotate/annotate.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"

namespace pleat::analysis {
namespace {

trace::Trace foldedRun() {
    testing::SyntheticOptions options;
    options.schedule =
        *schedule::makeSchedule("folded", {.ranks = 2, .microbatches = 4, .chunks = 2, .group = 0});
    options.dp = 2;
    options.iterations = 3;
    options.forward = {{1'000}};
    options.backward = {{2'000}};
    options.extra = {{1, 2, {700}}};
    return *annotate::annotate(testing::traceOf(testing::makeSyntheticRun(options)));
}

TEST(IterationAnalysis, GivesPlacesThatSumToTheReportsFigures) {
    const trace::Trace trace = foldedRun();
    AnalysisOptions options;
    options.iterations = {{1, 1}};
    const auto run = analyseRun(trace, options);
    const auto iteration = analyseIteration(trace, 1);
    ASSERT_TRUE(run.ok() && iteration.ok());
    ASSERT_EQ(iteration->ranks.size(), run->ranks.size());
    for (std::size_t i = 0; i < run->ranks.size(); ++i) {
        const RankSummary& summary = run->ranks[i];
        const RankIteration& places = iteration->ranks[i];
        EXPECT_EQ(places.parts.compute.total(), summary.time[TimePart::Compute]);
        EXPECT_EQ(places.parts.moving.total(), summary.time[TimePart::Moving]);
        EXPECT_EQ(places.parts.waiting.total(), summary.time[TimePart::Waiting]);
        CauseDurations causes;
        for (const IdleGap& gap : places.bubble) causes += gap.causes;
        EXPECT_EQ(causes.of, summary.time.causes.of);
    }
    base::Duration path;
    for (const PathPiece& piece : iteration->path) path += piece.span.length();
    EXPECT_EQ(path, iteration->window.window.length());
    EXPECT_EQ(iteration->slack.size(), iteration->graph->nodes().size());
}

TEST(IterationAnalysis, KnowsTheScheduleThatWasMeantToRun) {
    const auto iteration = analyseIteration(foldedRun(), std::nullopt);
    ASSERT_TRUE(iteration.ok() && iteration->ideal);
    // 2 ranks x 4 microbatches x 2 chunks, forward and backward.
    EXPECT_EQ(iteration->ideal->ranks.size(), 2U);
    EXPECT_LT(iteration->ideal->makespan, iteration->window.window.length());
    EXPECT_GT(iteration->ideal->makespan.ns, 0);
}

TEST(IterationAnalysis, SaysWhyThereIsNoGraphOrNoIteration) {
    EXPECT_FALSE(analyseIteration(foldedRun(), 17).ok());
    const trace::Trace run = foldedRun();
    const trace::Trace events(run.sharedColumns(), run.ranks(), run.lanes(), {});
    EXPECT_FALSE(analyseIteration(events, std::nullopt).ok());
}

}  // namespace
}  // namespace pleat::analysis
