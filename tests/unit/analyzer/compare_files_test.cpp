// Comparisons of other people's runs, read in place: skipped where the traces are not beside the
// checkout.
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/compare.h"
#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::analysis {
namespace {

using importers::sharedTraces;

RunSeries seriesOfFile(const std::filesystem::path& file, const AnalysisOptions& options = {}) {
    const auto imported = importers::importFile(sharedTraces() / file);
    EXPECT_TRUE(imported) << imported.error().message;
    const auto annotated = annotate::annotate(*imported);
    EXPECT_TRUE(annotated) << annotated.error().message;
    const auto series = seriesOf(*annotated, options);
    EXPECT_TRUE(series) << series.error().message;
    return series ? *series : RunSeries{};
}

void expectFinite(const Comparison& comparison) {
    for (const ComparedSeries& row : comparison.rows) {
        for (const auto& number : {row.base, row.other, row.difference, row.ratio})
            EXPECT_TRUE(std::isfinite(number.value_or(0))) << row.key.subject;
    }
    base::Duration parts;
    for (const MeanPart& part : comparison.parts) parts += part.difference();
    EXPECT_EQ(parts, comparison.mean.difference());
}

// Eight devices with one overloaded stage against 128 with uneven sequences: the same pipeline
// tasks, another layout.
TEST(CompareFiles, TwoProductionJobsCompareByWhatTheyShare) {
    SKIP_WITHOUT_SHARED_TRACES();
    const RunSeries st = seriesOfFile("straggler/timeline-ST.json.gz");
    const RunSeries se = seriesOfFile("straggler/timeline-SE.json.gz");
    const Comparison result = compareRuns(st, se);
    EXPECT_NE(result.diagnostics.find("layout_differs"), nullptr);
    EXPECT_NE(result.iteration.verdict, Verdict::CannotTell);
    EXPECT_GT(result.of(Verdict::OnlyInBase), 0U) << "stages 2 and 3";
    EXPECT_GT(result.of(Verdict::OnlyInNew), 0U) << "ranks 8 to 127";
    EXPECT_GT(result.inBoth(), 0U);
    expectFinite(result);
    const Comparison same = compareRuns(st, st);
    EXPECT_EQ(same.of(Verdict::Same), same.rows.size());
}

// Two parts of one job. Its gradient clip, an all-reduce of all ranks, takes 14 ms up to step 288
// and 5 ms in all but one step after; that moved less in NEW shows on every rank. Of the rest
// nothing has reason to have changed, but chance.
TEST(CompareFiles, TwoPartsOfAJobDoNotDiffer) {
    SKIP_WITHOUT_SHARED_TRACES();
    const Comparison result =
        compareRuns(seriesOfFile("straggler/timeline-ST.json.gz", {.iterations = {{0, 600}}}),
                    seriesOfFile("straggler/timeline-ST.json.gz", {.iterations = {{601, 1100}}}));
    EXPECT_EQ(result.iteration.verdict, Verdict::Same);
    EXPECT_EQ(result.iteration.baseCount, 22U);
    EXPECT_EQ(result.iteration.otherCount, 10U);
    EXPECT_EQ(result.inBoth(), result.rows.size());
    const auto isChange = [](const ComparedSeries& row) {
        return row.verdict != Verdict::Same && row.verdict != Verdict::CannotTell;
    };
    std::size_t clip = 0, others = 0;
    for (const ComparedSeries& row : result.rows) {
        if (!isChange(row)) continue;
        if (row.key.quantity != "moving") {
            ++others;
            continue;
        }
        ++clip;
        EXPECT_EQ(row.verdict, Verdict::Faster);
    }
    EXPECT_GT(clip, 0U) << "a change that is there is found";
    EXPECT_LE(others, result.byChance());
    expectFinite(result);
}

// A single iteration each, by different tools: point values, and what cannot be compared is said.
TEST(CompareFiles, DeviceTracesOfDifferentToolsGivePointValues) {
    SKIP_WITHOUT_SHARED_TRACES();
    const Comparison result = compareRuns(seriesOfFile("kineto/cp_alexnet.json.gz"),
                                          seriesOfFile("nsys/mfu_2gpu_before.sqlite"));
    EXPECT_EQ(result.iteration.verdict, Verdict::CannotTell);
    EXPECT_TRUE(result.iteration.difference);
    EXPECT_EQ(result.changed() + result.of(Verdict::Same), 0U);
    EXPECT_GT(result.of(Verdict::OnlyInBase), 0U);
    expectFinite(result);
}

}  // namespace
}  // namespace pleat::analysis
