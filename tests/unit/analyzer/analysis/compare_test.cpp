// Two runs side by side: made runs that differ in one known thing, noise, runs that hardly compare,
// and what must hold for any pair.
#include "analysis/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "annotate/annotate.h"
#include "device_trace.h"
#include "schedule/generators.h"
#include "support/synthetic_run.h"
#include "trace/trace_builder.h"

namespace pleat::analysis {
namespace {

using testing::DeviceTrace;
using testing::SyntheticOptions;

// Two stages, one microbatch: F0, message, F1, B1, message, B0, in a row.
SyntheticOptions twoStages(std::int32_t iterations = 6) {
    SyntheticOptions options;
    options.schedule = *schedule::makeSchedule("gpipe", {2, 1, 1, 0});
    options.iterations = iterations;
    options.forward = {{1'000'000}, {1'000'000}};
    options.backward = {{2'000'000}};
    options.link = {100'000};
    return options;
}

RunSeries seriesOfTrace(const trace::Trace& trace, const AnalysisOptions& options = {}) {
    auto series = seriesOf(trace, options);
    EXPECT_TRUE(series) << series.error().message;
    return series ? *series : RunSeries{};
}

RunSeries seriesOfRun(const SyntheticOptions& options) {
    return seriesOfTrace(*annotate::annotate(traceOf(makeSyntheticRun(options))));
}

Comparison compared(const SyntheticOptions& base, const SyntheticOptions& other) {
    return compareRuns(seriesOfRun(base), seriesOfRun(other));
}

const ComparedSeries& rowOf(const Comparison& comparison, Level level, std::string_view subject,
                            std::string_view quantity) {
    for (const ComparedSeries& row : comparison.rows) {
        if (row.key.level == level && row.key.subject == subject && row.key.quantity == quantity)
            return row;
    }
    ADD_FAILURE() << "no row " << subject << " " << quantity;
    return comparison.rows.front();
}

std::vector<std::string> changedIn(const Comparison& comparison, Level level) {
    std::vector<std::string> names;
    for (const ComparedSeries& row : comparison.rows) {
        if (row.key.level == level && isChange(row.verdict))
            names.push_back(row.key.subject + " " + row.key.quantity + " " +
                            std::string(toString(row.verdict)));
    }
    return names;
}

std::int64_t partOf(const Comparison& comparison, std::string_view name) {
    for (const MeanPart& part : comparison.parts) {
        if (part.name == name) return part.difference().ns;
    }
    ADD_FAILURE() << "no part " << name;
    return 0;
}

void expectSumsAndNumbers(const Comparison& comparison) {
    MeanPart sum;
    for (const MeanPart& part : comparison.parts) {
        sum.base += part.base;
        sum.other += part.other;
    }
    EXPECT_EQ(sum.base, comparison.mean.base);
    EXPECT_EQ(sum.other, comparison.mean.other);
    EXPECT_EQ(comparison.mean.base, comparison.base.iterations.mean);
    EXPECT_EQ(comparison.mean.other, comparison.other.iterations.mean);
    std::size_t rows = 0;
    for (const std::size_t count : comparison.count) rows += count;
    EXPECT_EQ(rows, comparison.rows.size());
    for (const ComparedSeries& row : comparison.rows) {
        for (const auto& number : {row.base, row.other, row.difference, row.ratio})
            EXPECT_TRUE(std::isfinite(number.value_or(0))) << row.key.subject;
        EXPECT_TRUE(row.base || row.other) << row.key.subject;
        EXPECT_EQ(row.difference.has_value(), row.base && row.other) << row.key.subject;
    }
}

TEST(Compare, ASlowerStageIsFoundAndNoOther) {
    SyntheticOptions slow = twoStages();
    slow.forward[1] = {1'200'000};
    const Comparison result = compared(twoStages(), slow);
    EXPECT_EQ(result.iteration.verdict, Verdict::Slower);
    EXPECT_EQ(result.iteration.difference, 200'000);
    EXPECT_EQ(result.iteration.ci95, std::pair(200'000.0, 200'000.0));
    EXPECT_EQ(changedIn(result, Level::Stage), std::vector<std::string>{"stage 1 F slower"});
    EXPECT_EQ(changedIn(result, Level::Microbatch),
              std::vector<std::string>{"microbatch 0 F slower"});
    EXPECT_EQ(changedIn(result, Level::Rank),
              (std::vector<std::string>{"rank 0 bubble slower", "rank 1 compute slower"}));
    EXPECT_TRUE(changedIn(result, Level::Transfer).empty());
    // Rank 1 computes 0.2 ms longer, rank 0 idles as much longer: half of it each in the mean.
    EXPECT_EQ(result.mean.difference().ns, 200'000);
    EXPECT_EQ(partOf(result, "compute"), 100'000);
    ASSERT_TRUE(result.mostChanged);
    EXPECT_EQ(result.rows[*result.mostChanged].key.subject, "stage 1");
    EXPECT_DOUBLE_EQ(*result.rows[*result.mostChanged].ratio, 1.2);
    ASSERT_FALSE(result.reasons.empty());
    EXPECT_EQ(result.parts[result.reasons.front()].name, "compute");
    EXPECT_TRUE(result.diagnostics.empty());
    expectSumsAndNumbers(result);
}

TEST(Compare, ASlowerLinkIsFoundAndNoStage) {
    SyntheticOptions slow = twoStages();
    slow.link = {600'000};
    const Comparison result = compared(twoStages(), slow);
    EXPECT_EQ(result.iteration.verdict, Verdict::Slower);
    EXPECT_EQ(result.iteration.difference, 1'000'000) << "two messages";
    EXPECT_TRUE(changedIn(result, Level::Stage).empty());
    EXPECT_EQ(rowOf(result, Level::Accounting, "all ranks", "compute").verdict, Verdict::Same);
    EXPECT_EQ(partOf(result, "compute"), 0);
    EXPECT_EQ(rowOf(result, Level::Transfer, "pp send", "moving").difference, 500'000)
        << "one sends forward, one backward";
    EXPECT_EQ(rowOf(result, Level::Transfer, "pp send", "count").verdict, Verdict::Same);
    EXPECT_FALSE(result.mostChanged);
    expectSumsAndNumbers(result);
}

TEST(Compare, AFasterRunIsTheOppositeOfASlowerOne) {
    SyntheticOptions fast = twoStages();
    fast.backward = {{1'500'000}};
    const Comparison result = compared(twoStages(), fast);
    EXPECT_EQ(result.iteration.verdict, Verdict::Faster);
    EXPECT_EQ(result.iteration.difference, -1'000'000);
    EXPECT_EQ(changedIn(result, Level::Stage),
              (std::vector<std::string>{"stage 0 B faster", "stage 1 B faster"}));
}

// Every iteration's microbatches take up to `spread` longer, by chance.
SyntheticOptions noisy(std::uint64_t seed, std::int64_t spread, std::int32_t iterations = 12) {
    SyntheticOptions options = twoStages(iterations);
    options.schedule = *schedule::makeSchedule("1f1b", {2, 4, 1, 0});
    std::mt19937_64 generator(seed);
    for (std::int32_t iteration = 0; iteration < iterations; ++iteration) {
        for (std::int32_t rank = 0; rank < 2; ++rank) {
            for (std::int32_t microbatch = 0; microbatch < 4; ++microbatch) {
                const auto extra = static_cast<std::int64_t>(generator() % 1'000'000) * spread;
                options.extra.push_back({rank, microbatch, {extra / 1'000'000}, iteration});
            }
        }
    }
    return options;
}

TEST(Compare, NoiseAloneIsNoChange) {
    int changed = 0, told = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Comparison result = compared(noisy(2 * seed, 900'000), noisy(2 * seed + 1, 900'000));
        changed += isChange(result.iteration.verdict) ? 1 : 0;
        told += result.iteration.verdict == Verdict::Same ? 1 : 0;
    }
    EXPECT_LE(changed, 4) << "two of 40 are to be expected of intervals of 95 %";
    EXPECT_LE(told, 10) << "noise of a tenth of a task cannot show that 1 % is the same";
    const Comparison quiet = compared(noisy(1, 9'000), noisy(2, 9'000));
    EXPECT_EQ(quiet.iteration.verdict, Verdict::Same);
    EXPECT_EQ(quiet.changed(), 0U);
}

TEST(Compare, AChangeIsFoundUnderNoise) {
    SyntheticOptions slow = noisy(2, 300'000);
    slow.forward[1] = {1'400'000};
    const Comparison result = compared(noisy(1, 300'000), slow);
    EXPECT_EQ(result.iteration.verdict, Verdict::Slower);
    EXPECT_EQ(changedIn(result, Level::Stage), std::vector<std::string>{"stage 1 F slower"});
    const ComparedSeries& stage = rowOf(result, Level::Stage, "stage 1", "F");
    EXPECT_LE(stage.ci95->first, 400'000);
    EXPECT_GE(stage.ci95->second, 400'000);
}

TEST(Compare, ARunDoesNotDifferFromItself) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Comparison result = compared(noisy(seed, 900'000), noisy(seed, 900'000));
        EXPECT_EQ(result.of(Verdict::Same), result.rows.size());
        for (const ComparedSeries& row : result.rows) {
            EXPECT_EQ(row.difference, 0) << row.key.subject;
            EXPECT_EQ(row.ci95, std::pair(0.0, 0.0)) << row.key.subject;
        }
        for (const MeanPart& part : result.parts) EXPECT_EQ(part.difference().ns, 0) << part.name;
        EXPECT_TRUE(result.reasons.empty());
        EXPECT_TRUE(result.diagnostics.empty());
        expectSumsAndNumbers(result);
    }
}

Verdict opposite(Verdict verdict) {
    switch (verdict) {
        case Verdict::Faster:
            return Verdict::Slower;
        case Verdict::Slower:
            return Verdict::Faster;
        case Verdict::Less:
            return Verdict::More;
        case Verdict::More:
            return Verdict::Less;
        case Verdict::OnlyInBase:
            return Verdict::OnlyInNew;
        case Verdict::OnlyInNew:
            return Verdict::OnlyInBase;
        default:
            return verdict;
    }
}

TEST(Compare, SwappingTheTwoNegatesEveryDifference) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SyntheticOptions other = noisy(seed + 100, 200'000, seed % 3 == 0 ? 4 : 9);
        other.forward[0] = {1'000'000 + 50'000 * static_cast<std::int64_t>(seed % 4)};
        if (seed % 5 == 0) other.schedule = *schedule::makeSchedule("gpipe", {2, 6, 1, 0});
        const RunSeries a = seriesOfRun(noisy(seed, 200'000)), b = seriesOfRun(other);
        const Comparison there = compareRuns(a, b), back = compareRuns(b, a);
        ASSERT_EQ(there.rows.size(), back.rows.size());
        for (const ComparedSeries& row : there.rows) {
            const ComparedSeries& mirrored =
                rowOf(back, row.key.level, row.key.subject, row.key.quantity);
            EXPECT_EQ(mirrored.verdict, opposite(row.verdict)) << row.key.subject;
            EXPECT_EQ(mirrored.base, row.other);
            EXPECT_EQ(mirrored.difference.value_or(0), -row.difference.value_or(0));
            ASSERT_EQ(mirrored.ci95.has_value(), row.ci95.has_value());
            const auto there95 = row.ci95.value_or(std::pair(0.0, 0.0));
            EXPECT_EQ(mirrored.ci95.value_or(std::pair(0.0, 0.0)),
                      std::pair(-there95.second, -there95.first));
        }
        for (std::size_t i = 0; i < there.parts.size(); ++i)
            EXPECT_EQ(there.parts[i].difference(), -back.parts[i].difference());
        expectSumsAndNumbers(there);
        expectSumsAndNumbers(back);
    }
}

TEST(Compare, OfTooFewIterationsItGivesPointsAndNoVerdict) {
    SyntheticOptions slow = twoStages(1);
    slow.forward[1] = {5'000'000};
    const Comparison result = compared(twoStages(), slow);
    EXPECT_EQ(result.of(Verdict::CannotTell), result.rows.size());
    EXPECT_EQ(result.iteration.difference, 4'000'000);
    EXPECT_EQ(result.iteration.baseCount, 6U);
    EXPECT_EQ(result.iteration.otherCount, 1U);
    EXPECT_FALSE(result.iteration.ci95);
    EXPECT_EQ(result.byChance(), 0U);
    expectSumsAndNumbers(result);
}

TEST(Compare, OfOneIterationOnlyTheSameRunIsTheSame) {
    const RunSeries run = seriesOfRun(twoStages(1));
    const Comparison itself = compareRuns(run, run);
    EXPECT_EQ(itself.of(Verdict::Same), itself.rows.size());
    SyntheticOptions other = twoStages(1);
    other.link = {100'001};
    // Many rows are equal, as compute is; that may be chance.
    const Comparison result = compared(twoStages(1), other);
    EXPECT_EQ(result.of(Verdict::CannotTell), result.rows.size());
}

TEST(Compare, WhatWentTheOtherWayAsFarAsTheWholeIsFound) {
    const RunSeries run = seriesOfRun(twoStages());
    RunSeries other = run;
    other.mean.time.parts[TimePart::Compute] += base::Duration{3'000};
    other.mean.time.parts[TimePart::Moving] -= base::Duration{2'000};
    const Comparison result = compareRuns(run, other);
    ASSERT_EQ(result.reasons.size(), 1U);
    EXPECT_EQ(result.parts[result.reasons[0]].name, "compute");
    ASSERT_TRUE(result.against);
    EXPECT_EQ(result.parts[*result.against].name, "moving");
    EXPECT_FALSE(result.identical());
    EXPECT_TRUE(compareRuns(run, run).identical());
    // Less than the whole is not worth a word, and of nothing there is no part.
    other.mean.time.parts[TimePart::Moving] += base::Duration{1'500};
    EXPECT_FALSE(compareRuns(run, other).against);
    EXPECT_TRUE(compareRuns(run, run).reasons.empty());
}

TEST(Compare, WhatOneRunHasAloneIsListed) {
    SyntheticOptions wide = twoStages();
    wide.schedule = *schedule::makeSchedule("1f1b", {4, 4, 1, 0});
    wide.forward = {{1'000'000}};
    const Comparison result = compared(twoStages(), wide);
    EXPECT_EQ(rowOf(result, Level::Rank, "rank 1", "compute").verdict, Verdict::Slower);
    EXPECT_EQ(rowOf(result, Level::Rank, "rank 3", "compute").verdict, Verdict::OnlyInNew);
    EXPECT_EQ(rowOf(result, Level::Stage, "stage 2", "F").verdict, Verdict::OnlyInNew);
    EXPECT_FALSE(rowOf(result, Level::Stage, "stage 2", "F").base);
    EXPECT_EQ(rowOf(result, Level::Microbatch, "microbatch 3", "B").verdict, Verdict::OnlyInNew);
    EXPECT_EQ(rowOf(result, Level::Stage, "stage 1", "F").verdict, Verdict::Same);
    EXPECT_NE(result.diagnostics.find("layout_differs"), nullptr);
    EXPECT_NE(result.diagnostics.find("schedule_differs"), nullptr);
    expectSumsAndNumbers(result);
}

TEST(Compare, OfNothingThereIsNoRatio) {
    SyntheticOptions without = twoStages(), with = twoStages();
    without.data = {0};
    with.data = {1'000'000};
    const Comparison result = compared(without, with);
    const ComparedSeries& loading = rowOf(result, Level::BubbleCause, "data_loading", "time");
    EXPECT_EQ(loading.base, 0);
    EXPECT_FALSE(loading.ratio);
    EXPECT_EQ(loading.verdict, Verdict::Slower);
    ASSERT_FALSE(result.reasons.empty());
    EXPECT_EQ(result.parts[result.reasons.front()].name, "data_loading");
    expectSumsAndNumbers(result);
}

// What is below a thousandth of the iteration matters to nobody, however many times it is.
TEST(Compare, AManifoldOfNextToNothingIsTheSame) {
    SyntheticOptions other = twoStages();
    other.data = {51};
    const Comparison result = compared(twoStages(), other);
    EXPECT_EQ(rowOf(result, Level::BubbleCause, "data_loading", "time").verdict, Verdict::Same);
    EXPECT_EQ(result.iteration.verdict, Verdict::Same);
    EXPECT_EQ(result.changed(), 0U);
}

DeviceTrace kernels(std::int64_t gemm, const std::string& last) {
    DeviceTrace trace;
    for (int i = 0; i < 6; ++i) {
        const std::int64_t begin = i * 1'000;
        trace.step(i, begin, begin + 1'000);
        trace.work(begin + 1, begin + 10, begin + 10 + gemm);
        trace.work(begin + 2, begin + 400, begin + 400 + gemm);
        trace.work(begin + 3, begin + 800, begin + 850, testing::categories::kKernel, last);
    }
    return trace;
}

TEST(Compare, KernelsAreComparedWhereNothingNamesTasks) {
    const RunSeries base = seriesOfTrace(kernels(100, "volta_softmax").build());
    const RunSeries other = seriesOfTrace(kernels(150, "ampere_softmax").build());
    const Comparison result = compareRuns(base, other);
    const ComparedSeries& gemm = rowOf(result, Level::Kernel, "gemm", "time");
    EXPECT_EQ(gemm.base, 200);
    EXPECT_EQ(gemm.other, 300);
    EXPECT_EQ(gemm.verdict, Verdict::Slower);
    EXPECT_EQ(rowOf(result, Level::Kernel, "gemm", "count").base, 2);
    EXPECT_EQ(rowOf(result, Level::Kernel, "gemm", "count").verdict, Verdict::Same);
    EXPECT_EQ(rowOf(result, Level::Kernel, "volta_softmax", "time").verdict, Verdict::OnlyInBase);
    EXPECT_EQ(rowOf(result, Level::Kernel, "ampere_softmax", "time").other, 50);
    EXPECT_EQ(partOf(result, "compute"), 100);
    EXPECT_NE(result.diagnostics.find("no_tasks"), nullptr);
    expectSumsAndNumbers(result);
}

TEST(Compare, TasksAgainstKernelsIsDoubtedAloud) {
    const Comparison result =
        compareRuns(seriesOfRun(twoStages()), seriesOfTrace(kernels(100, "softmax").build()));
    EXPECT_NE(result.diagnostics.find("tasks_in_one_only"), nullptr);
    EXPECT_NE(result.diagnostics.find("devices_in_one_only"), nullptr);
    EXPECT_EQ(rowOf(result, Level::Stage, "stage 0", "F").verdict, Verdict::OnlyInBase);
    EXPECT_EQ(rowOf(result, Level::Kernel, "gemm", "time").verdict, Verdict::OnlyInNew);
    expectSumsAndNumbers(result);
}

TEST(Compare, OnlyIterationsChosenAreTaken) {
    const trace::Trace trace = *annotate::annotate(traceOf(makeSyntheticRun(twoStages())));
    const RunSeries some = seriesOfTrace(trace, {.iterations = {{1, 3}}});
    EXPECT_EQ(some.iterations.indices, (std::vector<std::int32_t>{1, 2, 3}));
    const auto none = seriesOf(trace, {.iterations = {{8, 9}}});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, base::ErrorCode::Usage);
}

TEST(Compare, ATraceWithoutWorkIsRefused) {
    const auto nothing = seriesOf(trace::TraceBuilder().build().trace, {});
    ASSERT_FALSE(nothing);
    EXPECT_EQ(nothing.error().code, base::ErrorCode::Input);
    EXPECT_NE(nothing.error().message.find("nothing to compare"), std::string::npos);
}

}  // namespace
}  // namespace pleat::analysis
