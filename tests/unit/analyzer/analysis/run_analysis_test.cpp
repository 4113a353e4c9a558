// Whole runs, made as events, annotated, and analysed: what must hold of any of them, and what a
// known fault must show.
#include "analysis/run_analysis.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>

#include "analysis/path_analysis.h"
#include "analysis/run_info.h"
#include "annotate/annotate.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"
#include "trace/trace_builder.h"

namespace pleat::analysis {
namespace {

using testing::SyntheticOptions;

SyntheticOptions optionsFor(std::string_view name, schedule::GeneratorOptions layout) {
    SyntheticOptions options;
    options.schedule = *schedule::makeSchedule(name, layout);
    options.iterations = 3;
    options.forward = {base::Duration{1'000}};
    options.backward = {base::Duration{2'000}};
    return options;
}

trace::Trace annotated(const SyntheticOptions& options) {
    return *annotate::annotate(testing::traceOf(testing::makeSyntheticRun(options)));
}

RunAnalysis analysed(const SyntheticOptions& options) {
    return *analyseRun(annotated(options), {});
}

template <class Key>
base::Duration sumOf(const std::map<Key, base::Duration>& parts) {
    base::Duration sum;
    for (const auto& [key, duration] : parts) sum += duration;
    return sum;
}

void expectConsistent(const RunAnalysis& analysis) {
    for (const RankSummary& rank : analysis.ranks) {
        EXPECT_EQ(rank.time.total(), analysis.iterations.mean);
        EXPECT_EQ(rank.time.causes.total(), rank.time[TimePart::Bubble]);
        for (const base::Duration part : rank.time.causes.of) EXPECT_GE(part.ns, 0);
        for (const base::Duration part : rank.time.parts.of) EXPECT_GE(part.ns, 0);
        EXPECT_LE(rank.time.hidden, rank.time[TimePart::Compute]);
    }
    ASSERT_TRUE(analysis.criticalPath && analysis.replay && analysis.bubble.fraction);
    EXPECT_EQ(analysis.criticalPath->length, analysis.iterations.mean);
    EXPECT_EQ(sumOf(analysis.criticalPath->byKind), analysis.criticalPath->length);
    EXPECT_EQ(sumOf(analysis.criticalPath->byRank), analysis.criticalPath->length);
    EXPECT_EQ(sumOf(analysis.criticalPath->byStage), analysis.criticalPath->length);
    EXPECT_LE(analysis.replay->errorFraction, 0.01);
    EXPECT_NEAR(analysis.bubble.byCause.total(), *analysis.bubble.fraction, 1e-12);
}

struct Named {
    std::string_view name;
    schedule::GeneratorOptions layout;
};

std::vector<Named> layouts() {
    return {{"gpipe", {2, 4, 1, 0}},       {"gpipe", {4, 4, 1, 0}},      {"1f1b", {2, 4, 1, 0}},
            {"1f1b", {4, 8, 1, 0}},        {"folded", {2, 4, 2, 0}},     {"folded", {2, 2, 3, 0}},
            {"interleaved", {2, 4, 2, 0}}, {"interleaved", {4, 4, 2, 0}}};
}

TEST(RunAnalysis, HasFillAndDrainAloneInABalancedRunWithoutCosts) {
    for (const Named& named : layouts()) {
        SCOPED_TRACE(named.name);
        SyntheticOptions options = optionsFor(named.name, named.layout);
        options.forward = {base::Duration{6'000}};
        options.backward = {base::Duration{12'000}};
        options.link = options.sync = options.data = options.optimizer = {};
        const RunAnalysis analysis = analysed(options);
        expectConsistent(analysis);
        ASSERT_TRUE(analysis.bubble.theoreticalFraction);
        EXPECT_DOUBLE_EQ(*analysis.bubble.fraction, *analysis.bubble.theoreticalFraction);
        const auto& causes = analysis.bubble.byCause;
        EXPECT_DOUBLE_EQ(causes[BubbleCause::Fill] + causes[BubbleCause::Drain],
                         *analysis.bubble.fraction);
    }
}

TEST(RunAnalysis, IsConsistentForRandomRuns) {
    std::mt19937 random(3);
    const auto number = [&](std::int64_t bound) {
        return base::Duration{static_cast<std::int64_t>(random()) % bound};
    };
    int runs = 0;
    for (int round = 0; round < 13; ++round) {
        for (const std::int32_t dp : {1, 2}) {
            for (const Named& named : layouts()) {
                SyntheticOptions options = optionsFor(named.name, named.layout);
                options.dp = dp;
                options.forward.clear();
                options.backward.clear();
                for (std::int32_t s = 0; s < options.schedule.placement.stages(); ++s) {
                    options.forward.push_back(base::Duration{500} + number(1'500));
                    options.backward.push_back(base::Duration{500} + number(3'000));
                }
                options.extra = {{static_cast<std::int32_t>(number(dp * named.layout.ranks).ns),
                                  static_cast<std::int32_t>(number(2).ns), number(9'000)}};
                options.link = number(400);
                options.sync = number(6'000);
                options.data = number(900);
                options.optimizer = number(900);
                options.skew = number(50);
                SCOPED_TRACE(::testing::Message()
                             << named.name << " dp " << dp << " round " << round);
                expectConsistent(analysed(options));
                ++runs;
            }
        }
    }
    EXPECT_GE(runs, 200);
}

TEST(RunAnalysis, ShowsTheFoldedSchedulesSyncHiddenButForChunkZero) {
    SyntheticOptions options = optionsFor("folded", {2, 8, 2, 0});
    options.dp = 2;
    options.sync = {10'000};
    const RunAnalysis folded = analysed(options);
    ASSERT_EQ(folded.gradientSync.size(), 2u);
    EXPECT_LT(*folded.gradientSync[0].figures.overlapFraction(), 0.1);
    EXPECT_GT(*folded.gradientSync[1].figures.overlapFraction(), 0.9);

    SyntheticOptions other = options;
    other.schedule = *schedule::makeSchedule("interleaved", {2, 8, 2, 0});
    const RunAnalysis interleaved = analysed(other);
    ASSERT_EQ(interleaved.gradientSync.size(), 2u);
    EXPECT_GT(*folded.gradientSync[1].figures.overlapFraction(),
              *interleaved.gradientSync[1].figures.overlapFraction());
}

TEST(RunAnalysis, NamesTheRankACollectiveWaitedFor) {
    SyntheticOptions options = optionsFor("1f1b", {2, 4, 1, 0});
    options.dp = 2;
    for (std::int32_t m = 0; m < 4; ++m) options.extra.push_back({3, m, base::Duration{4'000}});
    const RunAnalysis analysis = analysed(options);
    ASSERT_EQ(analysis.ranks.size(), 4u);
    ASSERT_FALSE(analysis.ranks[1].waits.empty());
    EXPECT_EQ(analysis.ranks[1].waits[0].lateRank, 3);
    EXPECT_EQ(analysis.ranks[1].waits[0].dimension, trace::Dimension::Dp);
}

// Who came last is not said where clocks may be as wrong as the waiting is long.
TEST(RunAnalysis, NamesNobodyWhereClocksMayBeWrongByMore) {
    SyntheticOptions options = optionsFor("1f1b", {2, 4, 1, 0});
    options.dp = 2;
    for (std::int32_t m = 0; m < 4; ++m) options.extra.push_back({3, m, base::Duration{4'000}});
    const std::int64_t late_ns = analysed(options).ranks[1].waits[0].duration.ns;
    for (const bool unsure : {false, true}) {
        base::IdVector<trace::RankTag, trace::Trace::Clock> clocks;
        for (std::int32_t i = 0; i < 4; ++i) clocks.push({i, base::Duration{late_ns / 3}});
        if (unsure) clocks[trace::RankId(3)].bound = base::Duration{late_ns};
        const auto trace = annotated(options).withClocks(clocks);
        const RunAnalysis analysis = *analyseRun(trace, {});
        ASSERT_FALSE(analysis.ranks[1].waits.empty());
        EXPECT_EQ(analysis.ranks[1].waits[0].lateRank, unsure ? -1 : 3);
        EXPECT_EQ(analysis.ranks[1].time[TimePart::Waiting],
                  analysed(options).ranks[1].time[TimePart::Waiting]);
        EXPECT_EQ(analysis.diagnostics.find("late_peer_unsure") != nullptr, unsure);
    }
}

TEST(RunAnalysis, SaysWhatIsMissingInsteadOfFailing) {
    const RunAnalysis analysis = *analyseRun(trace::TraceBuilder().build().trace, {});
    EXPECT_TRUE(analysis.ranks.empty());
    EXPECT_FALSE(analysis.bubble.fraction);
    ASSERT_NE(analysis.diagnostics.find("nothing_to_analyse"), nullptr);
    EXPECT_EQ(analysis.diagnostics.find("nothing_to_analyse")->severity, base::Severity::Error);
}

TEST(RunAnalysis, RefusesIterationsThatWereNotRecorded) {
    const trace::Trace trace = annotated(optionsFor("1f1b", {2, 4, 1, 0}));
    EXPECT_EQ(analyseRun(trace, {{{1, 1}}})->iterations.indices, (std::vector<std::int32_t>{1}));
    const auto outside = analyseRun(trace, {{{5, 9}}});
    ASSERT_FALSE(outside);
    EXPECT_EQ(outside.error().code, base::ErrorCode::Usage);
}

TEST(PathAnalysis, MergesPiecesWithoutGapsAndListsSlack) {
    const trace::Trace trace = annotated(optionsFor("folded", {2, 4, 2, 0}));
    const auto path = analysePath(trace, {1});
    ASSERT_TRUE(path) << path.error().message;
    EXPECT_EQ(path->iteration, 1);
    base::Duration reached;
    for (const PathRun& run : path->runs) {
        EXPECT_EQ(run.offset, reached);
        reached += run.length;
    }
    EXPECT_EQ(reached, path->summary.length);
    ASSERT_FALSE(path->tasks.empty());
    for (std::size_t i = 1; i < path->tasks.size(); ++i)
        EXPECT_LE(path->tasks[i - 1].slack, path->tasks[i].slack);
    EXPECT_GE(path->tasks.front().slack.ns, 0);
    EXPECT_FALSE(analysePath(trace, {9}));
}

TEST(RunInfo, CountsWhatTheTraceHolds) {
    SyntheticOptions options = optionsFor("folded", {2, 4, 2, 0});
    const RunInfo info = describeRun(annotated(options));
    EXPECT_EQ(info.tasks, 3 * 2 * 4 * 4);  // iterations x (F and B) x microbatches x stages
    EXPECT_EQ(info.completeIterations, (std::vector<std::int32_t>{0, 1, 2}));
    ASSERT_EQ(info.processes.size(), 2u);
    EXPECT_EQ(info.processes[0].tasks + info.processes[1].tasks, info.tasks);
    EXPECT_EQ(info.processes[0].iterations, 3);
    ASSERT_TRUE(info.schedule);
    EXPECT_EQ(info.schedule->name, "folded");
}

}  // namespace
}  // namespace pleat::analysis
