// The pipeline by stage: where each task, message, gap and ghost of small made runs lies.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "gui/gui_support.h"
#include "models/area_account.h"
#include "models/facts.h"
#include "models/pipeline_scene_maker.h"
#include "timeline/pipeline_geometry.h"

namespace pleat::models {
namespace {

using timeline::PipelineScene;
using timeline::PipelineTask;
using timeline::PipelineWork;

// One replica, two ranks that hold two stages each; the times are small numbers.
trace::Trace smallTrace(std::string_view schedule, std::int32_t microbatches) {
    testing::SyntheticOptions options = testing::balancedOptions(schedule, 2, microbatches);
    options.dp = 1;
    options.iterations = 1;
    options.forward = {{100}};
    options.backward = {{200}};
    options.link = {10};
    options.data = {30};
    options.optimizer = {50};
    return testing::traceWith(options);
}

IterationResults resultsOf(const trace::Trace& trace) {
    const auto shared = std::make_shared<const trace::Trace>(trace);
    return {shared, *analysis::analyseIteration(*shared, std::nullopt)};
}

// 10 ns a pixel, rows of 24.
std::string textOf(const PipelineScene& scene, bool ghosts) {
    const timeline::PipelineViewport viewport{
        {scene.window.begin, 10, 300}, 400, 0, 24, ghosts, true};
    return timeline::pipelineText(timeline::layOutPipeline(scene, viewport), scene);
}

std::vector<std::string> titlesOf(const PipelineScene& scene) {
    std::vector<std::string> titles;
    for (const timeline::PipelineRow& row : scene.rows) titles.push_back(row.title);
    return titles;
}

// Down through the stages and up again; rank 0 idles before 2F0 and 2B0 (in row 2), then before 0B0
// (in row 0); rank 1 before 1F0, 3F0 and 1B0, and at the end. The times are worked out by hand.
TEST(PipelineByStage, ShowsTheFoldOfOneMicrobatch) {
    const IterationResults results = resultsOf(smallTrace("folded", 1));
    EXPECT_EQ(titlesOf(results.stageScene),
              (std::vector<std::string>{"stage 0, rank 0", "stage 1, rank 1", "stage 2, rank 0",
                                        "stage 3, rank 1"}));
    EXPECT_EQ(textOf(results.stageScene, false),
              "task data x 0+3 y 0+20 hue -1 critical\n"
              "task 0F0 x 3+10 y 0+20 hue 0 \"0\" critical\n"
              "task 0B0 x 109+20 y 0+20 hue 0 \"0\" critical\n"
              "task optimizer x 129+5 y 0+20 hue -1 critical\n"
              "task data x 0+3 y 24+20 hue -1\n"
              "task 1F0 x 14+10 y 24+20 hue 0 \"0\" critical\n"
              "task 1B0 x 88+20 y 24+20 hue 0 \"0\" critical\n"
              "task optimizer x 108+5 y 24+20 hue -1\n"
              "task 2F0 x 25+10 y 48+20 hue 0 \"0\" critical\n"
              "task 2B0 x 67+20 y 48+20 hue 0 \"0\" critical\n"
              "task 3F0 x 36+10 y 72+20 hue 0 \"0\" critical\n"
              "task 3B0 x 46+20 y 72+20 hue 0 \"0\" critical\n"
              "idle cause 0 x 0+3 y 0+20\n"
              "idle cause 2 x 88+20 y 0+20\n"
              "idle cause 0 x 0+3 y 24+20\n"
              "idle cause 1 x 3+10 y 24+20\n"
              "idle cause 2 x 67+20 y 24+20\n"
              "idle cause 2 x 113+21 y 24+19\n"
              "idle cause 7 x 113+21 y 43+1\n"
              "idle cause 1 x 14+10 y 48+20\n"
              "idle cause 1 x 36+30 y 48+20\n"
              "idle cause 1 x 25+10 y 72+20\n"
              "message 0 13,10 to 14,34\n"
              "message 0 24,34 to 25,58\n"
              "message 0 35,58 to 36,82\n"
              "message 0 66,82 to 67,58\n"
              "message 0 87,58 to 88,34\n"
              "message 0 108,34 to 109,10\n");
}

TEST(PipelineByStage, ShowsInterleavedStagesWithTheScheduleMeant) {
    const IterationResults results = resultsOf(smallTrace("interleaved", 2));
    EXPECT_EQ(textOf(results.stageScene, true),
              "task data x 0+3 y 0+14 hue -1 critical\n"
              "task 0F0 x 3+10 y 0+14 hue 0 \"0\" critical\n"
              "task 0F1 x 13+10 y 0+14 hue 1 \"1\"\n"
              "task 0B0 x 117+20 y 0+14 hue 0 \"0\"\n"
              "task 0B1 x 139+20 y 0+14 hue 1 \"1\" critical\n"
              "task optimizer x 159+5 y 0+14 hue -1 critical\n"
              "task data x 0+3 y 24+14 hue -1\n"
              "task 1F0 x 14+10 y 24+14 hue 0 \"0\" critical\n"
              "task 1F1 x 24+10 y 24+14 hue 1 \"1\"\n"
              "task 1B0 x 96+20 y 24+14 hue 0 \"0\"\n"
              "task 1B1 x 118+20 y 24+14 hue 1 \"1\" critical\n"
              "task optimizer x 138+5 y 24+14 hue -1\n"
              "task 2F0 x 25+10 y 48+14 hue 0 \"0\" critical\n"
              "task 2F1 x 35+10 y 48+14 hue 1 \"1\"\n"
              "task 2B0 x 67+20 y 48+14 hue 0 \"0\"\n"
              "task 2B1 x 97+20 y 48+14 hue 1 \"1\" critical\n"
              "task 3F0 x 36+10 y 72+14 hue 0 \"0\" critical\n"
              "task 3B0 x 46+20 y 72+14 hue 0 \"0\" critical\n"
              "task 3F1 x 66+10 y 72+14 hue 1 \"1\" critical\n"
              "task 3B1 x 76+20 y 72+14 hue 1 \"1\" critical\n"
              "ghost 0F0 x 0+10 y 14+6\n"
              "ghost 0F1 x 10+10 y 14+6\n"
              "ghost 0B0 x 110+20 y 14+6\n"
              "ghost 0B1 x 130+20 y 14+6\n"
              "ghost 1F0 x 10+10 y 38+6\n"
              "ghost 1F1 x 20+10 y 38+6\n"
              "ghost 1B0 x 90+20 y 38+6\n"
              "ghost 1B1 x 110+20 y 38+6\n"
              "ghost 2F0 x 20+10 y 62+6\n"
              "ghost 2F1 x 30+10 y 62+6\n"
              "ghost 2B0 x 60+20 y 62+6\n"
              "ghost 2B1 x 90+20 y 62+6\n"
              "ghost 3F0 x 30+10 y 86+6\n"
              "ghost 3B0 x 40+20 y 86+6\n"
              "ghost 3F1 x 60+10 y 86+6\n"
              "ghost 3B1 x 70+20 y 86+6\n"
              "idle cause 0 x 0+3 y 0+14\n"
              "idle cause 7 x 137+1 y 0+14\n"
              "idle cause 0 x 0+3 y 24+14\n"
              "idle cause 1 x 3+10 y 24+14\n"
              "idle cause 2 x 143+21 y 24+13\n"
              "idle cause 7 x 143+21 y 37+1\n"
              "idle cause 1 x 46+20 y 48+14\n"
              "idle cause 2 x 88+8 y 48+14\n"
              "message 0 13,7 to 14,31\n"
              "message 1 23,7 to 24,31\n"
              "message 0 24,31 to 25,55\n"
              "message 1 34,31 to 35,55\n"
              "message 0 35,55 to 36,79\n"
              "message 1 45,55 to 46,79\n"
              "message 0 66,79 to 67,55\n"
              "message 0 87,55 to 88,31\n"
              "message 1 96,79 to 97,55\n"
              "message 0 116,31 to 117,7\n"
              "message 1 117,55 to 118,31\n"
              "message 1 138,31 to 139,7\n");
}

TEST(PipelineByStage, HasARowPerReplicaAndStageWithTheSameTasksAndIdleTime) {
    const IterationResults results = resultsOf(testing::foldedTrace());
    const PipelineScene &byRank = results.scene, &byStage = results.stageScene;
    EXPECT_EQ(titlesOf(byStage),
              (std::vector<std::string>{"stage 0, rank 0", "stage 1, rank 1", "stage 2, rank 0",
                                        "stage 3, rank 1", "stage 0, rank 2", "stage 1, rank 3",
                                        "stage 2, rank 2", "stage 3, rank 3"}));
    ASSERT_EQ(byStage.tasks.size(), byRank.tasks.size());
    for (const PipelineTask& task : byStage.tasks) {
        const timeline::PipelineRow& row = byStage.rows[task.row];
        // What belongs to no stage is with the rank's first.
        EXPECT_EQ(row.stage, task.work == PipelineWork::Task ? task.stage : row.rank % 2);
    }
    ASSERT_EQ(byStage.ghosts.size(), byRank.ghosts.size());
    for (const PipelineTask& ghost : byStage.ghosts)
        EXPECT_EQ(byStage.rows[ghost.row].stage, ghost.stage);
    std::map<std::int32_t, base::Duration> idleByRank, idleByStage;
    for (const auto& gap : byRank.gaps) idleByRank[byRank.rows[gap.row].rank] += gap.span.length();
    for (const auto& gap : byStage.gaps)
        idleByStage[byStage.rows[gap.row].rank] += gap.span.length();
    EXPECT_EQ(idleByRank, idleByStage);
}

TEST(PipelineByStage, PutsIdleTimeBeforeTheTaskThatWasWaitedFor) {
    const PipelineScene scene = resultsOf(testing::foldedTrace()).stageScene;
    std::size_t checked = 0;
    for (const timeline::PipelineGap& gap : scene.gaps) {
        const PipelineTask* next = nullptr;  // of the same rank, in any row
        for (const PipelineTask& task : scene.tasks) {
            if (scene.rows[task.row].rank != scene.rows[gap.row].rank) continue;
            if (task.span.begin < gap.span.end) continue;
            if (next == nullptr || task.span.begin < next->span.begin) next = &task;
        }
        if (next == nullptr) continue;
        EXPECT_EQ(gap.row, next->row);
        ++checked;
    }
    EXPECT_GT(checked, 0U);
}

TEST(PipelineByStage, MessagesGoFromAStageToItsNeighbour) {
    const IterationResults results = resultsOf(testing::foldedTrace());
    const PipelineScene& scene = results.stageScene;
    EXPECT_EQ(scene.messages.size(), results.scene.messages.size());
    std::set<std::pair<std::int32_t, std::int32_t>> between;
    for (const timeline::PipelineMessage& message : scene.messages)
        between.emplace(scene.rows[message.fromRow].stage, scene.rows[message.toRow].stage);
    EXPECT_EQ(between, (std::set<std::pair<std::int32_t, std::int32_t>>{
                           {0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}}));
}

TEST(PipelineByStage, IsTheRowsOfRanksWhereEachHoldsOneStage) {
    testing::SyntheticOptions options = testing::balancedOptions("1f1b", 1);
    options.dp = 1;
    const IterationResults results = resultsOf(testing::traceWith(options));
    EXPECT_EQ(textOf(results.stageScene, true), textOf(results.scene, true));
    EXPECT_EQ(titlesOf(results.stageScene),
              (std::vector<std::string>{"stage 0, rank 0", "stage 1, rank 1"}));
}

// An area that touches one of a rank's stages, or several, counts the rank once.
TEST(PipelineByStage, AnAreaCountsEveryRankOfItsRowsOnce) {
    const auto trace = std::make_shared<const trace::Trace>(testing::foldedTrace());
    const IterationResults results(trace, *analysis::analyseIteration(*trace, 1));
    const PipelineScene& scene = results.stageScene;
    const auto accounts = [&](std::uint32_t first, std::uint32_t last) {
        return accountArea(*trace, results.analysis, scene, first, last, scene.window);
    };
    const auto byRank = accountArea(*trace, results.analysis, results.scene, 0, 1, scene.window);
    ASSERT_EQ(byRank.size(), 2U);
    const auto all = accounts(0, 3);  // stages 0 to 3 of the first replica
    ASSERT_EQ(all.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(all[i].rank, byRank[i].rank);
        EXPECT_EQ(all[i].parts.of, byRank[i].parts.of);
    }
    const auto one = accounts(2, 2);  // stage 2, of rank 0
    ASSERT_EQ(one.size(), 1U);
    EXPECT_EQ(one[0].rank, 0);
    EXPECT_EQ(one[0].parts.of, byRank[0].parts.of);
}

TEST(PipelineByStage, FactsOfAGapAreTheSame) {
    const IterationResults results = resultsOf(testing::foldedTrace());
    std::multiset<QString> byRank, byStage;
    const auto collect = [&](const PipelineScene& scene, std::multiset<QString>& into) {
        for (std::size_t gap = 0; gap < scene.gaps.size(); ++gap) {
            QString all;
            for (const auto& row : gapFacts(results, scene, gap).rows)
                all += row[0].text + ": " + row[1].text + "\n";
            into.insert(all);
        }
    };
    collect(results.scene, byRank);
    collect(results.stageScene, byStage);
    EXPECT_FALSE(byRank.empty());
    EXPECT_EQ(byRank, byStage);
}

// Without stages known there is a row per rank all the same.
TEST(PipelineByStage, OfRanksWithoutTasksIsARowPerRank) {
    const trace::Trace trace = testing::foldedTrace();
    analysis::IterationAnalysis analysis = *analysis::analyseIteration(trace, 1);
    const trace::Trace bare(trace.sharedColumns(), trace.ranks(), trace.lanes(), {});
    analysis.ideal.reset();
    const PipelineScene scene = makePipelineScene(bare, analysis, timeline::PipelineRows::Stage);
    EXPECT_EQ(titlesOf(scene), (std::vector<std::string>{"rank 0", "rank 1", "rank 2", "rank 3"}));
    EXPECT_TRUE(scene.tasks.empty());
    EXPECT_FALSE(scene.gaps.empty());
}

}  // namespace
}  // namespace pleat::models
