// The critical path and slack as marks on events, against runs whose times are known.
#include "models/path_marks_maker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "gui/gui_support.h"
#include "models/pipeline_scene_maker.h"
#include "schedule/generators.h"

namespace pleat::models {
namespace {

using timeline::PathMark;
using trace::EventId;

struct Marked {
    explicit Marked(const testing::SyntheticOptions& options)
        : trace(testing::traceWith(options)),
          analysis(*analysis::analyseIteration(trace, 0)),
          marks(makePathMarks(trace, analysis)) {}

    [[nodiscard]] std::int32_t rankOf(EventId event) const {
        return trace.ranks()[trace.lanes()[trace.event(event).lane].rank].number;
    }
    [[nodiscard]] trace::LaneKind laneKindOf(EventId event) const {
        return trace.lanes()[trace.event(event).lane].kind;
    }
    // Of the event of this name on a rank.
    [[nodiscard]] std::optional<base::Duration> slackOf(std::int32_t rank,
                                                        std::string_view name) const {
        for (std::size_t i = 0; i < trace.eventCount(); ++i) {
            const EventId event = EventId::at(i);
            if (rankOf(event) == rank && trace.name(event) == name) return marks.slackOf(event);
        }
        ADD_FAILURE() << "rank " << rank << " has no " << name;
        return std::nullopt;
    }

    trace::Trace trace;
    analysis::IterationAnalysis analysis;
    timeline::PathMarks marks;
};

// Two ranks, one microbatch, forward 1000 and backward 2000 each, messages 100; data 50, optimizer
// 200.
testing::SyntheticOptions oneMicrobatch() {
    testing::SyntheticOptions options;
    options.schedule =
        *schedule::makeSchedule("gpipe", {.ranks = 2, .microbatches = 1, .chunks = 1, .group = 0});
    options.forward = {{1'000}};
    options.backward = {{2'000}};
    return options;
}

TEST(PathMarks, GoThroughTheRanksAsWorkedOutByHand) {
    const Marked run(oneMicrobatch());
    // Data, 0F0, message, 1F0, 1B0, message, 0B0, optimizer.
    const std::vector<std::pair<std::int64_t, std::int32_t>> expected = {
        {50, 0},    {1'050, 0}, {1'150, 1}, {2'150, 1},
        {4'150, 1}, {4'250, 0}, {6'250, 0}, {6'450, 0}};
    ASSERT_EQ(run.marks.path.size(), expected.size());
    std::int64_t reached = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const PathMark& mark = run.marks.path[i];
        EXPECT_FALSE(mark.pause);
        EXPECT_EQ(mark.span.begin.ns, reached);
        EXPECT_EQ(mark.span.end.ns, expected[i].first);
        ASSERT_TRUE(mark.on.valid());
        EXPECT_EQ(run.rankOf(mark.on), expected[i].second);
        EXPECT_EQ(run.marks.slackOf(mark.on), base::Duration{0});
        reached = mark.span.end.ns;
    }
    EXPECT_EQ(run.trace.name(run.marks.path[1].on), "0F0");
    EXPECT_EQ(run.trace.name(run.marks.path[4].on), "1B0");
}

TEST(PathMarks, KnowTheSlackWorkedOutByHand) {
    const Marked run(oneMicrobatch());
    EXPECT_EQ(run.marks.window.length().ns, 6'450);
    EXPECT_EQ(run.marks.palest.ns, 645);
    for (const char* name : {"0F0", "0B0"}) EXPECT_EQ(run.slackOf(0, name), base::Duration{0});
    for (const char* name : {"1F0", "1B0"}) EXPECT_EQ(run.slackOf(1, name), base::Duration{0});
    const auto& phases = run.trace.annotations().phases;
    std::map<std::pair<trace::PhaseKind, std::int32_t>, std::int64_t> slack;
    for (const trace::Phase& phase : phases) {
        const auto found = run.marks.slackOf(phase.event);
        ASSERT_TRUE(found);
        slack[{phase.kind, run.rankOf(phase.event)}] = found->ns;
    }
    using trace::PhaseKind;
    EXPECT_EQ(slack.at({PhaseKind::DataLoading, 0}), 0);
    EXPECT_EQ(slack.at({PhaseKind::DataLoading, 1}), 1'150 - 50);
    EXPECT_EQ(slack.at({PhaseKind::Optimizer, 0}), 0);
    EXPECT_EQ(slack.at({PhaseKind::Optimizer, 1}), 6'450 - 4'350);
}

TEST(PathMarks, CoverTheIterationAndKnowEveryEventOnce) {
    const Marked run(testing::foldedOptions());
    ASSERT_FALSE(run.marks.path.empty());
    base::TraceTime reached = run.analysis.window.window.begin;
    for (std::size_t i = 0; i < run.marks.path.size(); ++i) {
        const PathMark& mark = run.marks.path[i];
        EXPECT_EQ(mark.span.begin, reached);
        reached = mark.span.end;
        if (!mark.on.valid()) continue;
        const auto rank = static_cast<std::uint32_t>(run.analysis.path[i].rank);
        EXPECT_EQ(run.rankOf(mark.on), run.trace.ranks()[trace::RankId(rank)].number);
    }
    EXPECT_EQ(reached, run.analysis.window.window.end);
    EXPECT_EQ(std::adjacent_find(run.marks.slack.begin(), run.marks.slack.end(),
                                 [](const auto& a, const auto& b) { return a.event >= b.event; }),
              run.marks.slack.end());
    // 2 chunks x 4 microbatches x forward and backward on each of 4 ranks, and more.
    EXPECT_GT(run.marks.slack.size(), 64U);
}

TEST(PathMarks, LieOnTheDeviceWhereTasksDo) {
    testing::SyntheticOptions options = oneMicrobatch();
    options.devices = true;
    const Marked run(options);
    std::size_t onDevice = 0;
    for (std::size_t i = 0; i < run.marks.path.size(); ++i) {
        const PathMark& mark = run.marks.path[i];
        const analysis::PathPiece& piece = run.analysis.path[i];
        if (piece.pause || run.analysis.graph->nodes()[piece.node].kind != graph::NodeKind::Task)
            continue;
        ++onDevice;
        EXPECT_EQ(run.laneKindOf(mark.on), trace::LaneKind::DeviceStream);
        EXPECT_EQ(run.trace.event(mark.on).span, mark.span);
    }
    EXPECT_EQ(onDevice, 4U);
    for (const trace::Task& task : run.trace.annotations().tasks) {
        EXPECT_EQ(run.laneKindOf(task.event), trace::LaneKind::HostThread);
        const auto slack = run.marks.slackOf(task.event);
        ASSERT_TRUE(slack);
        for (const trace::Dependency& launch : run.trace.dependencies()) {
            const base::TraceTime called = run.trace.event(launch.from).span.begin;
            const base::Interval host = run.trace.event(task.event).span;
            const bool within = run.rankOf(launch.from) == run.rankOf(task.event) &&
                                called >= host.begin && called < host.end;
            if (within) {
                EXPECT_EQ(run.marks.slackOf(launch.to), slack);
            }
        }
    }
}

TEST(PathMarks, OfAnIterationWithoutAGraphAreEmpty) {
    const Marked run(oneMicrobatch());
    analysis::IterationAnalysis without = run.analysis;
    without.graph.reset();
    const timeline::PathMarks marks = makePathMarks(run.trace, without);
    EXPECT_TRUE(marks.path.empty());
    EXPECT_TRUE(marks.slack.empty());
}

TEST(PathMarks, ThePipelineKnowsTheSameSlack) {
    const Marked run(testing::foldedOptions());
    const timeline::PipelineScene scene =
        makePipelineScene(run.trace, run.analysis, timeline::PipelineRows::Rank);
    EXPECT_EQ(scene.palest, run.marks.palest);
    std::size_t late = 0;
    for (const timeline::PipelineTask& task : scene.tasks) {
        EXPECT_EQ(task.slack, run.marks.slackOf(task.event));
        EXPECT_TRUE(!task.critical || task.slack == base::Duration{0});
        late += task.slack && task.slack->ns > 0 ? 1U : 0U;
    }
    EXPECT_GT(late, 0U);
}

}  // namespace
}  // namespace pleat::models
