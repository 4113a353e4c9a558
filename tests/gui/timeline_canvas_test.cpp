#include "widgets/timeline_canvas.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "gui/gui_support.h"
#include "gui/input_events.h"
#include "unit/timeline/made_trace.h"

namespace pleat::widgets {
namespace {

using testing::click;
using testing::drag;
using testing::moveTo;
using testing::pressKey;
using testing::turnWheel;
using timeline::MadeTrace;
using timeline::oneLane;
using trace::EventId;
using trace::LaneId;
using trace::RankId;

// A canvas that shows 1000 pixels of time.
struct Shown {
    explicit Shown(const std::shared_ptr<const trace::Trace>& trace) {
        canvas.resize(kHeaderWidth + 1000, kRulerHeight + 400);
        canvas.show();
        QObject::connect(&canvas, &TimelineCanvas::eventSelected,
                         [this](EventId event) { said.push_back(event); });
        canvas.setData(models::makeTimelineData(trace, {}));
    }
    // The middle of an event, as far as it is in view.
    QPoint pointAt(EventId event) {
        const trace::Event what = canvas.data()->trace().event(event);
        const timeline::PlacedRow place =
            canvas.tree()->locate(what.lane, canvas.data()->index.rowOf(event), canvas.scroll());
        const base::TraceTime middle = what.span.begin + base::Duration{what.span.length().ns / 2};
        return {kHeaderWidth + timeline::columnAt(canvas.view(), middle),
                kRulerHeight + place.y + place.height / 2};
    }
    [[nodiscard]] base::Interval visible() const { return timeline::visible(canvas.view()); }
    [[nodiscard]] std::string selectedName() const {
        return canvas.selected().valid()
                   ? std::string(canvas.data()->trace().name(canvas.selected()))
                   : std::string();
    }
    TimelineCanvas canvas;
    std::vector<EventId> said;
};

std::shared_ptr<const trace::Trace> threeEvents() {
    return oneLane({{0, 20'000, "first"}, {50'000, 60'000, "second"}, {90'000, 100'000, "third"}});
}

std::shared_ptr<const trace::Trace> folded() {
    return std::make_shared<const trace::Trace>(testing::foldedTrace());
}

TEST(TimelineCanvas, ShowsTheWholeRunAtFirst) {
    const Shown shown(threeEvents());
    EXPECT_EQ(shown.visible(), (base::Interval{{0}, {100'000}}));
    EXPECT_EQ(shown.canvas.view().width, 1000);
}

TEST(TimelineCanvas, WZoomsInAtTheCursorAndSZoomsOut) {
    Shown shown(threeEvents());
    moveTo(shown.canvas, {kHeaderWidth + 250, kRulerHeight + 50});
    pressKey(shown.canvas, Qt::Key_W);
    EXPECT_EQ(shown.canvas.view().nsPerPixel, 80);
    EXPECT_EQ(timeline::timeAt(shown.canvas.view(), 250).ns, 25'000);
    pressKey(shown.canvas, Qt::Key_S);
    EXPECT_EQ(shown.visible(), (base::Interval{{0}, {100'000}}));
    pressKey(shown.canvas, Qt::Key_S);
    EXPECT_EQ(shown.visible(), (base::Interval{{0}, {100'000}}));
}

TEST(TimelineCanvas, WhatWasPointedAtIsNotWhenThePictureMovesAway) {
    Shown shown(threeEvents());
    moveTo(shown.canvas, shown.pointAt(EventId(0)));
    EXPECT_EQ(shown.canvas.pointed(), EventId(0));
    pressKey(shown.canvas, Qt::Key_W);
    EXPECT_FALSE(shown.canvas.pointed().valid());
}

TEST(TimelineCanvas, AAndDMoveWithinTheRun) {
    Shown shown(threeEvents());
    shown.canvas.showRange({{40'000}, {50'000}});
    const base::TraceTime begin = shown.visible().begin;
    pressKey(shown.canvas, Qt::Key_D);
    EXPECT_GT(shown.visible().begin, begin);
    pressKey(shown.canvas, Qt::Key_A);
    EXPECT_EQ(shown.visible().begin, begin);
    pressKey(shown.canvas, Qt::Key_Home);
    EXPECT_EQ(shown.visible().begin.ns, 0);
    pressKey(shown.canvas, Qt::Key_End);
    EXPECT_EQ(shown.visible().end.ns, 100'000);
}

TEST(TimelineCanvas, UndoGoesBackToWhereOneLooked) {
    Shown shown(threeEvents());
    const timeline::Viewport whole = shown.canvas.view();
    shown.canvas.showRange({{40'000}, {50'000}});
    const timeline::Viewport near = shown.canvas.view();
    pressKey(shown.canvas, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(shown.canvas.view(), whole);
    pressKey(shown.canvas, Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(shown.canvas.view(), near);
}

TEST(TimelineCanvas, UndoShowsTheSameTimesInAWindowOfAnotherSize) {
    Shown shown(threeEvents());
    shown.canvas.showRange({{40'000}, {50'000}});
    const base::Interval near = shown.visible();
    shown.canvas.showWhole();
    shown.canvas.resize(kHeaderWidth + 500, kRulerHeight + 400);
    EXPECT_EQ(shown.visible(), (base::Interval{{0}, {100'000}}));
    pressKey(shown.canvas, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(shown.visible(), near);
    EXPECT_EQ(shown.canvas.view().width, 500);
}

TEST(TimelineCanvas, APinchZoomsWhereTheFingersAre) {
    Shown shown(threeEvents());
    testing::pinch(shown.canvas, {kHeaderWidth + 250, kRulerHeight + 50}, 0.25);
    EXPECT_EQ(shown.canvas.view().nsPerPixel, 80);
    EXPECT_EQ(timeline::timeAt(shown.canvas.view(), 250).ns, 25'000);
}

TEST(TimelineCanvas, FShowsTheWholeRunAndWithShiftWhatIsSelected) {
    Shown shown(threeEvents());
    shown.canvas.select(EventId(1));
    pressKey(shown.canvas, Qt::Key_F, Qt::ShiftModifier);
    EXPECT_LT(shown.visible().begin.ns, 50'000);
    EXPECT_GT(shown.visible().begin.ns, 48'000);
    EXPECT_GT(shown.visible().end.ns, 60'000);
    pressKey(shown.canvas, Qt::Key_F);
    EXPECT_EQ(shown.visible(), (base::Interval{{0}, {100'000}}));
}

TEST(TimelineCanvas, AClickSelectsAnEventAndAClickOnIdleTimeNothing) {
    Shown shown(threeEvents());
    click(shown.canvas, shown.pointAt(EventId(1)));
    EXPECT_EQ(shown.selectedName(), "second");
    EXPECT_TRUE(shown.canvas.accessibleDescription().startsWith("second, 10.000 us"));
    click(shown.canvas, {kHeaderWidth + 750, kRulerHeight + 30});
    EXPECT_FALSE(shown.canvas.selected().valid());
    EXPECT_EQ(shown.said, (std::vector<EventId>{EventId(1), EventId()}));
    EXPECT_EQ(shown.canvas.accessibleDescription(), "No event is selected.");
}

TEST(TimelineCanvas, ASelectedEventComesIntoView) {
    MadeTrace made;
    for (int i = 0; i < 100; ++i) made.addLane(made.addRank(i), {{i * 1000, i * 1000 + 10}});
    Shown shown(made.build());
    shown.canvas.showRange({{0}, {2000}});
    shown.canvas.select(EventId(90));
    EXPECT_GT(shown.canvas.scroll(), 0);
    EXPECT_TRUE(shown.canvas.rowsRect().contains(shown.pointAt(EventId(90))));
}

TEST(TimelineCanvas, PointingHighlightsAllOfACommunication) {
    Shown shown(folded());
    const trace::Annotations& annotations = shown.canvas.data()->trace().annotations();
    shown.canvas.resize(kHeaderWidth + 1000, 4000);
    const auto collective =
        std::find_if(annotations.transfers.begin(), annotations.transfers.end(),
                     [](const trace::Transfer& one) { return !trace::isMessage(one.operation); });
    ASSERT_NE(collective, annotations.transfers.end());
    shown.canvas.showRange(collective->span);
    moveTo(shown.canvas, shown.pointAt(collective->event));
    EXPECT_EQ(shown.canvas.highlighted().size(), 2U);
    moveTo(shown.canvas, {5, 5});
    EXPECT_TRUE(shown.canvas.highlighted().empty());
}

TEST(TimelineCanvas, BracketsFollowAMessageThereAndBack) {
    Shown shown(folded());
    const trace::Annotations& annotations = shown.canvas.data()->trace().annotations();
    const auto send = std::find_if(
        annotations.transfers.begin(), annotations.transfers.end(), [](const auto& one) {
            return one.operation == trace::Operation::Send && one.match.valid();
        });
    ASSERT_NE(send, annotations.transfers.end());
    shown.canvas.select(send->event);
    pressKey(shown.canvas, Qt::Key_BracketRight);
    const EventId receive = shown.canvas.selected();
    EXPECT_NE(receive, send->event);
    pressKey(shown.canvas, Qt::Key_BracketLeft);
    EXPECT_EQ(shown.canvas.selected(), send->event);
}

TEST(TimelineCanvas, CommaAndPeriodGoToEventsOfTheSameKind) {
    Shown shown(folded());
    const trace::Annotations& annotations = shown.canvas.data()->trace().annotations();
    const trace::Task& first = annotations.tasks[trace::TaskId(0)];
    shown.canvas.select(first.event);
    pressKey(shown.canvas, Qt::Key_Period);
    const EventId second = shown.canvas.selected();
    EXPECT_GT(second, first.event);
    const auto task = std::find_if(annotations.tasks.begin(), annotations.tasks.end(),
                                   [&](const auto& one) { return one.event == second; });
    ASSERT_NE(task, annotations.tasks.end());
    EXPECT_EQ(task->kind, first.kind);
    pressKey(shown.canvas, Qt::Key_Comma);
    EXPECT_EQ(shown.canvas.selected(), first.event);
}

TEST(TimelineCanvas, ArrowKeysGoAlongTheRow) {
    Shown shown(threeEvents());
    shown.canvas.select(EventId(0));
    pressKey(shown.canvas, Qt::Key_Right);
    pressKey(shown.canvas, Qt::Key_Right);
    pressKey(shown.canvas, Qt::Key_Right);
    EXPECT_EQ(shown.selectedName(), "third");
    pressKey(shown.canvas, Qt::Key_Left);
    EXPECT_EQ(shown.selectedName(), "second");
}

TEST(TimelineCanvas, DraggingMovesThePicture) {
    Shown shown(threeEvents());
    shown.canvas.showRange({{40'000}, {50'000}});
    const double before = timeline::pixelAt(shown.canvas.view(), {45'000});
    drag(shown.canvas, {kHeaderWidth + 500, 300}, {kHeaderWidth + 400, 300});
    EXPECT_NEAR(timeline::pixelAt(shown.canvas.view(), {45'000}), before - 100, 1);
    EXPECT_FALSE(shown.canvas.selected().valid());
}

TEST(TimelineCanvas, DraggingWithShiftSelectsAStretchOfLanes) {
    Shown shown(threeEvents());
    base::Interval said;
    std::vector<LaneId> lanes;
    QObject::connect(&shown.canvas, &TimelineCanvas::areaSelected,
                     [&](const base::Interval& time, const std::vector<LaneId>& those) {
                         said = time;
                         lanes = those;
                     });
    drag(shown.canvas, {kHeaderWidth + 700, kRulerHeight + 60},
         {kHeaderWidth + 200, kRulerHeight + 30}, Qt::ShiftModifier);
    ASSERT_TRUE(shown.canvas.area());
    EXPECT_EQ(said, (base::Interval{{20'000}, {70'000}}));
    EXPECT_EQ(lanes, std::vector<LaneId>{LaneId(0)});
    EXPECT_EQ(shown.visible(), (base::Interval{{0}, {100'000}}));
    pressKey(shown.canvas, Qt::Key_Escape);
    EXPECT_FALSE(shown.canvas.area());
    EXPECT_TRUE(said.empty());
}

TEST(TimelineCanvas, TheWheelScrollsAndWithControlZooms) {
    MadeTrace made;
    for (int i = 0; i < 100; ++i) made.addLane(made.addRank(i), {{0, 100'000}});
    Shown shown(made.build());
    const QPoint at(kHeaderWidth + 250, 200);
    turnWheel(shown.canvas, at, -1);
    EXPECT_EQ(shown.canvas.scroll(), 3 * timeline::kRowHeight);
    turnWheel(shown.canvas, at, 5);
    EXPECT_EQ(shown.canvas.scroll(), 0);
    turnWheel(shown.canvas, at, 1, Qt::ControlModifier);
    EXPECT_EQ(shown.canvas.view().nsPerPixel, 80);
    EXPECT_EQ(timeline::timeAt(shown.canvas.view(), 250).ns, 25'000);
    turnWheel(shown.canvas, at, -1, Qt::ShiftModifier);
    EXPECT_EQ(shown.visible().begin.ns, 5'000 + 8'000);
}

TEST(TimelineCanvas, AClickOnAHeaderCollapsesAndAtItsEndPins) {
    MadeTrace made;
    for (int i = 0; i < 2; ++i) made.addLane(made.addRank(i), {{0, 100}, {10, 20}});
    Shown shown(made.build());
    const int lane = kRulerHeight + timeline::kRankHeight + timeline::kLaneGap + 5;
    click(shown.canvas, {30, lane});
    EXPECT_TRUE(shown.canvas.tree()->collapsed(LaneId(0)));
    click(shown.canvas, {kHeaderWidth - 5, lane});
    EXPECT_TRUE(shown.canvas.tree()->pinned(LaneId(0)));
    click(shown.canvas, {kHeaderWidth - 5, kRulerHeight + 5});
    EXPECT_FALSE(shown.canvas.tree()->pinned(LaneId(0)));
    click(shown.canvas, {30, kRulerHeight + 5});
    EXPECT_TRUE(shown.canvas.tree()->collapsed(RankId(0)));
}

TEST(TimelineCanvas, AHeaderIsDraggedToAnotherPlace) {
    MadeTrace made;
    for (int i = 0; i < 3; ++i) made.addLane(made.addRank(i), {{0, 100}});
    Shown shown(made.build());
    shown.canvas.setAllCollapsed(true);
    const int line = timeline::kRankHeight + timeline::kLaneGap;
    drag(shown.canvas, {30, kRulerHeight + 2 * line + 5}, {30, kRulerHeight + 5});
    EXPECT_EQ(shown.canvas.tree()->rankOrder()[0], RankId(2));
    EXPECT_EQ(shown.canvas.tree()->rankOrder()[1], RankId(0));
}

TEST(TimelineCanvas, MMarksTheSelectedEvent) {
    Shown shown(threeEvents());
    int changes = 0;
    QObject::connect(&shown.canvas, &TimelineCanvas::bookmarksChanged, [&] { ++changes; });
    shown.canvas.select(EventId(1));
    pressKey(shown.canvas, Qt::Key_M);
    ASSERT_EQ(shown.canvas.bookmarks().all().size(), 1U);
    EXPECT_EQ(shown.canvas.bookmarks().all()[0].time.ns, 50'000);
    EXPECT_EQ(changes, 1);
}

TEST(TimelineCanvas, GoesToAnIteration) {
    Shown shown(folded());
    const models::IterationMark mark = shown.canvas.data()->iterations.at(1);
    EXPECT_TRUE(shown.canvas.goToIteration(mark.iteration));
    EXPECT_LE(shown.visible().begin, mark.span.begin);
    EXPECT_GE(shown.visible().end, mark.span.end);
    EXPECT_LT(shown.visible().length().ns, mark.span.length().ns * 6 / 5);
    EXPECT_FALSE(shown.canvas.goToIteration(99));
}

TEST(TimelineCanvas, SaysHowManyArrowsItDoesNotDraw) {
    MadeTrace made;
    const RankId rank = made.addRank(0);
    const LaneId host = made.addLane(rank, {}), device = made.addLane(rank, {});
    for (std::int64_t i = 0; i < 1000; ++i)
        made.builder.addDependency(made.add(host, {i * 10, i * 10 + 5}),
                                   made.add(device, {i * 10 + 20, i * 10 + 25}),
                                   trace::DependencyKind::Launch);
    Shown shown(made.build());
    (void)shown.canvas.grab();
    EXPECT_EQ(shown.canvas.arrowsLeft(), 0U);
    pressKey(shown.canvas, Qt::Key_R);
    (void)shown.canvas.grab();
    EXPECT_EQ(shown.canvas.arrowsLeft(), 600U);
}

TEST(TimelineCanvas, ARunReadAgainIsShownAtTheSamePlace) {
    Shown shown(threeEvents());
    shown.canvas.setCollapsed(RankId(0), true);
    shown.canvas.showRange({{40'000}, {50'000}});
    const timeline::Viewport view = shown.canvas.view();
    const auto longer = oneLane({{0, 20'000}, {50'000, 60'000}, {150'000, 200'000}});
    shown.canvas.setData(models::makeTimelineData(longer, {}), true);
    EXPECT_EQ(shown.canvas.view(), view);
    EXPECT_TRUE(shown.canvas.tree()->collapsed(RankId(0)));
    pressKey(shown.canvas, Qt::Key_End);
    const auto longest = oneLane({{0, 20'000}, {350'000, 400'000}});
    shown.canvas.setData(models::makeTimelineData(longest, {}), true);
    EXPECT_EQ(shown.visible().end.ns, 400'000);
    pressKey(shown.canvas, Qt::Key_F);
    shown.canvas.setData(models::makeTimelineData(threeEvents(), {}), true);
    EXPECT_EQ(shown.visible(), (base::Interval{{0}, {100'000}}));
}

TEST(TimelineCanvas, IdleTimeHasTheColourOfTheBackground) {
    Shown shown(threeEvents());
    const QImage picture = shown.canvas.grab().toImage().convertToFormat(QImage::Format_RGB32);
    const QRgb background = colourOf(timeline::palette(timeline::Theme::Light).background).rgb();
    const int y = shown.pointAt(EventId(0)).y() + 7;  // below the name
    EXPECT_NE(picture.pixel(kHeaderWidth + 100, y), background);
    EXPECT_EQ(picture.pixel(kHeaderWidth + 300, y), background);
    EXPECT_NE(picture.pixel(kHeaderWidth + 550, y), background);
    EXPECT_EQ(picture.pixel(kHeaderWidth + 800, y), background);
}

// Two ranks, one after the other; 40 000 ns of slack on the second event of the first.
timeline::PathMarks marksOf(const base::Interval whole) {
    timeline::PathMarks marks;
    marks.window = whole;
    marks.path = {{{{0}, {50'000}}, EventId(0)}, {{{50'000}, {100'000}}, EventId(2)}};
    marks.slack = {{EventId(0), {0}}, {EventId(1), {40'000}}, {EventId(2), {0}}};
    marks.palest = {10'000};
    return marks;
}

std::shared_ptr<const trace::Trace> twoRanks() {
    MadeTrace made;
    made.addLane(made.addRank(0), {{0, 50'000, "a"}, {60'000, 90'000, "b"}});
    made.addLane(made.addRank(1), {{50'000, 100'000, "c"}});
    return made.build();
}

TEST(TimelineCanvas, CShowsTheCriticalPathInPlaceAndHidesIt) {
    Shown shown(twoRanks());
    std::vector<bool> said;
    QObject::connect(&shown.canvas, &TimelineCanvas::pathShownChanged,
                     [&](bool on) { said.push_back(on); });
    shown.canvas.setPath(std::make_shared<const timeline::PathMarks>(marksOf({{0}, {100'000}})));
    EXPECT_TRUE(shown.canvas.pathFrame().strokes.empty());
    pressKey(shown.canvas, Qt::Key_C);
    ASSERT_TRUE(shown.canvas.pathShown());
    const timeline::PathFrame& path = shown.canvas.pathFrame();
    ASSERT_EQ(path.strokes.size(), 2U);
    EXPECT_EQ(path.strokes[1].x0, 500);
    EXPECT_EQ(path.steps.size(), 1U);
    EXPECT_EQ(path.veils.size(), 1U);
    // It follows what is in view.
    shown.canvas.showRange({{0}, {20'000}});
    EXPECT_EQ(shown.canvas.pathFrame().strokes.size(), 1U);
    pressKey(shown.canvas, Qt::Key_C);
    EXPECT_TRUE(shown.canvas.pathFrame().strokes.empty());
    EXPECT_EQ(said, (std::vector<bool>{true, false}));
}

TEST(TimelineCanvas, PaintsThePathRedAndWhatHasSlackPaler) {
    Shown shown(twoRanks());
    shown.canvas.setPath(std::make_shared<const timeline::PathMarks>(marksOf({{0}, {100'000}})));
    const timeline::Palette& palette = timeline::palette(timeline::Theme::Light);
    const auto pixel = [&](EventId event, int fromTop) {
        const QImage picture = shown.canvas.grab().toImage();
        const QPoint middle = shown.pointAt(event);
        return picture.pixelColor(middle.x() + 30, middle.y() - timeline::kRowHeight / 2 + fromTop);
    };
    const QColor plain = pixel(EventId(1), 14), critical = pixel(EventId(0), 14);
    EXPECT_NE(pixel(EventId(0), 1), colourOf(palette.critical));
    pressKey(shown.canvas, Qt::Key_C);
    EXPECT_EQ(pixel(EventId(0), 1), colourOf(palette.critical));
    EXPECT_NE(pixel(EventId(1), 1), colourOf(palette.critical));
    EXPECT_EQ(pixel(EventId(0), 14), critical);
    EXPECT_GT(pixel(EventId(1), 14).lightness(), plain.lightness());
    EXPECT_NE(pixel(EventId(1), 14), colourOf(palette.background));
}

TEST(TimelineCanvas, AnotherTraceHasNoPathOfTheOneBefore) {
    Shown shown(twoRanks());
    shown.canvas.setPath(std::make_shared<const timeline::PathMarks>(marksOf({{0}, {100'000}})));
    shown.canvas.setPathShown(true);
    shown.canvas.setData(models::makeTimelineData(threeEvents(), {}), true);
    EXPECT_EQ(shown.canvas.path(), nullptr);
    EXPECT_TRUE(shown.canvas.pathFrame().strokes.empty());
}

TEST(TimelineCanvas, AClickOnNothingSaysSoAlsoWhereNothingWasSelected) {
    Shown shown(threeEvents());
    click(shown.canvas, {kHeaderWidth + 750, kRulerHeight + 30});
    EXPECT_EQ(shown.said, std::vector<EventId>{EventId()});
}

TEST(TimelineCanvas, WhatIsTooNarrowToSeeIsZoomedToOtherThingsStay) {
    Shown shown(oneLane({{0, 10, "short"}, {50'000, 60'000, "long"}, {70'000, 70'000, "mark"}}));
    const timeline::Viewport whole = shown.canvas.view();
    shown.canvas.showReadable(EventId(1));
    shown.canvas.showReadable(EventId(2));
    EXPECT_EQ(shown.canvas.view(), whole);
    shown.canvas.showReadable(EventId(0));
    const double pixels = 10 / shown.canvas.view().nsPerPixel;
    EXPECT_GE(pixels, 20);
    EXPECT_LT(pixels, 200);
    EXPECT_EQ(shown.visible().begin.ns, 0);
}

TEST(TimelineCanvas, NamesOfLanesAreCutNeverDropped) {
    MadeTrace made;
    made.addLane(made.addRank(0), {{0, 100'000}}, trace::LaneKind::HostThread,
                 std::string(5'000, 'n'));
    Shown shown(made.build());
    const int y = kRulerHeight + timeline::kRankHeight + timeline::kLaneGap;
    const QString title = shown.canvas.toolTipAt({30, y + 5});
    EXPECT_TRUE(title.startsWith("nnnn"));
    EXPECT_TRUE(title.endsWith(QChar(0x2026)));
    EXPECT_EQ(shown.canvas.toolTipAt({30, kRulerHeight + 5}), "rank 0");
    // In the header it stands as far as there is room.
    const QImage picture = shown.canvas.grab().toImage();
    const QColor background = colourOf(timeline::palette(timeline::Theme::Light).header);
    const auto inkAt = [&](int x0, int x1) {
        for (int x = x0; x < x1; ++x)
            for (int row = 2; row < timeline::kRowHeight - 2; ++row)
                if (picture.pixelColor(x, y + row) != background) return true;
        return false;
    };
    EXPECT_TRUE(inkAt(40, 100));
    EXPECT_TRUE(inkAt(kHeaderWidth - 50, kHeaderWidth - 20));
    EXPECT_FALSE(inkAt(kHeaderWidth - 18, kHeaderWidth - 1));
}

TEST(TimelineRaster, WhatHasNoLengthIsAtFullStrength) {
    const timeline::Palette& palette = timeline::palette(timeline::Theme::Light);
    EXPECT_EQ(cellColour({1, 1, true}, palette), colourOf(palette.events[1]).rgb());
    EXPECT_NE(cellColour({1, 1, false}, palette), colourOf(palette.events[1]).rgb());
}

TEST(TimelineCanvas, AMarkIsAPixelOfFullColour) {
    Shown shown(oneLane({{0, 10, "a"}, {50'000, 50'000, "mark"}, {100'000, 100'000, "end"}}));
    const timeline::FrameRow& row = shown.canvas.frame().rows[1];
    EXPECT_TRUE(row.cells[500].instant);
    EXPECT_FALSE(row.cells[0].instant);
    EXPECT_FALSE(row.cells[501].instant);
    const QImage picture = shown.canvas.grab().toImage();
    const QColor full =
        colourOf(timeline::palette(timeline::Theme::Light).events[row.cells[500].colour]);
    EXPECT_EQ(picture.pixelColor(kHeaderWidth + 500, kRulerHeight + row.place.y + 5), full);
}

// A frame of 20 columns on a screen that has two pixels for one.
TEST(TimelineRaster, UsesThePixelsThatAScreenHas) {
    timeline::WorkerPool pool(1);
    timeline::Frame frame{{{0}, 1, 20}, 30, {}};
    timeline::FrameRow row;
    row.place.row = 0;
    row.place.y = 5;
    row.place.height = 11;  // the last is a line of background
    row.cells.assign(20, timeline::Cell{});
    row.cells[7] = {255, 1};
    frame.rows.push_back(row);
    QImage image(20, 60, QImage::Format_RGB32);
    image.setDevicePixelRatio(2);
    {
        QPainter painter(&image);
        TimelineRaster().paint(painter, {0, 0}, frame, 2, 0, timeline::Theme::Light, pool);
    }
    const timeline::Palette& palette = timeline::palette(timeline::Theme::Light);
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) {
            const bool event = x == 7 && y >= 10 && y < 30;
            ASSERT_EQ(QColor(image.pixel(x, y)),
                      colourOf(event ? palette.events[1] : palette.background))
                << x << ", " << y;
        }
    }
}

TEST(TimelineRaster, ALittleIsSeenAndMoreIsDarker) {
    const timeline::Palette& palette = timeline::palette(timeline::Theme::Light);
    const QRgb none = cellColour({0, 1}, palette);
    EXPECT_EQ(none, colourOf(palette.background).rgb());
    EXPECT_EQ(cellColour({255, 1}, palette), colourOf(palette.events[1]).rgb());
    int last = qRed(none);
    for (int occupancy = 1; occupancy < 256; occupancy += 50) {
        const int red = qRed(cellColour({static_cast<std::uint8_t>(occupancy), 1}, palette));
        EXPECT_LT(red, last);
        last = red;
    }
}

TEST(TimelineCanvas, StandsTracesWithLittleOrOddInThem) {
    MadeTrace lanes;
    for (int i = 0; i < 10'000; ++i) lanes.addLane(lanes.addRank(i), {{i, i + 5}});
    MadeTrace names;
    const std::string longName(10'000, 'x');
    names.addLane(names.addRank(0),
                  {{0, 100, longName}, {200, 300, "שלום עולם"}, {300, 400, "\xff\x01"}},
                  trace::LaneKind::HostThread, longName);
    std::vector<timeline::MadeEvent> overlapping;
    for (std::int64_t i = 0; i < 20'000; ++i) overlapping.push_back({i, 100'000 - i});
    for (const auto& trace : {MadeTrace().build(), oneLane({}), oneLane({{7, 7}}),
                              oneLane({{7, 8}}), lanes.build(), names.build(), oneLane(overlapping),
                              oneLane({{-2'000'000'000'000'000'000, 2'000'000'000'000'000'000}})}) {
        Shown shown(trace);
        for (const int key : {Qt::Key_W, Qt::Key_D, Qt::Key_F, Qt::Key_End, Qt::Key_S, Qt::Key_M,
                              Qt::Key_PageDown, Qt::Key_Period, Qt::Key_BracketRight, Qt::Key_R}) {
            pressKey(shown.canvas, key);
            EXPECT_FALSE(shown.canvas.grab().isNull());
        }
        if (trace->eventCount() == 0) continue;
        shown.canvas.select(EventId(0));
        pressKey(shown.canvas, Qt::Key_F, Qt::ShiftModifier);
        EXPECT_FALSE(shown.canvas.grab().isNull());
        EXPECT_FALSE(shown.canvas.factsOf(EventId(0)).isEmpty());
        EXPECT_LT(shown.canvas.factsOf(EventId(0)).size(), 1200);
    }
}

TEST(TimelineCanvas, WithoutATraceKeysDoNothing) {
    TimelineCanvas canvas;
    canvas.resize(500, 300);
    for (const int key : {Qt::Key_W, Qt::Key_F, Qt::Key_M, Qt::Key_Escape, Qt::Key_Slash})
        pressKey(canvas, key);
    click(canvas, {300, 200});
    EXPECT_FALSE(canvas.grab().isNull());
    EXPECT_TRUE(canvas.bookmarks().all().empty());
}

}  // namespace
}  // namespace pleat::widgets
