// The tables and scenes of the viewer against the analysis they show.
#include <gtest/gtest.h>

#include <algorithm>

#include "gui/gui_support.h"
#include "models/answer_figures.h"
#include "models/compare_figures.h"
#include "models/facts.h"
#include "models/path_figures.h"

namespace pleat::models {
namespace {

using pleat::testing::foldedTrace;
using pleat::testing::valueOf;

RunResults resultsOf(const trace::Trace& trace) {
    return {*analysis::analyseRun(trace, {}), graph::iterationWindows(trace)};
}

IterationResults iterationOf(const std::shared_ptr<const trace::Trace>& trace) {
    return {trace, *analysis::analyseIteration(*trace, 1)};
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

TEST(AnswerFigures, BeginWithTheAnswerAndHowFarTheReplayIsOff) {
    const QStringList lines = headlines(resultsOf(foldedTrace()));
    ASSERT_GE(lines.size(), 5);
    EXPECT_TRUE(lines[0].contains("Largest losses:")) << lines[0].toStdString();
    EXPECT_TRUE(lines[1].startsWith("Replay error 0.0 %")) << lines[1].toStdString();
    EXPECT_TRUE(lines[2].contains("median"));
    EXPECT_TRUE(lines[3].contains("folded, 2 pipeline ranks, 2 chunks, 4 microbatches"));
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

analysis::Comparison compareFoldedWith(base::Duration forward) {
    testing::SyntheticOptions options = testing::foldedOptions();
    options.iterations = 6;
    const auto base = analysis::seriesOf(testing::traceWith(options), {});
    options.forward = {forward};
    const auto other = analysis::seriesOf(testing::traceWith(options), {});
    return analysis::compareRuns(*base, *other);
}

const std::vector<Cell>* rowOf(const Figures& figures, const QString& level, const QString& what) {
    for (const auto& row : figures.rows) {
        if (row[0].text == level && row[1].text == what) return &row;
    }
    return nullptr;
}

TEST(CompareFigures, GiveTheVerdictMediansAndIntervalOfEveryRow) {
    const analysis::Comparison slower = compareFoldedWith({1'500'000});
    EXPECT_TRUE(comparisonAnswer(slower).startsWith("NEW is slower: +"))
        << comparisonAnswer(slower).toStdString();
    Place iteration;
    iteration.iteration = 1;
    const Figures figures = comparedFigures(slower, iteration);
    ASSERT_EQ(figures.rows.size(), slower.rows.size());
    for (const auto& row : figures.rows)
        ASSERT_EQ(static_cast<qsizetype>(row.size()), figures.columns.size());
    const auto* forward = rowOf(figures, "stage", "stage 2 F");
    ASSERT_NE(forward, nullptr);
    EXPECT_EQ((*forward)[2].text, "slower");
    EXPECT_EQ((*forward)[2].tone, Tone::Longer);
    EXPECT_EQ((*forward)[3].text, "1.000");
    EXPECT_EQ((*forward)[4].text, "1.500");
    EXPECT_EQ((*forward)[5].text, "+0.500");
    EXPECT_EQ((*forward)[6].text, "+50.0 %");
    EXPECT_EQ((*forward)[7].text, "+0.500 to +0.500");
    const auto* backward = rowOf(figures, "stage", "stage 2 B");
    ASSERT_NE(backward, nullptr);
    EXPECT_EQ((*backward)[2].text, "same");
    EXPECT_EQ((*backward)[2].tone, Tone::Plain);
    EXPECT_EQ(comparedFigures(compareFoldedWith({500'000}), iteration).rows[0][2].tone,
              Tone::Shorter);
}

TEST(CompareFigures, LeadFromTheRowOfARankToIt) {
    Place iteration;
    iteration.iteration = 1;
    std::size_t ofRanks = 0;
    for (const auto& row : comparedFigures(compareFoldedWith({1'500'000}), iteration).rows) {
        EXPECT_EQ(row[1].place.iteration, 1);
        if (row[0].text != "rank") continue;
        EXPECT_TRUE(row[1].text.startsWith(QStringLiteral("rank %1 ").arg(row[1].place.rank)));
        ++ofRanks;
    }
    EXPECT_GT(ofRanks, 0U);
}

TEST(CompareFigures, NameThePartsOfTheMeanAsTheBarsDo) {
    const analysis::Comparison slower = compareFoldedWith({1'500'000});
    ASSERT_EQ(slower.parts.size(), barPartCount());
    EXPECT_EQ(slower.parts[0].name, "compute");
    EXPECT_EQ(slower.parts[3].name, "copy");
    for (std::size_t part = kFirstCause; part < slower.parts.size(); ++part) {
        EXPECT_EQ(slower.parts[part].name,
                  toString(static_cast<analysis::BubbleCause>(part - kFirstCause)));
    }
    const Figures figures = meanFigures(slower, {});
    EXPECT_EQ(figures.rows[0][0].text, "whole");
    EXPECT_EQ(figures.rows[1][0].text, "compute");
    EXPECT_EQ(figures.rows[1][3].tone, Tone::Longer);
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
    // Those of the next iteration are not here, though its receives were posted in this one.
    for (const timeline::PipelineMessage& message : scene.messages)
        EXPECT_LT(message.span.begin, scene.window.end);
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
    const auto accounts = accountArea(*trace, iteration.analysis, iteration.scene, 1, 2, half);
    ASSERT_EQ(accounts.size(), 2U);
    EXPECT_EQ(accounts[0].rank, 1);
    for (const AreaAccount& account : accounts) EXPECT_EQ(account.parts.total(), half.length());
    const Figures facts = areaFacts(accounts, half);
    EXPECT_EQ(valueOf(facts, "Ranks"), "2");
    EXPECT_FALSE(valueOf(facts, "bubble").isEmpty());
    EXPECT_TRUE(valueOf(facts, "rank 2").contains("compute "));
    EXPECT_TRUE(accountArea(*trace, iteration.analysis, iteration.scene, 0, 3,
                            {window.end, window.end + half.length()})
                    .empty());
}

// The partition of an iteration, cut, is the partition of the cut: wherever one looks from.
TEST(AreaAccount, OfTheTimelineIsThatOfThePipelineWithinAnIteration) {
    const auto trace = std::make_shared<const trace::Trace>(foldedTrace());
    const IterationResults iteration = iterationOf(trace);
    const base::Interval window = iteration.scene.window;
    std::vector<trace::LaneId> lanes;
    for (std::size_t i = 0; i < trace->lanes().size(); ++i) {
        const trace::LaneId lane = trace::LaneId::at(i);
        const std::int32_t rank = trace->ranks()[trace->lanes()[lane].rank].number;
        if (rank == 1 || rank == 2) lanes.push_back(lane);
    }
    const std::int64_t step = window.length().ns / 7;
    for (std::int64_t at = 0; at + step <= window.length().ns; at += step) {
        const base::Interval range{window.begin + base::Duration{at},
                                   window.begin + base::Duration{at + step}};
        const auto there = accountArea(*trace, lanes, range);
        ASSERT_TRUE(there.ok());
        const auto here = accountArea(*trace, iteration.analysis, iteration.scene, 1, 2, range);
        ASSERT_EQ(there->size(), here.size());
        for (std::size_t i = 0; i < here.size(); ++i) {
            EXPECT_EQ((*there)[i].rank, here[i].rank);
            EXPECT_EQ((*there)[i].parts.of, here[i].parts.of);
            EXPECT_EQ(here[i].parts.total(), range.length());
        }
    }
}

TEST(AreaAccount, ReachesOverIterationsAndNamesAnAreaWithoutRanks) {
    const trace::Trace trace = foldedTrace();
    const std::vector<trace::LaneId> first{trace::LaneId(0)};
    const auto whole = accountArea(trace, first, trace.span());
    ASSERT_TRUE(whole.ok());
    ASSERT_EQ(whole->size(), 1U);
    EXPECT_EQ(whole->front().parts.total(), trace.span().length());
    const auto none = accountArea(trace, std::vector<trace::LaneId>{}, trace.span());
    ASSERT_TRUE(none.ok());
    EXPECT_EQ(valueOf(areaFacts(*none, trace.span()), "Ranks"),
              "no training rank in the selection");
}

TEST(Facts, OfATaskNameItAndItsSlack) {
    const auto trace = std::make_shared<const trace::Trace>(foldedTrace());
    const IterationResults iteration = iterationOf(trace);
    const timeline::EventRoles roles(trace->annotations());
    for (const timeline::PipelineTask& task : iteration.scene.tasks) {
        if (task.work != timeline::PipelineWork::Task || !task.critical) continue;
        const Figures facts = eventFacts(*trace, roles, task.event, &iteration);
        EXPECT_EQ(valueOf(facts, "Microbatch"), QString::number(task.microbatch));
        EXPECT_EQ(valueOf(facts, "Stage"), QString::number(task.stage));
        EXPECT_EQ(valueOf(facts, "Slack"), "none: it is critical");
    }
}

TEST(Facts, OfAReceiveNameThePeerAndHowLongItWaited) {
    const trace::Trace trace = foldedTrace();
    const timeline::EventRoles roles(trace.annotations());
    std::size_t receives = 0;
    for (const trace::Transfer& transfer : trace.annotations().transfers) {
        if (transfer.operation != trace::Operation::Receive) continue;
        ++receives;
        const Figures facts = eventFacts(trace, roles, transfer.event, nullptr);
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
        const Figures facts = gapFacts(iteration, iteration.scene, gap);
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

// One name for one thing: the viewer calls parts and causes as the command line does.
TEST(Figures, PartsAndCausesAreNamedAsInReports) {
    for (std::size_t part = 0; part < kFirstCause; ++part)
        EXPECT_EQ(barPartName(part).toStdString(),
                  analysis::toString(static_cast<analysis::TimePart>(part)));
    for (const analysis::BubbleCause cause : analysis::kBubbleCauses) {
        EXPECT_EQ(barPartName(kFirstCause + static_cast<std::size_t>(cause)).toStdString(),
                  "bubble: " + std::string(analysis::toString(cause)));
    }
}

}  // namespace
}  // namespace pleat::models
