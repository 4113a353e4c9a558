#include "advise/pipeline_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "advise/pipeline_workload.h"
#include "graph/simulate.h"
#include "schedule/generators.h"

namespace pleat::advise {
namespace {

constexpr std::int64_t kUnit = 1'000'000;  // ns

schedule::Schedule scheduleOf(std::string_view name, std::int32_t ranks, std::int32_t chunks,
                              std::int32_t microbatches) {
    return schedule::makeSchedule(name, {ranks, microbatches, chunks, 0}).value();
}

// A rank's whole share takes `forward` and twice that backward; its gradients take `sync` units in
// a ring of two replicas.
PipelineCosts evenCosts(const schedule::Schedule& schedule, double forward = 1, double sync = 0) {
    PipelineCosts costs;
    const double chunks =
        static_cast<double>(schedule.placement.stages()) / schedule.placement.ranks();
    StageCosts stage;
    stage.forward = {std::llround(forward * kUnit / chunks)};
    stage.backward = {2 * stage.forward.ns};
    stage.activationBytes = 1;
    stage.gradientBytes = std::llround(sync * kUnit / chunks);
    costs.stages.assign(static_cast<std::size_t>(schedule.placement.stages()), stage);
    costs.data.bytesPerSecond = 1e9;  // a byte a ns
    costs.replicas = sync > 0 ? 2 : 1;
    return costs;
}

double units(base::Duration time) { return static_cast<double>(time.ns) / kUnit; }

double iterationOf(const schedule::Schedule& schedule, const PipelineCosts& costs,
                   const SyncPolicy& policy = {}) {
    const auto predicted = predict(schedule, costs, policy);
    EXPECT_TRUE(predicted) << predicted.error().message;
    return predicted ? units(predicted->iteration) : 0;
}

TEST(PipelineRun, EqualsThePlainSimulationWhereNothingIsShared) {
    for (const std::string name : {"gpipe", "1f1b", "interleaved", "folded"}) {
        const bool one = name == "gpipe" || name == "1f1b";
        for (const std::int32_t ranks : {1, 2, 4, 8}) {
            const auto schedule = scheduleOf(name, ranks, one ? 1 : 4, 8);
            PipelineCosts costs = evenCosts(schedule);
            costs.pipeline.latency = {kUnit / 10};
            graph::CostModel plain;
            plain.forward = {kUnit};
            plain.backward = {2 * kUnit};
            plain.message = costs.pipeline.latency;
            const auto simulated = graph::simulate(schedule, plain);
            ASSERT_TRUE(simulated);
            const auto predicted = predict(schedule, costs, {});
            ASSERT_TRUE(predicted);
            EXPECT_EQ(predicted->iteration, simulated->makespan) << name << ' ' << ranks;
            EXPECT_NEAR(predicted->idleFraction, simulated->bubbleFractionTotal, 1e-9);
            for (std::size_t rank = 0; rank < predicted->ranks.size(); ++rank) {
                EXPECT_EQ(predicted->ranks[rank].busy, simulated->ranks[rank].busy);
                EXPECT_DOUBLE_EQ(
                    static_cast<double>(predicted->ranks[rank].peakBytes) / (one ? 1 : 4),
                    simulated->ranks[rank].peakActivations);
            }
        }
    }
}

// Fold3D on commodity links (Li et al. 2023): p 4, v 4, M 16, backward twice the forward, and a
// sync that is 44 % of an interleaved iteration that does not hide it.
class Fold3d : public ::testing::Test {
  protected:
    // 50.25 units of compute and bubble: sync / (50.25 + sync) = 0.44.
    static constexpr double kSync = 0.44 / 0.56 * 50.25;

    static double of(std::string_view name, std::int32_t chunks, const SyncPolicy& policy) {
        const auto schedule = scheduleOf(name, 4, chunks, 16);
        return iterationOf(schedule, evenCosts(schedule, 1, kSync), policy);
    }
    static SyncPolicy unhidden() {
        SyncPolicy policy;
        policy.afterBackward = true;
        return policy;
    }
};

TEST_F(Fold3d, FoldedHidesASyncThatOthersExpose) {
    const double folded = of("folded", 4, {});
    EXPECT_NEAR(of("interleaved", 4, unhidden()) / folded, 1.365, 0.001);
    EXPECT_NEAR(of("interleaved", 4, {}) / folded, 1.274, 0.001);
    EXPECT_NEAR(of("1f1b", 1, unhidden()) / folded, 1.468, 0.001);
}

TEST_F(Fold3d, DeferralLeavesTheSyncOfChunk0Alone) {
    SyncPolicy deferred;
    deferred.barrier = false;
    deferred.byPriority = true;
    deferred.sliceBytes = kUnit / 4;
    EXPECT_NEAR(of("folded", 4, deferred), 50.25 + kSync / 4, 0.3);
}

TEST(PipelineRun, MessagesAndSyncsOfOneLinkShareIt) {
    const auto schedule = scheduleOf("folded", 2, 2, 4);
    PipelineCosts costs = evenCosts(schedule, 1, 4);
    for (StageCosts& stage : costs.stages) stage.messageBytes = kUnit / 4;
    costs.pipeline.bytesPerSecond = 1e9;
    const double apart = iterationOf(schedule, costs);
    costs.oneLink = true;
    EXPECT_GT(iterationOf(schedule, costs), apart);
}

TEST(PipelineRun, ASlowRankSlowsAllOfItsStages) {
    const auto schedule = scheduleOf("gpipe", 2, 1, 4);
    PipelineCosts costs = evenCosts(schedule);
    costs.slownessOfRank = {1, 2};
    // F: 1 + 4 x 2, B of rank 1: 4 x 4, then the last of rank 0: 2.
    EXPECT_DOUBLE_EQ(iterationOf(schedule, costs), 1 + 8 + 16 + 2);
}

TEST(PipelineRun, LocalStepsSyncOnlyEveryKthIteration) {
    const auto schedule = scheduleOf("gpipe", 1, 1, 2);
    const PipelineCosts costs = evenCosts(schedule, 1, 3);
    EXPECT_DOUBLE_EQ(iterationOf(schedule, costs), 6 + 3);
    SyncPolicy policy;
    policy.everyIterations = 3;
    EXPECT_NEAR(iterationOf(schedule, costs, policy), 6 + 1, 1e-6);
}

TEST(PipelineRun, AnAllReduceIsAReduceScatterAndAnAllGather) {
    const auto schedule = scheduleOf("folded", 2, 2, 4);
    const PipelineCosts costs = evenCosts(schedule, 1, 5);
    SyncPolicy policy;
    const double whole = iterationOf(schedule, costs);
    policy.collective = SyncCollective::ReduceScatterAllGather;
    EXPECT_NEAR(iterationOf(schedule, costs, policy), whole, 1e-6);
}

TEST(PipelineRun, PiecesWithinTheLastBackwardHideMore) {
    const auto schedule = scheduleOf("gpipe", 1, 1, 2);
    const PipelineCosts costs = evenCosts(schedule, 1, 2);  // as long as a backward
    SyncPolicy policy;
    policy.sliceBytes = kUnit / 2;
    EXPECT_DOUBLE_EQ(iterationOf(schedule, costs, policy), 6 + 2);
    policy.withinBackward = true;
    // Four pieces of half a unit: the last begins when backward ends.
    EXPECT_NEAR(iterationOf(schedule, costs, policy), 6 + 0.5, 1e-6);
}

TEST(PipelineRun, TheIterationPredictedIsThoseThatFollow) {
    for (const std::string name : {"1f1b", "interleaved", "folded"}) {
        const auto schedule = scheduleOf(name, 4, name == "1f1b" ? 1 : 2, 8);
        const PipelineCosts costs = evenCosts(schedule, 1, 11);
        for (const bool byPriority : {false, true}) {
            SyncPolicy policy;
            policy.barrier = false;
            policy.byPriority = byPriority;
            policy.sliceBytes = kUnit;
            const double predicted = iterationOf(schedule, costs, policy);
            const auto many = workloadOf(schedule, costs, policy, 9);
            ASSERT_TRUE(many);
            const auto times = run(many->workload);
            ASSERT_TRUE(times);
            std::vector<std::int64_t> ends(9, 0);
            for (std::size_t i = 0; i < many->placed.size(); ++i) {
                if (many->placed[i].position < 0) continue;
                auto& end = ends[static_cast<std::size_t>(many->placed[i].iteration)];
                end = std::max(end, (*times)[OperationId::at(i)].end.ns);
            }
            EXPECT_NEAR(predicted, static_cast<double>(ends[8] - ends[7]) / kUnit, 1e-3)
                << name << byPriority;
        }
    }
}

TEST(PipelineRun, MemoryOverTimeIsThatOfTheOrder) {
    const auto schedule = scheduleOf("1f1b", 2, 1, 3);
    PipelineCosts costs = evenCosts(schedule);
    for (StageCosts& stage : costs.stages) stage.parameterBytes = 10;
    const auto predicted = predict(schedule, costs, {});
    ASSERT_TRUE(predicted);
    EXPECT_EQ(predicted->ranks[0].peakBytes, 12);
    EXPECT_EQ(predicted->ranks[1].peakBytes, 11);
    // Rank 1: F from 1, B to 4, F to 5, B to 7, F to 8, B to 10; a free and a keep at one moment.
    ASSERT_GE(predicted->ranks[1].memory.size(), 2U);
    EXPECT_EQ(predicted->ranks[1].memory.front().bytes, 10);
    EXPECT_EQ(predicted->ranks[1].memory.back().bytes, 10);
}

TEST(PipelineRun, CostsOfOtherStagesAreAnError) {
    const auto schedule = scheduleOf("1f1b", 2, 1, 3);
    EXPECT_EQ(predict(schedule, PipelineCosts(), {}).error().message,
              "the costs are of 0 stages, the schedule has 2");
}

}  // namespace
}  // namespace pleat::advise
