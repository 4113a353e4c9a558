#include "timeline/path_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "timeline/frame_builder.h"
#include "unit/timeline/made_trace.h"

namespace pleat::timeline {
namespace {

using trace::EventId;
using trace::RankId;

base::Interval span(std::int64_t begin, std::int64_t end) { return {{begin}, {end}}; }

// Two ranks with a lane of one row each: the rows' tops are at 26 and 74.
struct Picture {
    explicit Picture(std::shared_ptr<const trace::Trace> trace)
        : index(std::move(trace), pool),
          tree(index),
          colours(index.trace(), ColourMode::Name, pool) {}
    PathFrame lay(const PathMarks& marks, const Viewport& viewport, std::int32_t scroll = 0,
                  std::int32_t height = 200) {
        const Frame& frame = builder.build(index, tree, viewport, colours, {height, scroll, 10});
        return layOutPath(marks, frame, index, tree, scroll);
    }
    WorkerPool pool{2};
    LodIndex index;
    LaneTree tree;
    EventColours colours;
    FrameBuilder builder{pool};
};

// Rank 0 works until 400, rank 1 from 420 on: events 0, 1 and 2, 3.
std::shared_ptr<const trace::Trace> twoRanks() {
    MadeTrace made;
    made.addLane(made.addRank(0), {{0, 200}, {200, 400}});
    made.addLane(made.addRank(1), {{100, 300}, {420, 1'000}});
    return made.build();
}

PathMarks twoRanksPath() {
    PathMarks marks;
    marks.iteration = 7;
    marks.window = span(0, 1'000);
    marks.path = {{span(0, 200), EventId(0)},
                  {span(200, 400), EventId(1)},
                  {span(400, 420), EventId(3), true},
                  {span(420, 1'000), EventId(3)}};
    marks.slack = {{EventId(0), {0}}, {EventId(1), {0}}, {EventId(2), {50}}, {EventId(3), {0}}};
    marks.palest = {100};
    return marks;
}

TEST(PathLayout, RunsAlongTheRowsAndStepsFromRankToRank) {
    Picture picture(twoRanks());
    EXPECT_EQ(pathText(picture.lay(twoRanksPath(), {{0}, 10, 100})),
              "path 0..40 y 26\n"
              "pause 40..42 y 74\n"
              "path 42..100 y 74\n"
              "step 40,26 to 40,74\n"
              "veil row 3 10..30 95/255\n");
}

TEST(PathLayout, IsCutAtTheEdgesOfThePicture) {
    Picture picture(twoRanks());
    EXPECT_EQ(pathText(picture.lay(twoRanksPath(), {{300}, 10, 30})),
              "path 0..10 y 26\n"
              "pause 10..12 y 74\n"
              "path 12..30 y 74\n"
              "step 10,26 to 10,74\n");
    EXPECT_EQ(pathText(picture.lay(twoRanksPath(), {{1'000}, 10, 30})), "");
}

TEST(PathLayout, HasNoStepsThatLieBesideThePicture) {
    Picture picture(twoRanks());
    EXPECT_EQ(pathText(picture.lay(twoRanksPath(), {{0}, 10, 30})),
              "path 0..30 y 26\n"
              "veil row 3 10..30 95/255\n");
    EXPECT_EQ(pathText(picture.lay(twoRanksPath(), {{500}, 10, 30})), "path 0..30 y 74\n");
}

TEST(PathLayout, LeavesThePictureTowardsRowsThatAreScrolledAway) {
    Picture picture(twoRanks());
    EXPECT_EQ(pathText(picture.lay(twoRanksPath(), {{0}, 10, 100}, 40)),
              "pause 40..42 y 34\n"
              "path 42..100 y 34\n"
              "step 40,-4 to 40,34\n"
              "veil row 2 10..30 95/255\n");
    EXPECT_EQ(pathText(picture.lay(twoRanksPath(), {{0}, 10, 100}, 0, 60)),
              "path 0..40 y 26\n"
              "step 40,26 to 40,64\n");
}

TEST(PathLayout, LiesOnTheLineOfACollapsedRank) {
    Picture picture(twoRanks());
    picture.tree.setCollapsed(RankId(1), true);
    EXPECT_EQ(pathText(picture.lay(twoRanksPath(), {{0}, 10, 100})),
              "path 0..40 y 26\n"
              "pause 40..42 y 48\n"
              "path 42..100 y 48\n"
              "step 40,26 to 40,48\n"
              "veil row 2 10..30 95/255\n");
}

TEST(PathLayout, LeavesOutWhatIsOnNoEvent) {
    Picture picture(twoRanks());
    PathMarks marks = twoRanksPath();
    marks.path[2].on = {};
    EXPECT_EQ(pathText(picture.lay(marks, {{0}, 10, 100})),
              "path 0..40 y 26\n"
              "path 42..100 y 74\n"
              "step 40,26 to 42,74\n"
              "veil row 3 10..30 95/255\n");
}

// Pieces alternate between two ranks, each 10 ns long.
struct Alternating {
    explicit Alternating(std::int64_t count) {
        MadeTrace made;
        std::vector<MadeEvent> of[2];
        for (std::int64_t i = 0; i < count; ++i) of[i % 2].push_back({i * 10, i * 10 + 10});
        made.addLane(made.addRank(0), of[0]);
        made.addLane(made.addRank(1), of[1]);
        trace = made.build();
        const std::int64_t firstOfSecond = (count + 1) / 2;
        for (std::int64_t i = 0; i < count; ++i) {
            const std::int64_t event = i / 2 + (i % 2 == 0 ? 0 : firstOfSecond);
            marks.path.push_back(
                {span(i * 10, i * 10 + 10), EventId::at(static_cast<std::size_t>(event))});
        }
        marks.window = span(0, count * 10);
    }
    std::shared_ptr<const trace::Trace> trace;
    PathMarks marks;
};

TEST(PathLayout, IsUnbrokenWherePiecesAreNarrowerThanAPixel) {
    const Alternating made(20'000);
    Picture picture(made.trace);
    for (const std::int32_t width : {1, 3, 100, 999}) {
        const Viewport whole = fitted(made.marks.window, width);
        const PathFrame path = picture.lay(made.marks, whole);
        std::vector<bool> covered(static_cast<std::size_t>(width), false);
        for (const PathStroke& stroke : path.strokes) {
            ASSERT_GE(stroke.x0, 0);
            ASSERT_LT(stroke.x0, stroke.x1);
            ASSERT_LE(stroke.x1, width);
            for (std::int32_t x = stroke.x0; x < stroke.x1; ++x)
                covered[static_cast<std::size_t>(x)] = true;
        }
        EXPECT_EQ(std::count(covered.begin(), covered.end(), false), 0) << width;
        // Cost follows pixels, not pieces.
        EXPECT_LE(path.strokes.size(), static_cast<std::size_t>(width + 1) * (kMostInColumn + 1));
        EXPECT_LE(path.steps.size(), static_cast<std::size_t>(width + 1) * (kMostInColumn + 1));
    }
}

TEST(PathLayout, DrawsEveryPieceThatIsWideEnough) {
    const Alternating made(50);
    Picture picture(made.trace);
    const PathFrame path = picture.lay(made.marks, {{0}, 1, 500});
    EXPECT_EQ(path.strokes.size(), 50U);
    EXPECT_EQ(path.steps.size(), 49U);
}

// Of a column without a box the longest event counts, whose colour the column has: 7 of 10 ns are
// busy, so the veil is 178/255 of a whole one.
TEST(PathLayout, VeilsAColumnAsItsLongestEvent) {
    Picture picture(oneLane({{0, 2}, {3, 7}, {8, 9}, {20, 24}}));
    PathMarks marks;
    marks.window = span(0, 100);
    marks.path = {{span(0, 100), EventId(0)}};
    marks.slack = {{EventId(0), {0}}, {EventId(1), {100}}, {EventId(2), {50}}};
    marks.palest = {100};
    EXPECT_EQ(pathText(picture.lay(marks, {{0}, 10, 10})),
              "path 0..10 y 26\n"
              "veil row 1 0..1 132/255\n");
}

TEST(PathMarks, KnowTheSlackOfTheirEventsOnly) {
    const PathMarks marks = twoRanksPath();
    EXPECT_EQ(marks.slackOf(EventId(2)), base::Duration{50});
    EXPECT_EQ(marks.slackOf(EventId(3)), base::Duration{0});
    EXPECT_EQ(marks.slackOf(EventId(4)), std::nullopt);
    EXPECT_EQ(PathMarks().slackOf(EventId(0)), std::nullopt);
}

TEST(PathMarks, ArePalerWithMoreSlackButNeverLookIdle) {
    EXPECT_EQ(paleness({0}, {100}), 0);
    EXPECT_EQ(paleness({50}, {0}), 0);
    EXPECT_LT(paleness({10}, {100}), paleness({60}, {100}));
    EXPECT_EQ(paleness({100}, {100}), paleness({100'000}, {100}));
    EXPECT_LT(paleness({100}, {100}), 200);
}

}  // namespace
}  // namespace pleat::timeline
