// Stragglers of made runs: what was made slow is named first, with the slowdown that the run's own
// simulator gives.
#include "analysis/stragglers.h"

#include <gtest/gtest.h>

#include "analysis/run_analysis.h"
#include "annotate/annotate.h"
#include "support/synthetic_run.h"

namespace pleat::analysis {
namespace {

using testing::balancedOptions;
using testing::SyntheticOptions;

constexpr std::int32_t kMicrobatches = 4;  // of balancedOptions

void slow(SyntheticOptions& options, std::int32_t rank, base::Duration every) {
    for (std::int32_t microbatch = 0; microbatch < kMicrobatches; ++microbatch)
        options.extra.push_back({rank, microbatch, every});
}

RunAnalysis analysed(const SyntheticOptions& options) {
    return *analyseRun(*annotate::annotate(testing::traceOf(testing::makeSyntheticRun(options))),
                       {});
}

const Straggler* find(const RunAnalysis& run, std::string_view key) {
    for (const Straggler& straggler : run.stragglers) {
        if (toString(straggler.suspect) == key) return &straggler;
    }
    return nullptr;
}

TEST(Stragglers, ABalancedRunHasNone) {
    for (const auto& [schedule, chunks] :
         {std::pair("gpipe", 1), {"1f1b", 1}, {"interleaved", 2}, {"folded", 2}})
        EXPECT_TRUE(analysed(balancedOptions(schedule, chunks)).stragglers.empty()) << schedule;
}

// What is slow does not raise its own ideal: the rank's peers on the same stage give it. So its
// slowdown is that of the run against the same run without it, and what-if gives the time back.
TEST(Stragglers, ASlowedRankIsNamedWithItsSlowdown) {
    for (const auto& [schedule, chunks] :
         {std::pair("gpipe", 1), {"1f1b", 1}, {"interleaved", 2}, {"folded", 2}}) {
        SyntheticOptions recorded = balancedOptions(schedule, chunks);
        const base::Duration balanced = analysed(recorded).iterations.mean;
        slow(recorded, 3, {400'000});
        const RunAnalysis run = analysed(recorded);
        const double slowdown =
            static_cast<double>(run.iterations.mean.ns) / static_cast<double>(balanced.ns);
        ASSERT_GT(slowdown, 1.05);
        ASSERT_FALSE(run.stragglers.empty()) << schedule;
        const Straggler& worst = run.stragglers.front();
        EXPECT_EQ(toString(worst.suspect), "rank:3") << schedule;
        EXPECT_EQ(worst.rank, 3);
        EXPECT_EQ(worst.stage, chunks == 1 ? 1 : -1);
        EXPECT_NEAR(worst.slowdown, slowdown, 1e-9) << schedule;
        EXPECT_EQ(worst.gain, run.iterations.mean - balanced) << schedule;
        // Forward suffers most in proportion, backward as much in time.
        EXPECT_GT(worst.timesIdeal, 1.1);
        EXPECT_EQ(find(run, "rank:0"), nullptr) << "it only waits for rank 3";
        EXPECT_EQ(find(run, "rank:1"), nullptr);
    }
}

TEST(Stragglers, ASlowStageIsNamed) {
    SyntheticOptions options = balancedOptions("1f1b", 1);
    options.forward = {{1'000'000}, {1'500'000}};
    options.backward = {{2'000'000}, {3'000'000}};
    const RunAnalysis run = analysed(options);
    const Straggler* stage = find(run, "stage:1");
    ASSERT_NE(stage, nullptr);
    EXPECT_EQ(stage->stage, 1);
    EXPECT_EQ(stage->rank, -1);
    EXPECT_NEAR(stage->timesIdeal, 1.5, 1e-9) << "against the other stage";
    EXPECT_EQ(find(run, "stage:0"), nullptr) << "it is faster than the ideal";
}

TEST(Stragglers, ASlowMicrobatchIsNamed) {
    SyntheticOptions options = balancedOptions("gpipe", 1);
    for (std::int32_t rank = 0; rank < 4; ++rank) options.extra.push_back({rank, 2, {4'000'000}});
    const RunAnalysis run = analysed(options);
    ASSERT_NE(find(run, "microbatch:2"), nullptr);
    EXPECT_GT(find(run, "microbatch:2")->slowdown, 1.2);
    EXPECT_EQ(find(run, "microbatch:1"), nullptr);
}

TEST(Stragglers, ASlowLinkIsNamed) {
    ReplayModel model;
    model.links = {{0, 1}, {1, 2}};
    model.ranks = {{0, 0}, {1, 0}, {2, 0}};
    model.operations = {{"pp.recv", "forward-pp-comm", {"transfer.pp"}, {100}}};
    base::IdVector<graph::NodeTag, graph::Node> nodes;
    for (const std::int64_t duration : {100, 250}) {
        graph::Node node;
        node.kind = graph::NodeKind::Transfer;
        node.dimension = trace::Dimension::Pp;
        node.rank = static_cast<std::int32_t>(nodes.size());
        node.duration = {duration};
        nodes.push(node);
    }
    auto graph = graph::TaskGraph::build(std::move(nodes), {{graph::NodeId(0), graph::NodeId(1)}});
    ReplayIteration iteration;
    iteration.windows = {{0, {350}, {}, {}, {}}};
    iteration.graph = std::move(*graph);
    iteration.operation = {0, 0};
    iteration.link = {0, 1};
    model.iterations.push_back(std::move(iteration));
    const auto stragglers = findStragglers(model);
    ASSERT_FALSE(stragglers.empty());
    EXPECT_EQ(toString(stragglers.front().suspect), "link:1-2");
    EXPECT_DOUBLE_EQ(stragglers.front().slowdown, 1.75);
    EXPECT_EQ(stragglers.front().operation, "forward-pp-comm");
    EXPECT_DOUBLE_EQ(stragglers.front().slowest, 2.5);
}

TEST(Stragglers, ASlowReplicaIsNamed) {
    SyntheticOptions options = balancedOptions("1f1b", 1);
    const base::Duration balanced = analysed(options).iterations.mean;
    slow(options, 2, {500'000});
    slow(options, 3, {500'000});
    const RunAnalysis run = analysed(options);
    ASSERT_FALSE(run.stragglers.empty());
    EXPECT_EQ(toString(run.stragglers.front().suspect), "dp:1") << "both its ranks are slow";
    EXPECT_EQ(run.stragglers.front().gain, run.iterations.mean - balanced);
    EXPECT_EQ(find(run, "dp:0"), nullptr);
    EXPECT_EQ(find(run, "rank:0"), nullptr);
}

TEST(Stragglers, ASlowStageStandsBeforeItsRanks) {
    SyntheticOptions options = balancedOptions("1f1b", 1);
    slow(options, 1, {500'000});
    slow(options, 3, {500'000});
    EXPECT_EQ(toString(analysed(options).stragglers.front().suspect), "stage:1")
        << "either of its ranks is as slow, but only both together gain anything";
}

// A rank that stands still before each of its tasks, in no range: 3 ms before all of its tasks
// but the first, for what comes before that is the iteration's begin on every rank.
TEST(Stragglers, PausesOfARankAreNamedWithWhatTheyCost) {
    SyntheticOptions options = balancedOptions("1f1b", 1);
    options.devices = true;
    const base::Duration balanced = analysed(options).iterations.mean;
    for (std::int32_t microbatch = 0; microbatch < kMicrobatches; ++microbatch)
        options.launchDelays.push_back({3, microbatch, {1'000'000}});
    const RunAnalysis run = analysed(options);
    ASSERT_FALSE(run.stragglers.empty());
    const Straggler& worst = run.stragglers.front();
    EXPECT_EQ(toString(worst.suspect), "pause:3");
    EXPECT_EQ(worst.rank, 3);
    EXPECT_EQ(worst.operation, "pause");
    const auto cost = static_cast<double>((run.iterations.mean - balanced).ns);
    EXPECT_NEAR(static_cast<double>(worst.gain.ns), cost, 0.01 * cost);
    ASSERT_TRUE(run.replay);
    EXPECT_EQ(run.replay->errorFraction, 0) << "the replay repeats them";
    EXPECT_GT(run.replay->pauseShare, kLargePauseShare) << "and says so";
    EXPECT_LT(run.replay->withoutPauses, run.replay->predicted);
}

TEST(Stragglers, ASlowLinkOfARunStandsFirst) {
    SyntheticOptions options = balancedOptions("gpipe", 1);
    options.slowLinks.push_back({0, 1, {3'000'000}});
    EXPECT_EQ(toString(analysed(options).stragglers.front().suspect), "link:0-1");
}

// One after another on each of three ranks: `operation` on two of them takes 100, on the last 100
// and `extra`.
ReplayModel phaseModel(const std::string& operation, std::int64_t extra) {
    ReplayModel model;
    model.ranks = {{0, 0}, {1, 1}, {2, 2}};
    model.operations = {{"forward", "forward", {"compute"}, {1000}},
                        {operation, operation, {}, {100}}};
    base::IdVector<graph::NodeTag, graph::Node> nodes;
    std::vector<std::pair<graph::NodeId, graph::NodeId>> edges;
    ReplayIteration iteration;
    for (std::int32_t rank = 0; rank < 3; ++rank) {
        for (const std::uint32_t which : {0U, 1U}) {
            graph::Node node;
            node.kind = which == 0 ? graph::NodeKind::Task : graph::NodeKind::Phase;
            node.rank = rank;
            node.duration = {which == 0 ? 1000 : rank == 2 ? 100 + extra : 100};
            const graph::NodeId id = nodes.push(node);
            if (which == 1) edges.emplace_back(graph::NodeId::at(id.index() - 1), id);
            iteration.operation.push_back(which);
            iteration.link.push_back(kNone);
            iteration.cell.push_back(static_cast<std::uint32_t>(model.cells.size()));
            const auto duration = static_cast<double>(node.duration.ns);
            model.cells.push_back({which, rank, -1, kNone, 1, duration, duration, {}});
        }
    }
    auto graph = graph::TaskGraph::build(std::move(nodes), std::move(edges));
    iteration.graph = std::move(*graph);
    iteration.windows = {{0, {1100 + extra}, {}, {}, {}}};
    model.iterations.push_back(std::move(iteration));
    return model;
}

TEST(Stragglers, SlowDataOptimizerOrSyncOfOneRankIsNamedByItsOperation) {
    for (const char* operation : {"data", "optimizer", "dp.all_reduce"}) {
        const auto stragglers = findStragglers(phaseModel(operation, 220));
        ASSERT_GE(stragglers.size(), 2U);
        EXPECT_EQ(toString(stragglers[0].suspect), operation) << "narrower than the rank";
        EXPECT_EQ(toString(stragglers[1].suspect), "rank:2");
        for (const Straggler& one : stragglers) {
            EXPECT_DOUBLE_EQ(one.slowdown, 1.2);
            EXPECT_EQ(one.gain.ns, 220);
            EXPECT_EQ(one.operation, operation);
            EXPECT_DOUBLE_EQ(one.slowest, 3.2);
        }
        EXPECT_TRUE(findStragglers(phaseModel(operation, 10)).empty()) << "below the threshold";
    }
}

TEST(Stragglers, NothingHasNone) { EXPECT_TRUE(findStragglers({}).empty()); }

}  // namespace
}  // namespace pleat::analysis
