#include "widgets/timeline_page.h"

#include <gtest/gtest.h>

#include <QListWidget>

#include "gui/gui_support.h"
#include "gui/input_events.h"
#include "widgets/main_window.h"

namespace pleat::widgets {
namespace {

using pleat::testing::waitUntil;
using trace::EventId;

// A window on a recorded run, with its timeline ready.
struct OpenRun {
    OpenRun() {
        window.resize(1200, 800);
        window.show();
        open();
    }
    void open() {
        window.open({QString::fromStdString(file.string())});
        page = dynamic_cast<TimelinePage*>(window.page("timeline"));
        ready = waitUntil([&] { return page->ready() && page->settled(); });
    }
    test::TemporaryFolder folder;
    std::filesystem::path file = testing::writeFolded(folder);
    MainWindow window;
    TimelinePage* page = nullptr;
    bool ready = false;
};

TEST(TimelinePage, ShowsTheRunWithItsMinimap) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    const base::Interval whole = run.page->canvas().data()->index.span();
    EXPECT_EQ(timeline::visible(run.page->canvas().view()).begin, whole.begin);
    EXPECT_FALSE(run.page->minimap().strip().empty());
    EXPECT_EQ(run.page->minimap().frameRect().width(), run.page->minimap().width());
    run.page->canvas().zoom(0.1);
    EXPECT_LT(run.page->minimap().frameRect().width(), run.page->minimap().width() / 5);
}

TEST(TimelinePage, APlaceIsShownAndItsEventSelected) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    const trace::Task& task =
        run.page->canvas().data()->trace().annotations().tasks[trace::TaskId(3)];
    models::Place place;
    place.range = task.span;
    place.event = task.event;
    place.rank = 1;
    run.window.showPage("diagnostics");
    run.window.goTo(place);
    EXPECT_EQ(run.window.currentPage(), "timeline");
    EXPECT_EQ(run.page->canvas().selected(), task.event);
    EXPECT_LT(timeline::visible(run.page->canvas().view()).length().ns, task.span.length().ns * 2);
    EXPECT_TRUE(run.page->said().startsWith(
        QString::fromUtf8(run.page->canvas().data()->trace().name(task.event))));
}

TEST(TimelinePage, APlaceAskedForTooEarlyIsShownOnceTheTraceIsReady) {
    const test::TemporaryFolder folder;
    models::TraceSession session;
    TimelinePage page(session, nullptr);
    page.resize(1000, 600);
    opening::OpenRequest request;
    request.files = {testing::writeFolded(folder)};
    session.open(request);
    ASSERT_TRUE(waitUntil([&] { return session.state() == models::TraceSession::State::Loaded; }));
    ASSERT_FALSE(page.ready());
    models::Place place;
    place.iteration = 1;
    page.goTo(place);
    ASSERT_TRUE(waitUntil([&] { return page.ready(); }));
    const models::IterationMark mark = page.canvas().data()->iterations.at(1);
    const base::Interval shown = timeline::visible(page.canvas().view());
    EXPECT_LE(shown.begin, mark.span.begin);
    EXPECT_GE(shown.end, mark.span.end);
    EXPECT_LT(shown.length().ns, mark.span.length().ns * 2);
}

TEST(TimelinePage, ListsWhatIsFoundAndSelectsIt) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    run.page->search("mb:2");
    ASSERT_GT(run.page->hits().count(), 2);
    EXPECT_TRUE(run.page->said().contains("found"));
    const EventId first = run.page->canvas().selected();
    EXPECT_TRUE(first.valid());
    auto* list = run.page->findChild<QListWidget*>();
    list->setCurrentRow(1);
    EXPECT_NE(run.page->canvas().selected(), first);
    run.page->search("/(/");
    EXPECT_TRUE(run.page->said().contains("expression")) << run.page->said().toStdString();
    run.page->search("nothing has this name");
    EXPECT_EQ(run.page->hits().count(), 0);
    EXPECT_EQ(run.page->said(), "0 found");
}

TEST(TimelinePage, KeepsBookmarksBesideTheTrace) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    run.page->canvas().setNote({1234}, "look here");
    const auto kept = models::Bookmarks::load(models::Bookmarks::fileFor(run.file));
    ASSERT_TRUE(kept.ok());
    ASSERT_EQ(kept->all().size(), 1U);
    EXPECT_EQ(kept->all()[0].note, "look here");
    run.open();
    ASSERT_TRUE(run.ready);
    EXPECT_EQ(run.page->canvas().bookmarks().all(), kept->all());
}

TEST(TimelinePage, LeavesAFileThatHoldsNoBookmarksAlone) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    const auto file = models::Bookmarks::fileFor(run.file);
    test::writeBytes(file, "precious");
    run.open();
    ASSERT_TRUE(run.ready);
    EXPECT_TRUE(run.page->said().contains("left alone")) << run.page->said().toStdString();
    run.page->canvas().setNote({1}, "lost");
    EXPECT_EQ(test::readBytes(file), "precious");
    EXPECT_TRUE(run.page->said().contains("cannot be kept"));
}

TEST(TimelinePage, SaysWhatIsSelectedToOtherPages) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    std::vector<models::Place> places;
    QObject::connect(run.page, &SessionView::placePointed,
                     [&](const models::Place& place) { places.push_back(place); });
    run.page->canvas().select(EventId(5));
    ASSERT_EQ(places.size(), 1U);
    EXPECT_EQ(places[0].event, EventId(5));
}

TEST(TimelinePage, AccountsForAnAreaInTheFactsPanel) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    run.window.showPage("timeline");
    TimelineCanvas& canvas = run.page->canvas();
    const QRect rows = canvas.rowsRect();
    testing::drag(canvas, rows.topLeft() + QPoint(rows.width() / 4, 5),
                  rows.topLeft() + QPoint(rows.width() / 2, rows.height() - 5), Qt::ShiftModifier);
    ASSERT_TRUE(canvas.area());
    ASSERT_TRUE(waitUntil([&] { return run.page->settled(); }));
    EXPECT_EQ(run.window.facts().title(), "Selected area");
    QStringList facts;
    for (const auto& row : run.window.facts().table().figures().figures().rows)
        facts << row[0].text;
    EXPECT_EQ(facts.first(), "Length");
    EXPECT_TRUE(facts.contains("bubble"));
    EXPECT_TRUE(facts.contains("rank 0"));
    canvas.clearSelection();
    EXPECT_TRUE(run.page->settled());
}

TEST(TimelinePage, EveryControlHasANameAndEveryKeyIsExplained) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    for (const QWidget* widget : run.page->findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) {
        if (widget->focusPolicy() == Qt::NoFocus) continue;
        const auto* box = qobject_cast<const QCheckBox*>(widget);
        EXPECT_FALSE(widget->accessibleName().isEmpty() &&
                     (box == nullptr || box->text().isEmpty()))
            << widget->metaObject()->className();
    }
    EXPECT_GE(run.page->keys().size(), 12);
    for (const KeyHelp& key : run.page->keys()) {
        EXPECT_FALSE(key.key.isEmpty());
        EXPECT_FALSE(key.does.isEmpty());
    }
}

TEST(TimelinePage, ColoursChangeWithTheirLegend) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    auto* colours = run.page->findChild<QComboBox*>();
    colours->setCurrentIndex(1);
    EXPECT_EQ(run.page->canvas().colours()->mode(), timeline::ColourMode::Microbatch);
    EXPECT_EQ(run.page->canvas().colours()->legend().size(), 4U);
}

TEST(TimelinePage, SlashGoesToTheSearchAndReturnToTheHit) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    testing::pressKey(run.page->canvas(), Qt::Key_Slash);
    auto* search = run.page->findChild<QLineEdit*>("timelineSearch");
    EXPECT_EQ(run.window.focusWidget(), search);
    search->setText("no event is called so");
    testing::pressKey(*search, Qt::Key_Return);
    EXPECT_EQ(run.window.focusWidget(), search);
    // From a hit one goes on by keys.
    search->setText("SEND");
    testing::pressKey(*search, Qt::Key_Return);
    EXPECT_EQ(run.window.focusWidget(), &run.page->canvas());
}

}  // namespace
}  // namespace pleat::widgets
