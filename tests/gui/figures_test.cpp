// The tables and scenes of the viewer against the analysis they show.
#include <gtest/gtest.h>

#include <algorithm>

#include "gui/gui_support.h"
#include "models/answer_figures.h"
#include "models/facts.h"
#include "models/path_figures.h"
#include "models/pipeline_scene_maker.h"

namespace pleat::models {
namespace {

using pleat::testing::foldedTrace;

RunResults resultsOf(const trace::Trace& trace) {
    return {*analysis::analyseRun(trace, {}), graph::iterationWindows(trace)};
}

IterationResults iterationOf(const std::shared_ptr<const trace::Trace>& trace) {
    auto analysis = *analysis::analyseIteration(*trace, 1);
    auto scene = makePipelineScene(*trace, analysis);
    return {trace, std::move(analysis), std::move(scene)};
}

QString valueOf(const Figures& facts, const QString& what) {
    for (const auto& row : facts.rows) {
        if (row[0].text == what) return row[1].text;
    }
    return {};
}

TEST(AnswerFigures, SumToAHundredPercentInEveryBar) {
    const auto bars = rankBars(resultsOf(foldedTrace()));
    ASSERT_EQ(bars.size(), 4U);
    for (const Bar& bar : bars) {
        int tenths = 0;
        for (const BarSegment& segment : bar.segments) {
            tenths += segment.tenths;
            EXPECT_GT(segment.time.ns, 0);
            EXPECT_FALSE(segment.place.empty());
        }
        EXPECT_EQ(tenths, 1'000);
    }
}

TEST(AnswerFigures, SayTheReplayErrorFirst) {
    const QStringList lines = headlines(resultsOf(foldedTrace()));
    ASSERT_GE(lines.size(), 4);
    EXPECT_TRUE(lines[0].startsWith("Replay error 0.0 %")) << lines[0].toStdString();
    EXPECT_TRUE(lines[1].contains("median"));
    EXPECT_TRUE(lines[2].contains("folded, 2 pipeline ranks, 2 chunks, 4 microbatches"));
}

TEST(AnswerFigures, LeadSomewhereFromEveryNumber) {
    const trace::Trace trace = foldedTrace();
    const RunResults results = resultsOf(trace);
    for (const Figures& figures : {rankFigures(results), iterationFigures(results),
                                   causeFigures(results), transferFigures(results, trace)}) {
        ASSERT_FALSE(figures.rows.empty());
        for (const auto& row : figures.rows) {
            EXPECT_EQ(static_cast<qsizetype>(row.size()), figures.columns.size());
            for (const Cell& cell : row) EXPECT_FALSE(cell.place.empty());
        }
    }
    // The longest transfer of the kind is where its row leads.
    const auto rows = transferFigures(results, trace).rows;
    EXPECT_TRUE(rows.front().front().place.event.valid());
}

TEST(PipelineScene, HoldsTheIterationsTasksMessagesGapsAndTheScheduleMeant) {
    const auto trace = std::make_shared<const trace::Trace>(foldedTrace());
    const IterationResults iteration = iterationOf(trace);
    const timeline::PipelineScene& scene = iteration.scene;
    EXPECT_EQ(scene.rows.size(), 4U);
    EXPECT_EQ(scene.rows[1].title, "rank 1, pp 1");
    // 2 chunks x 4 microbatches x forward and backward on each of 4 ranks; optimizer and data too.
    const auto tasks = std::count_if(
        scene.tasks.begin(), scene.tasks.end(),
        [](const timeline::PipelineTask& t) { return t.work == timeline::PipelineWork::Task; });
    EXPECT_EQ(tasks, 4 * 2 * 4 * 2);
    EXPECT_EQ(scene.ghosts.size(), 64U);
    EXPECT_FALSE(scene.messages.empty());
    for (const timeline::PipelineMessage& message : scene.messages)
        EXPECT_NE(message.fromRow, message.toRow);
    EXPECT_TRUE(std::any_of(scene.tasks.begin(), scene.tasks.end(),
                            [](const timeline::PipelineTask& task) { return task.critical; }));
    base::Duration idle;
    for (const timeline::PipelineGap& gap : scene.gaps) idle += gap.span.length();
    base::Duration bubble;
    for (const auto& rank : iteration.analysis.ranks) bubble += rank.parts.bubble.total();
    EXPECT_EQ(idle, bubble);
}

TEST(PipelineScene, AccountsForAnAreaExactly) {
    const auto trace = std::make_shared<const trace::Trace>(foldedTrace());
    const IterationResults iteration = iterationOf(trace);
    const base::Interval window = iteration.scene.window;
    const base::Interval half = {window.begin,
                                 window.begin + base::Duration{window.length().ns / 2}};
    const AreaAccount account = accountArea(iteration.analysis, 1, 2, half);
    EXPECT_EQ(account.compute + account.moving + account.waiting + account.copy + account.bubble,
              half.length() + half.length());
    const Figures facts = areaFacts(iteration, 1, 2, half);
    EXPECT_EQ(valueOf(facts, "Ranks"), "2");
    EXPECT_FALSE(valueOf(facts, "bubble").isEmpty());
}

TEST(Facts, OfATaskNameItAndItsSlack) {
    const auto trace = std::make_shared<const trace::Trace>(foldedTrace());
    const IterationResults iteration = iterationOf(trace);
    for (const timeline::PipelineTask& task : iteration.scene.tasks) {
        if (task.work != timeline::PipelineWork::Task || !task.critical) continue;
        const Figures facts = eventFacts(*trace, task.event, &iteration);
        EXPECT_EQ(valueOf(facts, "Microbatch"), QString::number(task.microbatch));
        EXPECT_EQ(valueOf(facts, "Stage"), QString::number(task.stage));
        EXPECT_EQ(valueOf(facts, "Slack"), "none: it is critical");
    }
}

TEST(Facts, OfAReceiveNameThePeerAndHowLongItWaited) {
    const trace::Trace trace = foldedTrace();
    std::size_t receives = 0;
    for (const trace::Transfer& transfer : trace.annotations().transfers) {
        if (transfer.operation != trace::Operation::Receive) continue;
        ++receives;
        const Figures facts = eventFacts(trace, transfer.event, nullptr);
        EXPECT_EQ(valueOf(facts, "To or from rank"), QString::number(transfer.peer));
        EXPECT_TRUE(valueOf(facts, "Waited").contains(" for rank "));
        EXPECT_TRUE(
            valueOf(facts, "Peer").startsWith(QStringLiteral("rank %1,").arg(transfer.peer)));
    }
    EXPECT_GT(receives, 0U);
}

TEST(Facts, OfAGapNameItsCauses) {
    const auto trace = std::make_shared<const trace::Trace>(foldedTrace());
    const IterationResults iteration = iterationOf(trace);
    for (std::size_t gap = 0; gap < iteration.scene.gaps.size(); ++gap) {
        const Figures facts = gapFacts(iteration, gap);
        const bool named = std::any_of(facts.rows.begin(), facts.rows.end(), [](const auto& row) {
            return row[0].text.startsWith("bubble: ");
        });
        EXPECT_TRUE(named);
    }
}

TEST(PathFigures, CoverTheIterationWithoutAHole) {
    const auto trace = std::make_shared<const trace::Trace>(foldedTrace());
    const IterationResults iteration = iterationOf(trace);
    const Figures pieces = pathPieces(iteration);
    ASSERT_FALSE(pieces.rows.empty());
    base::TraceTime reached = iteration.scene.window.begin;
    for (const auto& row : pieces.rows) {
        ASSERT_TRUE(row[0].place.range);
        EXPECT_EQ(row[0].place.range->begin, reached);
        reached = row[0].place.range->end;
    }
    EXPECT_EQ(reached, iteration.scene.window.end);
    EXPECT_FALSE(pathAttribution(iteration).rows.empty());
}

}  // namespace
}  // namespace pleat::models
