#include "timeline/pipeline_geometry.h"

#include <gtest/gtest.h>

namespace pleat::timeline {
namespace {

using schedule::ActionKind;

base::Interval span(std::int64_t begin, std::int64_t end) { return {{begin}, {end}}; }

PipelineTask task(std::uint32_t row, ActionKind kind, std::int32_t microbatch, base::Interval when,
                  bool critical = false) {
    return {row,  PipelineWork::Task, kind,    static_cast<std::int32_t>(row), 0, microbatch,
            when, trace::EventId(1),  critical};
}

// Two ranks, one microbatch forward and backward; rank 1 waits first, rank 0 in between.
PipelineScene smallScene() {
    PipelineScene scene;
    scene.window = span(0, 1'000);
    scene.rows = {{0, "rank 0"}, {1, "rank 1"}};
    scene.tasks = {task(0, ActionKind::Forward, 0, span(0, 200), true),
                   task(0, ActionKind::FullBackward, 0, span(600, 1'000), true),
                   task(1, ActionKind::Forward, 0, span(200, 400), true),
                   task(1, ActionKind::FullBackward, 0, span(400, 600), true)};
    scene.gaps = {{0, span(200, 600), 0, {0, 0.75, 0.25}}, {1, span(0, 200), 1, {1, 0, 0}}};
    scene.messages = {{0, 1, span(200, 210), 0, trace::EventId(2)},
                      {1, 0, span(590, 600), 0, trace::EventId(3)}};
    scene.ghosts = {task(0, ActionKind::Forward, 0, span(0, 150))};
    return scene;
}

// 10 ns a pixel.
PipelineViewport wholeViewport() { return {{{0}, 10, 100}, 48, 0, 24, false, true}; }

TEST(PipelineGeometry, IsThePictureOfAPaper) {
    PipelineViewport viewport = wholeViewport();
    const PipelineScene scene = smallScene();
    EXPECT_EQ(pipelineText(layOutPipeline(scene, viewport), scene),
              "task 0F0 x 0+20 y 0+20 hue 0 \"0\" critical\n"
              "task 0B0 x 60+40 y 0+20 hue 0 \"0\" critical\n"
              "task 1F0 x 20+20 y 24+20 hue 0 \"0\" critical\n"
              "task 1B0 x 40+20 y 24+20 hue 0 \"0\" critical\n"
              "idle cause 1 x 20+40 y 0+15\n"
              "idle cause 2 x 20+40 y 15+5\n"
              "idle cause 0 x 0+20 y 24+20\n"
              "message 0 20,10 to 21,34\n"
              "message 0 59,34 to 60,10\n");
    viewport.ghosts = true;
    viewport.messages = false;
    viewport.height = 20;  // the second row is below
    EXPECT_EQ(pipelineText(layOutPipeline(scene, viewport), scene),
              "task 0F0 x 0+20 y 0+14 hue 0 \"0\" critical\n"
              "task 0B0 x 60+40 y 0+14 hue 0 \"0\" critical\n"
              "ghost 0F0 x 0+15 y 14+6\n"
              "idle cause 1 x 20+40 y 0+11\n"
              "idle cause 2 x 20+40 y 11+3\n");
}

TEST(PipelineGeometry, ShowsOnlyWhatMeetsTheViewport) {
    PipelineViewport viewport = wholeViewport();
    viewport.time = {{450}, 1, 100};
    viewport.top = 24;
    viewport.messages = false;
    const PipelineScene scene = smallScene();
    EXPECT_EQ(pipelineText(layOutPipeline(scene, viewport), scene),
              "task 1B0 x 0+100 y 0+20 hue 0 \"0\" critical\n");
}

TEST(PipelineGeometry, GivesNoPixelOfARowToTwoTasks) {
    PipelineScene scene;
    scene.rows = {{0, ""}};
    for (std::int64_t i = 0; i < 10'000; ++i)
        scene.tasks.push_back(task(0, ActionKind::Forward, 3, span(i * 2, i * 2 + 1)));
    scene.window = span(0, 20'000);
    const PipelineViewport viewport{{{0}, 200, 100}, 24, 0, 24, false, true};
    const PipelineFrame frame = layOutPipeline(scene, viewport);
    EXPECT_EQ(frame.boxes.size(), 100U);
    std::int32_t end = 0;
    for (const PipelineBox& box : frame.boxes) {
        EXPECT_GE(box.rect.x, end);
        end = box.rect.x + box.rect.width;
        EXPECT_LE(end, 100);
        EXPECT_TRUE(box.label.empty());  // no room
    }
}

TEST(PipelineGeometry, ShowsATaskWithoutLength) {
    PipelineScene scene;
    scene.rows = {{0, ""}};
    scene.tasks = {task(0, ActionKind::Forward, 12, span(500, 500))};
    const PipelineFrame frame = layOutPipeline(scene, wholeViewport());
    ASSERT_EQ(frame.boxes.size(), 1U);
    EXPECT_EQ(frame.boxes[0].rect.width, 1);
    EXPECT_EQ(frame.boxes[0].hue, 12 % kMicrobatchHues);
}

TEST(PipelineGeometry, FindsWhatIsUnderAPoint) {
    const PipelineScene scene = smallScene();
    const PipelineViewport viewport = wholeViewport();
    const PipelineFrame frame = layOutPipeline(scene, viewport);
    const auto found = hitAt(frame, 70, 5);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->kind, PipelineHit::Kind::Task);
    EXPECT_EQ(found->index, 1U);
    const auto gap = hitAt(frame, 30, 16);
    ASSERT_TRUE(gap);
    EXPECT_EQ(gap->kind, PipelineHit::Kind::Gap);
    EXPECT_EQ(gap->index, 0U);
    EXPECT_FALSE(hitAt(frame, 30, 22));  // between the rows
    EXPECT_EQ(rowAt(scene, viewport, 30), 1U);
    EXPECT_EQ(rowAt(scene, viewport, 60), std::nullopt);
}

TEST(PipelineGeometry, OfNothingIsNothing) {
    EXPECT_TRUE(layOutPipeline({}, wholeViewport()).boxes.empty());
    PipelineViewport flat = wholeViewport();
    flat.height = 0;
    EXPECT_TRUE(layOutPipeline(smallScene(), flat).boxes.empty());
}

}  // namespace
}  // namespace pleat::timeline
