#include "widgets/timeline_page.h"

#include <gtest/gtest.h>

#include <QLineEdit>
#include <QListWidget>
#include <QTest>

#include <algorithm>
#include <map>

#include "gui/gui_support.h"
#include "gui/input_events.h"
#include "widgets/command_palette.h"
#include "widgets/main_window.h"
#include "widgets/pipeline_page.h"

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
    models::IterationModel iteration(session);
    TimelinePage page(session, iteration, nullptr);
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
    EXPECT_TRUE(run.page->said().contains("stays unchanged")) << run.page->said().toStdString();
    run.page->canvas().setNote({1}, "lost");
    EXPECT_EQ(test::readBytes(file), "precious");
    EXPECT_TRUE(run.page->said().contains("cannot be saved"));
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

// A run with the iterations 3, 5 and 9.
trace::Trace oddlyNumbered() {
    testing::SyntheticRun made = testing::makeSyntheticRun(testing::foldedOptions());
    for (testing::SyntheticEvent& event : made.events) {
        for (const auto& [from, to] :
             std::map<std::string, std::string>{{"\"iteration\":0", "\"iteration\":3"},
                                                {"\"iteration\":1", "\"iteration\":5"},
                                                {"\"iteration\":2", "\"iteration\":9"}}) {
            const std::size_t at = event.arguments.find(from);
            if (at == std::string::npos) continue;
            event.arguments.replace(at, from.size(), to);
            break;
        }
    }
    return *annotate::annotate(testing::traceOf(made));
}

TEST(TimelinePage, BothPagesOfferTheIterationsThereAreAndNoOthers) {
    const test::TemporaryFolder folder;
    const auto file = folder.file("odd.pleat");
    ASSERT_TRUE(store::writeTrace(oddlyNumbered(), file).ok());
    MainWindow window;
    window.open({QString::fromStdString(file.string())});
    auto* page = dynamic_cast<TimelinePage*>(window.page("timeline"));
    ASSERT_TRUE(waitUntil(
        [&] { return page->ready() && page->settled() && window.iteration().results(); }));
    EXPECT_EQ(window.iteration().numbers(), (std::vector<std::int32_t>{3, 5, 9}));
    auto* there = window.page("pipeline")->findChild<IterationBox*>();
    auto* here = page->findChild<IterationBox*>();
    ASSERT_NE(there, nullptr);
    ASSERT_NE(here, nullptr);
    const auto settle = [&] {
        return waitUntil([&] { return window.iteration().results() != nullptr; });
    };
    here->setValue(3);
    ASSERT_TRUE(settle());
    for (const int expected : {5, 9, 9}) {
        here->stepBy(1);
        ASSERT_TRUE(settle());
        EXPECT_EQ(here->value(), expected);
        EXPECT_EQ(there->value(), expected);
        EXPECT_EQ(window.iteration().results()->analysis.window.iteration, expected);
    }
    // It is in view too.
    const base::Interval window9 = window.iteration().results()->analysis.window.window;
    const base::Interval shown = timeline::visible(page->canvas().view());
    EXPECT_LE(shown.begin, window9.begin);
    EXPECT_LT(shown.length().ns, window9.length().ns * 3 / 2);
    // What is typed becomes the nearest one.
    auto* editor = there->findChild<QLineEdit*>();
    editor->setText("6");
    testing::pressKey(*there, Qt::Key_Return);
    ASSERT_TRUE(settle());
    EXPECT_EQ(there->value(), 5);
    EXPECT_EQ(here->value(), 5);
}

TEST(TimelinePage, ShowsTheCriticalPathOfTheIterationThatIsChosen) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    ASSERT_TRUE(waitUntil([&] { return run.window.iteration().results() != nullptr; }));
    run.window.showPage("timeline");
    QCoreApplication::processEvents();
    TimelineCanvas& canvas = run.page->canvas();
    EXPECT_FALSE(canvas.pathShown());
    EXPECT_TRUE(run.page->pathLegend().isHidden());
    ASSERT_NE(canvas.path(), nullptr);
    testing::pressKey(canvas, Qt::Key_C);
    EXPECT_FALSE(run.page->pathLegend().isHidden());
    EXPECT_FALSE(canvas.pathFrame().strokes.empty());
    EXPECT_FALSE(canvas.pathFrame().veils.empty());
    const QList<LegendChip>& chips = run.page->pathLegend().chips();
    ASSERT_EQ(chips.size(), 2);
    const std::int32_t before = canvas.path()->iteration;
    EXPECT_TRUE(chips[0].text.contains(QStringLiteral("iteration %1").arg(before)));
    EXPECT_TRUE(chips[1].text.contains("the palest events have at least"));
    const std::int32_t other = before == 2 ? 0 : 2;
    run.window.iteration().choose(other);
    EXPECT_EQ(canvas.path(), nullptr);
    ASSERT_TRUE(waitUntil([&] { return run.window.iteration().results() != nullptr; }));
    EXPECT_EQ(canvas.path()->iteration, other);
    EXPECT_TRUE(
        run.page->pathLegend().chips()[0].text.contains(QStringLiteral("iteration %1").arg(other)));
}

TEST(TimelinePage, APieceOfThePathIsSelectedWhereItIsOneAndAPauseSelectsNothing) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    ASSERT_TRUE(waitUntil([&] { return run.window.iteration().results() != nullptr; }));
    run.window.showPage("timeline");
    auto* pipeline = dynamic_cast<PipelinePage*>(run.window.page("pipeline"));
    const auto results = run.window.iteration().results();
    const FigureView& pieces = run.window.path().pieces();
    std::size_t tasks = 0;
    for (int row = 0; row < pieces.model()->rowCount(); ++row) {
        run.window.path().step(row == 0 ? 0 : 1);
        const models::Place place = pieces.placeAt(pieces.model()->index(row, 0));
        ASSERT_TRUE(place.range);
        EXPECT_EQ(run.window.currentPage(), "timeline");
        EXPECT_EQ(run.page->canvas().selected(), place.event);
        const base::Interval shown = timeline::visible(run.page->canvas().view());
        EXPECT_LE(shown.begin, place.range->begin);
        EXPECT_GE(shown.end, place.range->end);
        if (place.event.valid()) {
            EXPECT_TRUE(run.page->canvas().rowsRect().isValid());
            EXPECT_EQ(run.window.facts().title(),
                      QString::fromUtf8(results->trace->name(place.event)));
        } else {
            EXPECT_EQ(run.window.facts().title(), "A pause on the critical path");
        }
        // The pipeline shows the same place, and selects it where it is a task.
        EXPECT_LE(pipeline->view().visibleRange().begin, place.range->begin);
        EXPECT_GE(pipeline->view().visibleRange().end, place.range->end);
        const auto selection = pipeline->view().selection();
        const auto& scene = results->scene.tasks;
        const bool isTask = std::any_of(scene.begin(), scene.end(), [&](const auto& task) {
            return place.event.valid() && task.event == place.event;
        });
        ASSERT_EQ(selection.has_value(), isTask);
        if (!isTask) continue;
        EXPECT_EQ(scene[selection->index].event, place.event);
        ++tasks;
    }
    EXPECT_GT(tasks, 2U);
}

TEST(TimelinePage, AClickOnNothingClearsWhatIsSaid) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    TimelineCanvas& canvas = run.page->canvas();
    canvas.select(EventId(5));
    EXPECT_FALSE(run.page->said().isEmpty());
    EXPECT_FALSE(run.window.facts().table().figures().figures().rows.empty());
    canvas.clearSelection();
    EXPECT_TRUE(run.page->said().isEmpty()) << run.page->said().toStdString();
    EXPECT_TRUE(run.window.facts().table().figures().figures().rows.empty());
    EXPECT_TRUE(run.window.facts().title().startsWith("Nothing is selected"));
    // What was said of a search, too.
    run.page->search("nothing has this name");
    EXPECT_EQ(run.page->said(), "0 found");
    canvas.clearSelection();
    EXPECT_TRUE(run.page->said().isEmpty());
}

TEST(TimelinePage, HitsNameTheirRankAndAreWideEnoughToSee) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    run.page->search("2F3");
    ASSERT_GT(run.page->hits().count(), 0);
    for (int row = 0; row < run.page->hits().count(); ++row)
        EXPECT_TRUE(run.page->hits().item(row)->text().endsWith(")")) << row;
    EXPECT_TRUE(run.page->hits().item(0)->text().contains("(rank "));
    const TimelineCanvas& canvas = run.page->canvas();
    const base::Interval span = canvas.data()->trace().event(canvas.selected()).span;
    EXPECT_GE(static_cast<double>(span.length().ns) / canvas.view().nsPerPixel, 20);
    EXPECT_LE(timeline::visible(canvas.view()).begin, span.begin);
    EXPECT_GE(timeline::visible(canvas.view()).end, span.end);
}

TEST(TimelinePage, KeysOnTheWindowGoBackToWhereOneWasAndForthAgain) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    run.window.showPage("timeline");
    run.window.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&run.window));
    const TimelineCanvas& canvas = run.page->canvas();
    const timeline::Viewport whole = canvas.view();
    QTest::keyClick(run.window.windowHandle(), Qt::Key_W);
    const timeline::Viewport near = canvas.view();
    ASSERT_NE(near, whole);
    QTest::keyClick(run.window.windowHandle(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(canvas.view(), whole);
    QTest::keyClick(run.window.windowHandle(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(canvas.view(), near);
    // Also from the list of hits, which takes no such keys itself.
    run.page->search("2F3");
    run.page->findChild<QListWidget*>()->setFocus();
    const timeline::Viewport found = canvas.view();
    QTest::keyClick(run.window.windowHandle(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_NE(canvas.view(), found);
    QTest::keyClick(run.window.windowHandle(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(canvas.view(), found);
}

TEST(TimelinePage, ItsTogglesAndThoseOfThePipelineAreCommands) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    ASSERT_TRUE(waitUntil([&] { return run.window.iteration().results() != nullptr; }));
    CommandPalette palette(run.window.commands(), &run.window);
    palette.setFilter("schedule");
    ASSERT_EQ(palette.shown(), QStringList{"Pipeline: Ideal schedule"});
    run.window.showPage("answer");
    palette.run();
    EXPECT_EQ(run.window.currentPage(), "pipeline");
    for (const char* name : {"Timeline: Critical path", "Timeline: All arrows", "Pipeline: Slack",
                             "Pipeline: Messages"}) {
        palette.setFilter(name);
        ASSERT_EQ(palette.shown(), QStringList{name});
    }
    palette.setFilter("timeline: critical");
    palette.run();
    EXPECT_EQ(run.window.currentPage(), "timeline");
    EXPECT_TRUE(run.page->canvas().pathShown());
    // The box and the command follow a key.
    testing::pressKey(run.page->canvas(), Qt::Key_C);
    testing::pressKey(run.page->canvas(), Qt::Key_R);
    for (const QAction* action : run.page->commands()) {
        const bool path = action->text().contains("path"),
                   arrows = action->text().contains("rrows");
        EXPECT_TRUE(!path || !action->isChecked());
        EXPECT_TRUE(!arrows || action->isChecked());
    }
}

TEST(TimelinePage, TheLegendIsOneLineWithAllOfItInTheTooltip) {
    OpenRun run;
    ASSERT_TRUE(run.ready);
    run.window.showPage("timeline");
    QCoreApplication::processEvents();
    const ColourLegend& legend = run.page->legend();
    ASSERT_GE(legend.chips().size(), 4);
    EXPECT_LE(legend.height(), 2 * legend.fontMetrics().height());
    EXPECT_EQ(legend.fitting(), legend.chips().size());
    for (const LegendChip& chip : legend.chips()) {
        EXPECT_TRUE(legend.toolTip().contains(chip.text.toHtmlEscaped()));
        EXPECT_TRUE(legend.accessibleDescription().contains(chip.text));
    }
    ColourLegend narrow;
    narrow.setChips(legend.chips());
    narrow.resize(150, 20);
    EXPECT_LT(narrow.fitting(), legend.chips().size());
    EXPECT_FALSE(narrow.grab().isNull());
    EXPECT_EQ(narrow.toolTip(), legend.toolTip());
}

}  // namespace
}  // namespace pleat::widgets
