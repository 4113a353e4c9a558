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
