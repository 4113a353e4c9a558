// Stragglers of small recordings with known answers in which a rank's wait for another is inside
// its own tasks. Read in place; skipped where they are not beside the checkout.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "analysis/run_analysis.h"
#include "analysis/what_if.h"
#include "annotate/annotate.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::analysis {
namespace {

using importers::sharedTraces;

trace::Trace ofFourRanks(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (int rank = 0; rank < 4; ++rank)
        files.push_back(sharedTraces() / "faults" / folder / fmt::format("rank{}.json", rank));
    auto imported = importers::importTraces(files);
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    return annotate::annotateOnOneClock(std::move(*imported)).value();
}

double predictedMilliseconds(const trace::Trace& trace, const std::string& key) {
    const auto answer = analyseWhatIf(trace, {.ideal = {key}});
    EXPECT_TRUE(answer) << answer.error().message;
    return static_cast<double>(answer->predicted.ns) / 1e6;
}

void expectOnlyRank1(const RunAnalysis& run) {
    ASSERT_FALSE(run.stragglers.empty());
    EXPECT_EQ(toString(run.stragglers.front().suspect), "rank:1");
    for (const Straggler& one : run.stragglers) {
        for (const char* victim : {"rank:0", "rank:2", "rank:3"})
            EXPECT_NE(toString(one.suspect), victim) << "it only waited";
    }
}

// A gradient all-reduce within the backward of every rank: rank 1 comes 61 ms late, which the
// others spend in the collective.
TEST(StragglerFiles, AWaitInADataParallelCollectiveIsNoWorkOfTheVictims) {
    SKIP_WITHOUT_SHARED_TRACES();
    const trace::Trace trace = ofFourRanks("dp_wait_in_task");
    const auto run = analyseRun(trace, {});
    ASSERT_TRUE(run);
    expectOnlyRank1(*run);
    EXPECT_NEAR(run->stragglers.front().slowdown, 266.6 / 205.5, 0.01);
    EXPECT_NEAR(static_cast<double>(run->stragglers.front().gain.ns) / 1e6, 61.1, 0.2);
    const double measured = static_cast<double>(run->iterations.mean.ns) / 1e6;
    EXPECT_NEAR(predictedMilliseconds(trace, "rank:1"), measured - 61.1, 0.2);
}

// All-reduces of two tensor-parallel ranks within every task: the kernels of rank 1 take 1.5 times
// as long as those of rank 0, which waits for them.
TEST(StragglerFiles, AWaitForATensorPeerIsNoWorkOfTheVictim) {
    SKIP_WITHOUT_SHARED_TRACES();
    const trace::Trace trace = ofFourRanks("tp_wait_in_task");
    const auto run = analyseRun(trace, {});
    ASSERT_TRUE(run);
    expectOnlyRank1(*run);
    EXPECT_NEAR(run->stragglers.front().timesIdeal, 1.5, 0.01);
    EXPECT_NEAR(predictedMilliseconds(trace, "rank:1"), 125.6, 0.1);
    // A rank that is faster than its peer is not made slower.
    EXPECT_NEAR(predictedMilliseconds(trace, "rank:0"), 170.6, 0.1);
}

}  // namespace
}  // namespace pleat::analysis
