// What a person does in the window, and what is then there.
#include <gtest/gtest.h>

#include <QMouseEvent>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include "gui/gui_support.h"
#include "trace/trace_builder.h"
#include "unit/timeline/made_trace.h"
#include "widgets/answer_page.h"
#include "widgets/command_palette.h"
#include "widgets/compare_page.h"
#include "widgets/main_window.h"
#include "widgets/picture_file.h"
#include "widgets/pipeline_page.h"
#include "widgets/save_dialog.h"
#include "widgets/sql_page.h"
#include "widgets/timeline_page.h"

namespace pleat::widgets {
namespace {

using pleat::testing::waitUntil;
using pleat::testing::writeFolded;

class Pages : public ::testing::Test {
  protected:
    void SetUp() override {
        m_window.resize(1000, 700);
        m_window.show();
        m_window.open({QString::fromStdString(writeFolded(m_folder).string())});
        ASSERT_TRUE(waitUntil([&] {
            return m_window.session().analysed() && m_window.iteration().results() != nullptr;
        }));
    }
    template <class Page>
    Page& page(const char* id) {
        m_window.showPage(QString::fromLatin1(id));
        return *dynamic_cast<Page*>(m_window.page(QString::fromLatin1(id)));
    }
    QString fact(const QString& what) {
        return pleat::testing::valueOf(m_window.facts().table().figures().figures(), what);
    }

    test::TemporaryFolder m_folder;
    MainWindow m_window;
};

TEST_F(Pages, AnswerLeadsFromARanksBarToItsIteration) {
    auto& answer = page<AnswerPage>("answer");
    EXPECT_TRUE(answer.headline().contains("Largest losses:"));
    EXPECT_LT(answer.headline().indexOf("Largest losses:"),
              answer.headline().indexOf("Replay error"));
    EXPECT_EQ(answer.bars().bars().size(), 4U);
    EXPECT_TRUE(answer.bars().currentText().startsWith("rank 0: compute"));
    QTest::keyClick(&answer.bars(), Qt::Key_Down);
    EXPECT_TRUE(answer.bars().currentText().startsWith("rank 1"));
    QTest::keyClick(&answer.bars(), Qt::Key_Return);
    EXPECT_EQ(m_window.currentPage(), "pipeline");
}

TEST_F(Pages, AnswerLeadsFromAnIterationToItsPipeline) {
    FigureView* iterations = page<AnswerPage>("answer").table(QStringLiteral("iterations"));
    ASSERT_EQ(iterations->model()->rowCount(), 3);
    iterations->setCurrentIndex(iterations->model()->index(2, 0));
    QTest::keyClick(iterations, Qt::Key_Return);
    EXPECT_EQ(m_window.currentPage(), "pipeline");
    ASSERT_TRUE(waitUntil([&] { return m_window.iteration().results() != nullptr; }));
    EXPECT_EQ(m_window.iteration().results()->analysis.window.iteration, 2);
}

TEST_F(Pages, PipelineTellsTheFactsOfAClickedTask) {
    PipelineView& view = page<PipelinePage>("pipeline").view();
    const auto& tasks = m_window.iteration().results()->scene.tasks;
    std::size_t first = 0;
    while (tasks[first].work != timeline::PipelineWork::Task) ++first;
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.pointOfTask(first));
    ASSERT_TRUE(view.selection());
    EXPECT_EQ(view.selection()->index, first);
    EXPECT_EQ(fact("Microbatch"), QString::number(tasks[first].microbatch));
    EXPECT_EQ(fact("Rank"), "rank 0");
}

TEST_F(Pages, PipelineZoomsAndMovesByKeysAndComesBack) {
    PipelineView& view = page<PipelinePage>("pipeline").view();
    const base::Interval whole = view.visibleRange();
    QTest::keyClick(&view, Qt::Key_W);
    const base::Interval zoomed = view.visibleRange();
    EXPECT_LT(zoomed.length(), whole.length());
    QTest::keyClick(&view, Qt::Key_D);
    EXPECT_GT(view.visibleRange().begin, zoomed.begin);
    QTest::keyClick(&view, Qt::Key_F);
    EXPECT_EQ(view.visibleRange(), whole);
    QTest::keyClick(&view, Qt::Key_Right);
    ASSERT_TRUE(view.selection());
    const std::size_t selected = view.selection()->index;
    QTest::keyClick(&view, Qt::Key_Right);
    EXPECT_EQ(view.selection()->index, selected + 1);
}

TEST_F(Pages, PipelineAccountsForASelectedArea) {
    PipelineView& view = page<PipelinePage>("pipeline").view();
    QWidget* paper = view.viewport();
    const QPoint from(200, 40), to(600, 120);
    QTest::mousePress(paper, Qt::LeftButton, Qt::ShiftModifier, from);
    QMouseEvent move(QEvent::MouseMove, to, paper->mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                     Qt::ShiftModifier);
    QCoreApplication::sendEvent(paper, &move);
    QTest::mouseRelease(paper, Qt::LeftButton, Qt::ShiftModifier, to);
    ASSERT_TRUE(view.area());
    EXPECT_EQ(m_window.facts().title(), "Selected area");
    EXPECT_FALSE(fact("bubble").isEmpty());
    EXPECT_EQ(fact("Ranks"), QString::number(view.area()->lastRow - view.area()->firstRow + 1));
}

TEST_F(Pages, PathGoesPieceByPieceToItsPlaces) {
    PathPanel& path = m_window.path();
    EXPECT_TRUE(path.title().contains("critical path of iteration"));
    ASSERT_GT(path.pieces().model()->rowCount(), 2);
    m_window.showPage(QStringLiteral("pipeline"));
    const QSignalSpy chosen(&path, &PathPanel::placeChosen);
    path.step(1);
    path.step(1);
    EXPECT_EQ(path.pieces().currentIndex().row(), 1);
    EXPECT_EQ(chosen.count(), 2);
}

TEST_F(Pages, CompareShowsBothRunsTogetherAndWhereTheyDiffer) {
    auto& compare = page<ComparePage>("compare");
    EXPECT_TRUE(compare.status().startsWith("Choose a second run"));
    pleat::testing::SyntheticOptions slower = pleat::testing::foldedOptions();
    slower.forward = {{1'500'000}};
    const auto file = m_folder.file("slower.pleat");
    ASSERT_TRUE(store::writeTrace(pleat::testing::traceWith(slower), file).ok());
    compare.openOther({QString::fromStdString(file.string())});
    ASSERT_TRUE(waitUntil([&] {
        return compare.comparison().results() != nullptr &&
               compare.otherIteration().results() != nullptr;
    }));
    EXPECT_TRUE(compare.settled());
    // Three iterations of each are too few for a verdict, and it is not hidden.
    EXPECT_TRUE(compare.status().startsWith("Cannot tell whether NEW is faster"))
        << compare.status().toStdString();
    const auto& compared = compare.rows().figures().figures().rows;
    ASSERT_FALSE(compared.empty());
    EXPECT_EQ(compared[0][2].text, "cannot tell");
    EXPECT_EQ(compared[0][2].tone, models::Tone::Plain);
    const auto& rows = compare.means().figures().figures().rows;
    ASSERT_GE(rows.size(), 3U);
    EXPECT_EQ(rows[0][0].text, "whole");
    EXPECT_EQ(rows[0][3].tone, models::Tone::Longer);
    EXPECT_TRUE(rows[0][3].text.startsWith("+"));
    qlonglong parts = 0;
    for (std::size_t row = 1; row < rows.size(); ++row) parts += rows[row][3].value.toLongLong();
    EXPECT_EQ(parts, rows[0][3].value.toLongLong());
    QTest::keyClick(&compare.view(), Qt::Key_W);
    QTest::keyClick(&compare.view(), Qt::Key_W);
    const base::Interval shown = compare.view().visibleRange();
    const base::Interval other = compare.otherView().visibleRange();
    EXPECT_EQ(shown.length(), other.length());
    EXPECT_EQ(shown.begin - compare.view().results()->scene.window.begin,
              other.begin - compare.otherView().results()->scene.window.begin);
}

TEST_F(Pages, CompareSaysWhyTwoRunsCannotBeCompared) {
    auto& compare = page<ComparePage>("compare");
    const auto file = m_folder.file("nothing.pleat");
    ASSERT_TRUE(store::writeTrace(trace::TraceBuilder().build().trace, file).ok());
    compare.openOther({QString::fromStdString(file.string())});
    ASSERT_TRUE(waitUntil([&] { return compare.otherSession().analysed() && compare.settled(); }));
    EXPECT_TRUE(compare.status().startsWith("The two runs cannot be compared: "));
    EXPECT_TRUE(compare.status().contains("nothing.pleat: ")) << compare.status().toStdString();
    // And what to do.
    EXPECT_TRUE(compare.status().contains("--with NEW --rules FILE"));
    EXPECT_EQ(compare.rows().model()->rowCount(), 0);
}

TEST_F(Pages, SqlAnswersAndSaysWhatIsWrong) {
    auto& sql = page<SqlPage>("sql");
    sql.setQuery(
        QStringLiteral("select count(*) as n, min(start_ns) as start_ns, 5 as end_ns from task"));
    sql.run();
    ASSERT_TRUE(waitUntil([&] { return !sql.running(); }));
    ASSERT_EQ(sql.results().model()->rowCount(), 1);
    EXPECT_EQ(sql.results().figures().figures().rows[0][0].text, "192");
    EXPECT_TRUE(sql.results().figures().figures().rows[0][0].place.range);
    const auto file = m_folder.file("out.csv");
    sql.exportCsv(QString::fromStdString(file.string()));
    ASSERT_TRUE(waitUntil([&] { return !sql.saving(); }));
    EXPECT_TRUE(sql.status().startsWith("Saved ")) << sql.status().toStdString();
    EXPECT_TRUE(test::readBytes(file).starts_with("n,start_ns,end_ns\r\n192,"));
    sql.setQuery(QStringLiteral("delete from task"));
    sql.run();
    ASSERT_TRUE(waitUntil([&] { return !sql.running(); }));
    EXPECT_TRUE(sql.status().contains("the trace is read-only")) << sql.status().toStdString();
}

// The table shows at most 500 bytes of a value, and control characters as \xNN.
TEST_F(Pages, SqlSavesWholeValuesAsCsv) {
    auto& sql = page<SqlPage>("sql");
    sql.setQuery(
        QStringLiteral("select replace(hex(zeroblob(300)), '0', 'x') as long, 'a' || char(9) || '\u00fc \"b\",' || "
                       "char(10) || 'c' "
                       "as hard, null as missing, '' as empty, 1 as number"));
    sql.run();
    ASSERT_TRUE(waitUntil([&] { return !sql.running(); }));
    ASSERT_EQ(sql.results().model()->rowCount(), 1) << sql.status().toStdString();
    const auto file = m_folder.file("whole.csv");
    test::writeBytes(file, "what the dialog was told to replace");
    sql.exportCsv(QString::fromStdString(file.string()));
    ASSERT_TRUE(waitUntil([&] { return !sql.saving(); }));
    EXPECT_EQ(test::readBytes(file), "long,hard,missing,empty,number\r\n" + std::string(600, 'x') +
                                         ",\"a\t\u00fc \"\"b\"\",\nc\",,\"\",1\r\n");
    sql.exportCsv(QString::fromStdString((m_folder.file("none") / "x.csv").string()));
    ASSERT_TRUE(waitUntil([&] { return !sql.saving(); }));
    EXPECT_TRUE(sql.status().contains("x.csv: ")) << sql.status().toStdString();
}

// What the dialog asks about is what is written: it adds the ending before it asks.
TEST_F(Pages, SaveDialogsAskAboutTheFileThatIsWritten) {
    const auto dialog =
        makeSaveDialog(m_window, QStringLiteral("Save"), QStringLiteral("Pleat traces (*.pleat)"),
                       QStringLiteral("pleat"));
    dialog->setOption(QFileDialog::DontUseNativeDialog);
    dialog->setDirectory(QString::fromStdString(m_folder.file("").string()));
    dialog->selectFile(QStringLiteral("run"));
    ASSERT_EQ(dialog->selectedFiles().size(), 1);
    EXPECT_TRUE(dialog->selectedFiles().front().endsWith("/run.pleat"));
    EXPECT_FALSE(dialog->testOption(QFileDialog::DontConfirmOverwrite));
}

TEST_F(Pages, EveryCommandIsInThePaletteAndEveryKeyInTheList) {
    CommandPalette palette(m_window.commands(), &m_window);
    const qsizetype all = palette.shown().size();
    EXPECT_EQ(all, m_window.commands().size());
    palette.setFilter(QStringLiteral("sql"));
    ASSERT_EQ(palette.shown().size(), 1);
    palette.run();
    EXPECT_EQ(m_window.currentPage(), "sql");
    palette.setFilter(QStringLiteral("no such command"));
    EXPECT_TRUE(palette.shown().isEmpty());
    QStringList keys;
    for (const KeyHelp& key : m_window.keys()) keys << key.key;
    EXPECT_TRUE(keys.contains("Ctrl+Shift+P"));
    EXPECT_TRUE(keys.contains("?"));
    EXPECT_EQ(QSet<QString>(keys.begin(), keys.end()).contains(QString()), false);
}

TEST_F(Pages, ArePicturesInEveryFormat) {
    for (const char* id : {"pipeline", "answer", "compare", "sql", "diagnostics"}) {
        SessionView& view = page<SessionView>(id);
        for (const auto& [ending, start] : std::map<std::string, std::string>{
                 {".png", "\x89PNG"}, {".svg", "<?xml"}, {".pdf", "%PDF"}}) {
            const auto file = m_folder.file(id + ending);
            EXPECT_EQ(writePicture(*view.picture(), QString::fromStdString(file.string())),
                      QString());
            EXPECT_TRUE(test::readBytes(file).starts_with(start)) << file;
        }
    }
    EXPECT_FALSE(writePicture(m_window, QStringLiteral("/nowhere/x.png")).isEmpty());
    EXPECT_TRUE(writePicture(m_window, QStringLiteral("x.bmp")).contains(".png, .svg or .pdf"));
}

TEST_F(Pages, ShowAShortTableWithoutScrollingItsRows) {
    auto& answer = page<AnswerPage>("answer");
    QCoreApplication::processEvents();
    std::size_t wide = 0;
    for (const FigureView* table : answer.findChildren<FigureView*>()) {
        if (!table->isVisible() || table->model()->rowCount() > 4) continue;
        EXPECT_FALSE(table->verticalScrollBar()->isVisible()) << table->objectName().toStdString();
        wide += table->horizontalScrollBar()->isVisible() ? 1 : 0;
    }
    EXPECT_GT(wide, 0U);  // those have less room for rows
}

TEST_F(Pages, LongFactsGoOnInTheNextLine) {
    models::Figures facts;
    facts.columns = {QStringLiteral("What"), QStringLiteral("Value")};
    facts.rows = {{{QStringLiteral("short"), {}, {}}, {QStringLiteral("1 ms"), {}, {}}},
                  {{QStringLiteral("long"), {}, {}},
                   {QStringLiteral("one word after the other ").repeated(20), {}, {}}}};
    m_window.facts().show(QStringLiteral("Facts"), facts);
    const FigureView& table = m_window.facts().table();
    EXPECT_LE(table.columnWidth(0) + table.columnWidth(1), table.width());
    EXPECT_GT(table.rowHeight(1), 3 * table.rowHeight(0));
}

TEST_F(Pages, HaveNamesForThoseWhoHearThem) {
    for (const QString& id : m_window.pageIds()) {
        EXPECT_FALSE(m_window.page(id)->accessibleName().isEmpty());
        for (const FigureView* table : m_window.page(id)->findChildren<FigureView*>())
            EXPECT_FALSE(table->accessibleName().isEmpty()) << id.toStdString();
    }
}

TEST(DiagnosticsPage, LeadsFromADiagnosticToItsExample) {
    timeline::MadeTrace made;
    made.addLane(made.addRank(0), {{0, 100, "first"}, {700, 600, "backwards"}, {900, 950, "last"}});
    const test::TemporaryFolder folder;
    const auto file = folder.file("odd.pleat");
    ASSERT_TRUE(store::writeTrace(*made.build(), file));
    MainWindow window;
    window.show();
    window.open({QString::fromStdString(file.string())});
    ASSERT_TRUE(waitUntil([&] { return window.session().analysed(); }));
    window.showPage(QStringLiteral("diagnostics"));
    auto* table = window.page(QStringLiteral("diagnostics"))->findChild<FigureView*>();
    const auto& rows = table->figures().figures().rows;
    const auto row = std::find_if(rows.begin(), rows.end(), [](const auto& one) {
        return one[1].text == QStringLiteral("negative_duration");
    });
    ASSERT_NE(row, rows.end());
    table->setCurrentIndex(table->model()->index(static_cast<int>(row - rows.begin()), 0));
    QTest::keyClick(table, Qt::Key_Return);
    EXPECT_EQ(window.currentPage(), "timeline");
    auto& canvas = dynamic_cast<TimelinePage*>(window.page(QStringLiteral("timeline")))->canvas();
    ASSERT_TRUE(waitUntil([&] { return canvas.selected().valid(); }));
    EXPECT_EQ(canvas.data()->trace().name(canvas.selected()), "backwards");
}

}  // namespace
}  // namespace pleat::widgets
