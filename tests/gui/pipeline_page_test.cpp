// Moving through the pipeline: rows by stage, the way back, the strip of the whole iteration, and
// two pipelines that move as one.
#include <gtest/gtest.h>

#include <QCheckBox>
#include <QLineEdit>
#include <QScrollBar>
#include <QTest>

#include "gui/gui_support.h"
#include "gui/input_events.h"
#include "widgets/compare_page.h"
#include "widgets/main_window.h"
#include "widgets/pipeline_page.h"

namespace pleat::widgets {
namespace {

using pleat::testing::click;
using pleat::testing::drag;
using pleat::testing::pinch;
using pleat::testing::pressKey;
using pleat::testing::waitUntil;
using timeline::PipelineRows;
using Kind = timeline::PipelineHit::Kind;

// A window that shows a run of `replicas`.
class Pipeline : public ::testing::Test {
  protected:
    void open(std::int32_t replicas = 2) {
        m_window.resize(1000, 500);
        m_window.show();
        m_window.open({write("base.pleat", replicas, {1'000'000})});
        ASSERT_TRUE(waitUntil([&] {
            return m_window.session().analysed() && m_window.iteration().results() != nullptr;
        }));
        m_window.showPage(QStringLiteral("pipeline"));
        QCoreApplication::processEvents();  // now it has its place
    }
    QString write(const char* name, std::int32_t replicas, base::Duration forward) {
        testing::SyntheticOptions options = testing::foldedOptions();
        options.dp = replicas;
        options.forward = {forward};
        const auto file = m_folder.file(name);
        (void)store::writeTrace(testing::traceWith(options), file);
        return QString::fromStdString(file.string());
    }
    PipelinePage& page() {
        return dynamic_cast<PipelinePage&>(*m_window.page(QStringLiteral("pipeline")));
    }
    PipelineView& view() { return page().view(); }
    // A forward of the second stage that a rank holds.
    std::size_t laterStage() {
        const auto& tasks = view().scene().tasks;
        std::size_t at = 0;
        while (tasks[at].stage < 2 || tasks[at].microbatch != 3) ++at;
        return at;
    }
    QString fact(const QString& what) {
        return testing::valueOf(m_window.facts().table().figures().figures(), what);
    }

    test::TemporaryFolder m_folder;
    MainWindow m_window;
};

TEST_F(Pipeline, ByStageKeepsTheSelectedTaskAndTheTimesInView) {
    open();
    const std::size_t chosen = laterStage();
    const timeline::PipelineTask task = view().scene().tasks[chosen];
    click(*view().viewport(), view().pointOfTask(chosen));
    ASSERT_TRUE(view().selection());
    ASSERT_EQ(view().selection()->index, chosen);
    pressKey(view(), Qt::Key_W);
    const base::Interval shown = view().visibleRange();
    page().setRows(PipelineRows::Stage);
    EXPECT_EQ(view().visibleRange(), shown);
    ASSERT_TRUE(view().selection());
    const timeline::PipelineTask& same = view().scene().tasks[view().selection()->index];
    EXPECT_EQ(same.event, task.event);
    EXPECT_EQ(view().scene().rows[same.row].stage, task.stage);
    page().setRows(PipelineRows::Rank);
    ASSERT_TRUE(view().selection());
    EXPECT_EQ(view().selection()->index, chosen);
}

TEST_F(Pipeline, ByStageKeepsTheSelectedGap) {
    open();
    const timeline::PipelineScene& byRank = view().scene();
    std::size_t longest = 0;
    for (std::size_t i = 0; i < byRank.gaps.size(); ++i) {
        if (byRank.gaps[i].span.length() > byRank.gaps[longest].span.length()) longest = i;
    }
    const timeline::PipelineGap gap = byRank.gaps[longest];
    view().showRange(gap.span);  // it fills its row
    std::size_t beside = 0;      // a task of the same row, for its height
    while (byRank.tasks[beside].row != gap.row) ++beside;
    click(*view().viewport(), {600, view().pointOfTask(beside).y()});
    ASSERT_TRUE(view().selection());
    ASSERT_EQ(view().selection()->kind, Kind::Gap);
    const timeline::PipelineGap selected = byRank.gaps[view().selection()->index];
    page().setRows(PipelineRows::Stage);
    ASSERT_TRUE(view().selection());
    ASSERT_EQ(view().selection()->kind, Kind::Gap);
    EXPECT_EQ(view().scene().gaps[view().selection()->index].span, selected.span);
    EXPECT_EQ(view().scene().gaps[view().selection()->index].gap, selected.gap);
}

TEST_F(Pipeline, ByStageTellsTheFactsOfAClickAndAccountsForWholeRanks) {
    open();
    page().setRows(PipelineRows::Stage);
    ASSERT_EQ(view().scene().rows.size(), 8U);
    const std::size_t chosen = laterStage();
    click(*view().viewport(), view().pointOfTask(chosen));
    EXPECT_EQ(fact("Stage"), QString::number(view().scene().tasks[chosen].stage));
    // Over the first row and the third: two stages of rank 0, and one of rank 1 between them.
    drag(*view().viewport(), {300, 40}, {700, 40 + 2 * 46}, Qt::ShiftModifier);
    ASSERT_TRUE(view().area());
    EXPECT_GT(view().area()->lastRow, view().area()->firstRow);
    EXPECT_EQ(m_window.facts().title(), "Selected area: all stages of its ranks");
    EXPECT_EQ(fact("Ranks"), "2");
}

TEST_F(Pipeline, AClickOnNothingClearsTheFacts) {
    open();
    click(*view().viewport(), view().pointOfTask(0));
    EXPECT_FALSE(m_window.facts().table().figures().figures().rows.empty());
    // Below the last row.
    click(*view().viewport(), {400, view().viewport()->height() - 2});
    EXPECT_FALSE(view().selection());
    EXPECT_TRUE(m_window.facts().table().figures().figures().rows.empty());
}

TEST_F(Pipeline, KeepsItsKeysWhereControlsAreClicked) {
    open();
    view().setFocus();
    for (QCheckBox* box : page().findChildren<QCheckBox*>()) {
        QTest::mouseClick(box, Qt::LeftButton);
        EXPECT_EQ(m_window.focusWidget(), &view()) << box->text().toStdString();
    }
    auto* iteration = page().findChild<IterationBox*>();
    QTest::mouseClick(iteration, Qt::LeftButton, {}, {iteration->width() - 4, 4});
    EXPECT_EQ(m_window.focusWidget(), &view());
    // A number can be typed all the same.
    QTest::mouseClick(iteration->findChild<QLineEdit*>(), Qt::LeftButton);
    EXPECT_EQ(m_window.focusWidget(), iteration);
}

TEST_F(Pipeline, UndoGoesBackToWhereOneLooked) {
    open();
    const base::Interval whole = view().visibleRange();
    const base::Interval near{whole.begin + base::Duration{2'000'000},
                              whole.begin + base::Duration{3'000'000}};
    view().showRange(near);
    const base::Interval shown = view().visibleRange();
    pressKey(view(), Qt::Key_D);  // keys held are one step
    pressKey(view(), Qt::Key_D);
    const base::Interval moved = view().visibleRange();
    ASSERT_NE(moved, shown);
    pressKey(view(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(view().visibleRange(), shown);
    pressKey(view(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(view().visibleRange(), whole);
    pressKey(view(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(view().visibleRange(), whole);
    pressKey(view(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    pressKey(view(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(view().visibleRange(), moved);
    QStringList keys;
    for (const KeyHelp& key : page().keys()) keys << key.key;
    EXPECT_TRUE(keys.contains("Ctrl+Z, Ctrl+Shift+Z"));
}

TEST_F(Pipeline, KeysOfTheWindowDoNotMoveIt) {
    open();
    const base::Interval whole = view().visibleRange();
    pressKey(view(), Qt::Key_W, Qt::ControlModifier);
    EXPECT_EQ(view().visibleRange(), whole);
}

TEST_F(Pipeline, APinchZoomsWhereTheFingersAre) {
    open();
    const base::Interval whole = view().visibleRange();
    pinch(*view().viewport(), {400, 100}, 0.5);
    const base::Interval zoomed = view().visibleRange();
    EXPECT_NEAR(static_cast<double>(zoomed.length().ns),
                static_cast<double>(whole.length().ns) / 1.5, 2);
    pinch(*view().viewport(), {400, 100}, -0.5);
    EXPECT_EQ(view().visibleRange(), whole);
}

TEST_F(Pipeline, TheStripShowsWhatIsInViewAndLeadsThere) {
    open();
    TimelineMinimap& map = page().minimap();
    EXPECT_EQ(map.accessibleName(), "The whole iteration");
    EXPECT_EQ(map.frameRect().width(), map.width());
    // All ranks are busy at some moment, and at the begin only the first of each replica is.
    const std::vector<std::uint8_t>& strip = map.strip();
    EXPECT_EQ(*std::max_element(strip.begin(), strip.end()), 255);
    EXPECT_EQ(strip[strip.size() / 50], 127);
    const base::Interval whole = view().visibleRange();
    view().showRange({whole.begin, whole.begin + base::Duration{whole.length().ns / 10}});
    const base::Duration near = view().visibleRange().length();
    EXPECT_NEAR(map.frameRect().width(), map.width() / 10, 2);
    EXPECT_EQ(map.frameRect().x(), 0);
    click(map, {map.width() / 2, 20});
    EXPECT_NEAR(map.frameRect().center().x(), map.width() / 2, 2);
    EXPECT_EQ(view().visibleRange().length(), near);
    pressKey(view(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(map.frameRect().x(), 0);
}

class Comparison : public Pipeline {
  protected:
    // BASE and NEW have these many replicas.
    void openBoth(std::int32_t ours, std::int32_t others, base::Duration forward) {
        open(ours);
        m_window.showPage(QStringLiteral("compare"));
        compare().openOther({write("new.pleat", others, forward)});
        ASSERT_TRUE(waitUntil([&] {
            return compare().settled() && compare().otherIteration().results() != nullptr;
        }));
        // Now that they are seen, they have their places.
        ASSERT_TRUE(waitUntil([&] { return upper().isVisible() && lower().isVisible(); }));
        QCoreApplication::processEvents();
    }
    ComparePage& compare() { return m_window.compare(); }
    PipelineView& upper() { return compare().view(); }
    PipelineView& lower() { return compare().otherView(); }
    // To the nanosecond that pixels may have too many.
    static bool showsAll(const PipelineView& view) {
        const base::Interval window = view.scene().window, shown = view.visibleRange();
        return shown.begin == window.begin && shown.end >= window.end &&
               (shown.end - window.end).ns <= 1;
    }
    static base::Interval counted(const PipelineView& view) {
        const base::Duration begin = view.scene().window.begin - base::TraceTime{};
        const base::Interval shown = view.visibleRange();
        return {shown.begin - begin, shown.end - begin};
    }
};

TEST_F(Comparison, TheWayBackIsOneForBoth) {
    openBoth(2, 2, {1'500'000});
    // All of the longer one is in view, and the shorter one has its scale.
    EXPECT_TRUE(showsAll(lower()));
    EXPECT_LT(upper().scene().window.length(), lower().scene().window.length());
    const base::Interval whole = counted(lower());
    EXPECT_EQ(counted(upper()), whole);
    pressKey(lower(), Qt::Key_W);
    pressKey(lower(), Qt::Key_W);
    pressKey(lower(), Qt::Key_W);
    const base::Interval zoomed = counted(lower());
    EXPECT_EQ(counted(upper()), zoomed);
    upper().showRange({upper().scene().window.begin + base::Duration{1'000'000},
                       upper().scene().window.begin + base::Duration{2'000'000}});
    EXPECT_EQ(counted(upper()), counted(lower()));
    // One undoes what was done in the other.
    pressKey(lower(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(counted(lower()), zoomed);
    EXPECT_EQ(counted(upper()), zoomed);
    pressKey(upper(), Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(counted(lower()), whole);
    EXPECT_EQ(counted(upper()), whole);
    pressKey(lower(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(counted(upper()), zoomed);
    // Another size of the window moves neither.
    m_window.resize(900, 600);
    QCoreApplication::processEvents();
    pressKey(upper(), Qt::Key_F);
    EXPECT_EQ(counted(upper()).begin, whole.begin);
    EXPECT_EQ(counted(lower()), counted(upper()));
}

TEST_F(Comparison, SaysWhenTheOtherFileIsCutOffWhileItIsOpen) {
    openBoth(1, 1, {1'000'000});
    ASSERT_TRUE(waitUntil([&] { return compare().settled(); }));
    const auto file = m_folder.file("new.pleat");
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    EXPECT_TRUE(waitUntil([&] { return compare().status().contains("was truncated"); }));
}

TEST_F(Comparison, BothScrollToTheSameRows) {
    openBoth(8, 8, {1'500'000});
    ASSERT_GT(upper().verticalScrollBar()->maximum(), 0);
    upper().verticalScrollBar()->setValue(60);
    EXPECT_EQ(lower().verticalScrollBar()->value(), 60);
    lower().verticalScrollBar()->setValue(30);
    EXPECT_EQ(upper().verticalScrollBar()->value(), 30);
}

TEST_F(Comparison, ARunWithFewerRowsGoesAsFarAsItCan) {
    openBoth(8, 1, {1'000'000});
    upper().verticalScrollBar()->setValue(upper().verticalScrollBar()->maximum());
    EXPECT_GT(upper().verticalScrollBar()->value(), 0);
    EXPECT_EQ(lower().verticalScrollBar()->value(), lower().verticalScrollBar()->maximum());
}

}  // namespace
}  // namespace pleat::widgets
