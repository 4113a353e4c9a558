// What other people's recordings say about why ranks were idle, read in place: small files with
// known answers and the two published jobs. Skipped where they are not beside the checkout.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "analysis/bubbles.h"
#include "analysis/critical_path.h"
#include "analysis/path_analysis.h"
#include "analysis/run_analysis.h"
#include "annotate/annotate.h"
#include "graph/measured_graph.h"
#include "unit/analyzer/importers/imported.h"

namespace pleat::analysis {
namespace {

using importers::sharedTraces;

trace::Trace opened(std::vector<std::filesystem::path> files) {
    auto imported = importers::importTraces(files);
    EXPECT_TRUE(imported) << importers::messageOf(imported);
    auto annotated = files.size() > 1 ? annotate::annotateOnOneClock(std::move(*imported))
                                      : annotate::annotate(*imported);
    EXPECT_TRUE(annotated);
    return std::move(*annotated);
}

double percentOf(const RunAnalysis& run, BubbleCause cause) {
    return 100 * run.bubble.byCause[cause];
}

double pauseShare(const RunAnalysis& run) {
    const auto pause = run.criticalPath->byKind.find("pause");
    return pause == run.criticalPath->byKind.end()
               ? 0
               : static_cast<double>(pause->second.ns) /
                     static_cast<double>(run.criticalPath->length.ns);
}

// One file's messages begin when their task has ended, the other's 1 us before.
TEST(CausesFiles, AMessageThatBeginsAMicrosecondEarlyIsAnsweredLikeOneThatDoesNot) {
    SKIP_WITHOUT_SHARED_TRACES();
    for (const char* file :
         {"ndtimeline_message_after_task.json", "ndtimeline_message_1us_before_task_ends.json"}) {
        SCOPED_TRACE(file);
        const trace::Trace trace = opened({sharedTraces() / "faults" / file});
        const RunAnalysis run = analyseRun(trace, {}).value();
        EXPECT_NEAR(percentOf(run, BubbleCause::Fill), 11.1, 0.05);
        EXPECT_NEAR(percentOf(run, BubbleCause::Drain), 4.3, 0.05);
        EXPECT_NEAR(percentOf(run, BubbleCause::Imbalance), 22.9, 0.05);
        EXPECT_LE(percentOf(run, BubbleCause::Unknown), 2.05);
        EXPECT_EQ(pauseShare(run), 0);
        const PathAnalysis path = analysePath(trace, {}).value();
        std::vector<std::int32_t> stages;
        for (const PathRun& piece : path.runs) {
            if (piece.stage >= 0 && (stages.empty() || stages.back() != piece.stage))
                stages.push_back(piece.stage);
        }
        EXPECT_EQ(stages, (std::vector<std::int32_t>{0, 1, 0}));
    }
}

TEST(CausesFiles, NextToNothingIsUnknownInThePublishedJobs) {
    SKIP_WITHOUT_SHARED_TRACES();
    struct Job {
        const char* file;
        double unknown;  // % of all ranks' time
    };
    for (const auto& [file, unknown] :
         {Job{"timeline-ST.json.gz", 1.0}, Job{"timeline-SE.json.gz", 2.0}}) {
        SCOPED_TRACE(file);
        const RunAnalysis run =
            analyseRun(opened({sharedTraces() / "straggler" / file}), {}).value();
        EXPECT_LE(percentOf(run, BubbleCause::Unknown), unknown);
        EXPECT_LE(pauseShare(run), 0.02);
        EXPECT_LE(run.replay->errorFraction, 0.02);
    }
}

TEST(CausesFiles, UnevenReplicasAreTheLargestCauseInTheJobOfUnevenSequences) {
    SKIP_WITHOUT_SHARED_TRACES();
    const RunAnalysis run =
        analyseRun(opened({sharedTraces() / "straggler" / "timeline-SE.json.gz"}), {}).value();
    for (std::size_t i = 0; i < kBubbleCauseCount; ++i) {
        const auto cause = static_cast<BubbleCause>(i);
        if (cause == BubbleCause::ReplicaImbalance) continue;
        EXPECT_LT(percentOf(run, cause), percentOf(run, BubbleCause::ReplicaImbalance))
            << toString(cause);
    }
}

// Two tensor-parallel ranks of which one takes 1.5 x: what the other waits for it in the middle of
// its tasks is no work of its own.
TEST(CausesFiles, ATaskThatWaitsForItsTensorPeerIsNotLonger) {
    SKIP_WITHOUT_SHARED_TRACES();
    const auto folder = sharedTraces() / "faults" / "tp_wait_in_task";
    const trace::Trace trace = opened({folder / "rank0.json", folder / "rank1.json",
                                       folder / "rank2.json", folder / "rank3.json"});
    const graph::RunIndex index(trace);
    const auto graph = graph::measuredGraph(index, index.windows().front()).value();
    std::array<std::int64_t, 4> own{};
    for (const graph::Node& node : graph.nodes()) {
        if (node.kind == graph::NodeKind::Task && node.rank >= 0)
            own.at(static_cast<std::size_t>(node.rank)) += node.duration.ns;
    }
    EXPECT_EQ(own[0], own[2]);
    EXPECT_EQ(own[0], own[3]);
    EXPECT_NEAR(static_cast<double>(own[1]) / static_cast<double>(own[0]), 1.5, 0.01);
}

}  // namespace
}  // namespace pleat::analysis
