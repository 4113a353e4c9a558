#include "timeline/navigator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "timeline/pipeline_steps.h"

namespace pleat::timeline {
namespace {

// 100 pixels for 1000 ns; 50 of 200 pixels of rows, 10 each.
Navigator opened() {
    Navigator navigator;
    navigator.resize(100, 50);
    navigator.setRows(200, 10);
    navigator.start({{0}, {1'000}});
    return navigator;
}

TEST(Navigator, ShowsAllTimeAndTheFirstRowsAtFirst) {
    EXPECT_EQ(opened().text(), "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 200");
}

TEST(Navigator, ReadsKeysByTheirNames) {
    struct Case {
        std::string_view keys, then;
    };
    for (const Case& one : {
             Case{"W", "100 .. 900 ns at 8 ns/px, rows 0 .. 50 of 200"},
             Case{"W S", "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 200"},
             Case{"S", "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 200"},
             Case{"W D", "180 .. 980 ns at 8 ns/px, rows 0 .. 50 of 200"},
             Case{"W D D D D", "200 .. 1000 ns at 8 ns/px, rows 0 .. 50 of 200"},
             Case{"W A", "20 .. 820 ns at 8 ns/px, rows 0 .. 50 of 200"},
             Case{"W Home", "0 .. 800 ns at 8 ns/px, rows 0 .. 50 of 200"},
             Case{"W End", "200 .. 1000 ns at 8 ns/px, rows 0 .. 50 of 200"},
             Case{"W End F", "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 200"},
             Case{"Down", "0 .. 1000 ns at 10 ns/px, rows 10 .. 60 of 200"},
             Case{"Down Up Up", "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 200"},
             Case{"PgDown", "0 .. 1000 ns at 10 ns/px, rows 50 .. 100 of 200"},
             Case{"PgDown PgDown PgDown PgDown",
                  "0 .. 1000 ns at 10 ns/px, rows 150 .. 200 of 200"},
             Case{"PgDown PgDown PgUp", "0 .. 1000 ns at 10 ns/px, rows 50 .. 100 of 200"},
             Case{"W W Undo", "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 200"},
             Case{"W End Undo", "100 .. 900 ns at 8 ns/px, rows 0 .. 50 of 200"},
             Case{"W End Undo Redo", "200 .. 1000 ns at 8 ns/px, rows 0 .. 50 of 200"},
             Case{"Undo", "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 200"},
         }) {
        Navigator navigator = opened();
        for (std::string_view left = one.keys; !left.empty();) {
            const std::size_t end = std::min(left.find(' '), left.size());
            EXPECT_TRUE(navigator.press(left.substr(0, end))) << one.keys;
            left.remove_prefix(std::min(end + 1, left.size()));
        }
        EXPECT_EQ(navigator.text(), one.then) << one.keys;
    }
}

TEST(Navigator, LeavesOtherKeysToThePicture) {
    Navigator navigator = opened();
    for (const std::string_view key : {"", "w", "Left", "Ctrl+W", "Shift+F", "Esc", "WW"})
        EXPECT_FALSE(navigator.press(key)) << key;
    EXPECT_EQ(navigator.text(), opened().text());
}

TEST(Navigator, KeysZoomUnderThePointerOrInTheMiddle) {
    Navigator navigator = opened();
    navigator.pointAt(Point{25, 10});
    (void)navigator.press("W");
    EXPECT_EQ(navigator.text(), "50 .. 850 ns at 8 ns/px, rows 0 .. 50 of 200");
    for (const Point outside : {Point{-1, 10}, Point{100, 10}, Point{25, -1}, Point{25, 50}}) {
        navigator.pointAt(outside);
        EXPECT_EQ(navigator.zoomCentre(), 50);
    }
    navigator.pointAt(std::nullopt);
    EXPECT_EQ(navigator.zoomCentre(), 50);
}

TEST(Navigator, MotionIsOneStepUntilItPauses) {
    Navigator navigator = opened();
    navigator.zoom(0, 0.5);
    navigator.pan(10);
    navigator.endMotion();
    navigator.pan(10);
    EXPECT_EQ(navigator.text(), "100 .. 600 ns at 5 ns/px, rows 0 .. 50 of 200");
    EXPECT_TRUE(navigator.undo());
    EXPECT_EQ(navigator.text(), "50 .. 550 ns at 5 ns/px, rows 0 .. 50 of 200");
    EXPECT_TRUE(navigator.undo());
    EXPECT_EQ(navigator.text(), "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 200");
    EXPECT_FALSE(navigator.undo());
    EXPECT_TRUE(navigator.redo());
    EXPECT_TRUE(navigator.redo());
    EXPECT_FALSE(navigator.redo());
}

TEST(Navigator, TheWheelScrollsZoomsAndMoves) {
    Navigator navigator = opened();
    navigator.turn({0, -1, false, false, {0, 0}});
    EXPECT_EQ(navigator.text(), "0 .. 1000 ns at 10 ns/px, rows 30 .. 80 of 200");
    navigator.turn({0, 1, true, false, {0, 0}});
    EXPECT_EQ(navigator.text(), "0 .. 800 ns at 8 ns/px, rows 30 .. 80 of 200");
    navigator.turn({0, -1, false, true, {0, 0}});
    EXPECT_EQ(navigator.text(), "80 .. 880 ns at 8 ns/px, rows 30 .. 80 of 200");
    navigator.turn({1, 0, false, false, {0, 0}});
    EXPECT_EQ(navigator.text(), "0 .. 800 ns at 8 ns/px, rows 30 .. 80 of 200");
    navigator.setRows(50, 10);  // nothing to scroll: it zooms
    navigator.turn({0, -1, false, false, {0, 0}});
    EXPECT_EQ(navigator.text(), "0 .. 1000 ns at 10 ns/px, rows 0 .. 50 of 50");
}

TEST(Navigator, ADragMovesWhatWasTakenHoldOf) {
    Navigator navigator = opened();
    navigator.zoom(0, 0.5);
    navigator.endMotion();
    navigator.pointerDown({50, 40}, false);
    EXPECT_EQ(navigator.pointerMoved({49, 39}), Gesture::Click);
    EXPECT_EQ(navigator.pointerMoved({40, 20}), Gesture::Move);
    EXPECT_EQ(navigator.pointerMoved({30, 30}), Gesture::Move);
    EXPECT_EQ(navigator.text(), "100 .. 600 ns at 5 ns/px, rows 10 .. 60 of 200");
    // Back where it began, it still is no click.
    EXPECT_EQ(navigator.pointerMoved({50, 40}), Gesture::Move);
    EXPECT_EQ(navigator.pointerUp(), Gesture::Move);
    EXPECT_EQ(navigator.text(), "0 .. 500 ns at 5 ns/px, rows 0 .. 50 of 200");
    EXPECT_EQ(navigator.pointerMoved({10, 10}), Gesture::None);
    EXPECT_EQ(navigator.pointerUp(), Gesture::None);
}

TEST(Navigator, AClickMovesNothing) {
    Navigator navigator = opened();
    navigator.pointerDown({50, 40}, false);
    (void)navigator.pointerMoved({52, 41});
    EXPECT_EQ(navigator.pointerUp(), Gesture::Click);
    EXPECT_EQ(navigator.text(), opened().text());
    EXPECT_FALSE(navigator.undo());
}

TEST(Navigator, DrawsAnAreaInEitherDirection) {
    Navigator navigator = opened();
    navigator.scrollTo(100);
    const DrawnArea expected{{{200}, {600}}, 110, 140};
    navigator.pointerDown({20, 10}, true);
    EXPECT_EQ(navigator.pointerMoved({60, 40}), Gesture::Area);
    EXPECT_EQ(navigator.drawnArea(), expected);
    EXPECT_EQ(navigator.pointerUp(), Gesture::Area);
    navigator.pointerDown({60, 40}, true);
    (void)navigator.pointerMoved({20, 10});
    EXPECT_EQ(navigator.drawnArea(), expected);
    // What lies beside the rows is none of their time.
    (void)navigator.pointerMoved({-30, 10});
    EXPECT_EQ(navigator.drawnArea().time, (base::Interval{{0}, {600}}));
    EXPECT_EQ(navigator.text(), "0 .. 1000 ns at 10 ns/px, rows 100 .. 150 of 200");
}

TEST(Navigator, KeepsTheTimesInAWindowOfAnotherSize) {
    Navigator navigator = opened();
    navigator.showRange({{200}, {400}});
    navigator.scrollTo(150);
    navigator.resize(200, 100);
    EXPECT_EQ(navigator.text(), "200 .. 400 ns at 1 ns/px, rows 100 .. 200 of 200");
    EXPECT_TRUE(navigator.undo());
    EXPECT_EQ(navigator.text(), "0 .. 1000 ns at 5 ns/px, rows 100 .. 200 of 200");
}

TEST(Navigator, KeepsThePlaceWhenThereIsMoreTime) {
    Navigator navigator = opened();
    navigator.showRange({{200}, {400}}, 1.5);
    EXPECT_EQ(navigator.text(), "150 .. 450 ns at 3 ns/px, rows 0 .. 50 of 200");
    navigator.setWhole({{0}, {5'000}});
    EXPECT_EQ(navigator.text(), "150 .. 450 ns at 3 ns/px, rows 0 .. 50 of 200");
    navigator.showWhole();
    EXPECT_EQ(navigator.view().nsPerPixel, 50);
    navigator.setWhole({{0}, {300}});
    EXPECT_EQ(navigator.text(), "0 .. 300 ns at 3 ns/px, rows 0 .. 50 of 200");
}

TEST(Navigator, FollowsAnotherWithItsWayBack) {
    Navigator navigator = opened(), other = opened();
    other.start({{5'000}, {6'000}});
    navigator.showRange({{200}, {400}});
    other.follow(navigator, {5'000});
    EXPECT_EQ(other.text(), "5200 .. 5400 ns at 2 ns/px, rows 0 .. 50 of 200");
    EXPECT_TRUE(other.undo());
    EXPECT_EQ(other.text(), "5000 .. 6000 ns at 10 ns/px, rows 0 .. 50 of 200");
}

// Two rows: tasks at 0, 100, 200 of the first, at 90 and 150 of the second.
PipelineScene twoRows() {
    PipelineScene scene;
    scene.rows.resize(2);
    const auto add = [&](std::uint32_t row, std::int64_t begin) {
        PipelineTask task;
        task.row = row;
        task.span = {{begin}, {begin + 50}};
        task.event = trace::EventId::at(scene.tasks.size());
        scene.tasks.push_back(task);
    };
    for (const std::int64_t begin : {0, 100, 200}) add(0, begin);
    for (const std::int64_t begin : {90, 150}) add(1, begin);
    return scene;
}

TEST(PipelineSteps, GoAlongARowAndToTheNearestOfTheNextRow) {
    const PipelineScene scene = twoRows();
    struct Case {
        std::size_t from;
        PipelineStep step;
        std::size_t to;
    };
    for (const Case& one : {Case{0, PipelineStep::Later, 1}, Case{2, PipelineStep::Later, 2},
                            Case{1, PipelineStep::Earlier, 0}, Case{0, PipelineStep::Earlier, 0},
                            Case{3, PipelineStep::Earlier, 3}, Case{4, PipelineStep::Later, 4},
                            Case{1, PipelineStep::Below, 3}, Case{2, PipelineStep::Below, 4},
                            Case{3, PipelineStep::Above, 1}, Case{0, PipelineStep::Above, 0},
                            Case{4, PipelineStep::Below, 4}}) {
        EXPECT_EQ(steppedFrom(scene, PipelineHit{PipelineHit::Kind::Task, one.from}, one.step),
                  one.to)
            << one.from;
    }
    EXPECT_EQ(steppedFrom(scene, std::nullopt, PipelineStep::Below), 0U);
    EXPECT_EQ(steppedFrom(scene, PipelineHit{PipelineHit::Kind::Gap, 3}, PipelineStep::Below), 0U);
}

TEST(PipelineSteps, FindTheSameTaskAmongOtherRows) {
    const PipelineScene scene = twoRows();
    PipelineScene other = scene;
    std::reverse(other.tasks.begin(), other.tasks.end());
    const auto same = sameIn(other, scene, {PipelineHit::Kind::Task, 1});
    ASSERT_TRUE(same);
    EXPECT_EQ(same->index, 3U);
    EXPECT_FALSE(sameIn(other, scene, {PipelineHit::Kind::Ghost, 1}));
    EXPECT_FALSE(sameIn(PipelineScene(), scene, {PipelineHit::Kind::Task, 1}));
}

}  // namespace
}  // namespace pleat::timeline
