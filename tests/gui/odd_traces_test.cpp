// Traces that are hardly traces: every page shows something in words, or nothing, and goes on.
#include <gtest/gtest.h>

#include <QImage>
#include <functional>

#include "gui/gui_support.h"
#include "models/facts.h"
#include "schedule/generators.h"
#include "trace/trace_builder.h"
#include "widgets/answer_page.h"
#include "widgets/main_window.h"
#include "widgets/pipeline_page.h"
#include "widgets/sql_page.h"

namespace pleat::widgets {
namespace {

using pleat::testing::waitUntil;

using Fill = std::function<void(trace::TraceBuilder&)>;

// Opens it, looks at every page, and hands the window to `check`.
void withTrace(const Fill& fill, const std::function<void(MainWindow&)>& check) {
    trace::TraceBuilder builder;
    fill(builder);
    const test::TemporaryFolder folder;
    const auto file = folder.file("odd.pleat");
    const auto annotated = annotate::annotate(std::move(builder).build().trace);
    ASSERT_TRUE(annotated.ok());
    ASSERT_TRUE(store::writeTrace(*annotated, file).ok());
    MainWindow window;
    window.resize(900, 600);
    window.show();
    window.open({QString::fromStdString(file.string())});
    ASSERT_TRUE(
        waitUntil([&] { return window.session().analysed() && !window.iteration().working(); }));
    for (const QString& id : window.pageIds()) {
        window.showPage(id);
        EXPECT_FALSE(window.grab().toImage().isNull());
        models::Place anywhere;
        anywhere.range = base::Interval{{0}, {1}};
        anywhere.rank = 0;
        anywhere.iteration = 0;
        window.goTo(anywhere);
    }
    ASSERT_TRUE(waitUntil([&] { return !window.iteration().working(); }));
    check(window);
}

PipelinePage& pipelineOf(MainWindow& window) {
    return dynamic_cast<PipelinePage&>(*window.page(QStringLiteral("pipeline")));
}
AnswerPage& answerOf(MainWindow& window) {
    return dynamic_cast<AnswerPage&>(*window.page(QStringLiteral("answer")));
}

trace::LaneId oneLane(trace::TraceBuilder& builder, const std::string& name = {}) {
    trace::Rank rank;
    rank.number = 0;
    return builder.addLane({builder.addRank(rank), trace::LaneKind::HostThread, 7, name});
}

void addEvent(trace::TraceBuilder& builder, trace::LaneId lane, const std::string& name,
              std::int64_t begin, std::int64_t end) {
    builder.addEvent({lane, builder.intern(name), {}, {}, {}, {{begin}, {end}}});
}

TEST(OddTraces, WithoutAnEventSaySo) {
    withTrace([](trace::TraceBuilder& builder) { (void)oneLane(builder); },
              [](MainWindow& window) {
                  EXPECT_TRUE(answerOf(window).headline().contains("No complete iteration"));
                  EXPECT_TRUE(pipelineOf(window).message().startsWith("No pipeline to show"))
                      << pipelineOf(window).message().toStdString();
                  // And what to do.
                  for (const char* advice : {"write rules", "docs/importing.md", "torch.cuda.nvtx"})
                      EXPECT_TRUE(pipelineOf(window).message().contains(advice)) << advice;
              });
}

TEST(OddTraces, WithOneEventAndNoTasksSaySo) {
    withTrace(
        [](trace::TraceBuilder& builder) { addEvent(builder, oneLane(builder), "step", 5, 5); },
        [](MainWindow& window) {
            EXPECT_FALSE(pipelineOf(window).message().isEmpty());
            window.facts().show(
                {}, models::eventFacts(*window.session().trace(), *window.session().roles(),
                                       trace::EventId(0), nullptr));
            EXPECT_EQ(window.facts().table().figures().figures().rows[0][1].text, "step");
        });
}

TEST(OddTraces, WithLongAndRightToLeftNamesStayReadable) {
    const std::string longName(10'000, 'x');
    const std::string rightToLeft = "\xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D";
    withTrace(
        [&](trace::TraceBuilder& builder) {
            const trace::LaneId lane = oneLane(builder, longName);
            addEvent(builder, lane, longName, 0, 10);
            addEvent(builder, lane, rightToLeft, 20, 20);
            addEvent(builder, lane, std::string("bad \xff \x01 bytes"), 30, 40);
        },
        [&](MainWindow& window) {
            const trace::Trace& trace = *window.session().trace();
            const timeline::EventRoles roles(trace.annotations());
            const auto cut =
                models::eventFacts(trace, roles, trace::EventId(0), nullptr).rows[0][1].text;
            EXPECT_LT(cut.size(), 1'000);
            EXPECT_EQ(models::eventFacts(trace, roles, trace::EventId(1), nullptr).rows[0][1].text,
                      QString::fromStdString(rightToLeft));
            EXPECT_TRUE(models::eventFacts(trace, roles, trace::EventId(2), nullptr)
                            .rows[0][1]
                            .text.contains("\\x01"));
        });
}

TEST(OddTraces, WithTenThousandLanesOpen) {
    withTrace(
        [](trace::TraceBuilder& builder) {
            trace::Rank rank;
            rank.number = 0;
            const trace::RankId id = builder.addRank(rank);
            for (int i = 0; i < 10'000; ++i) {
                const trace::LaneId lane =
                    builder.addLane({id, trace::LaneKind::HostThread, i, {}});
                addEvent(builder, lane, "step", i, i + 5);
            }
        },
        [](MainWindow& window) { EXPECT_EQ(window.session().trace()->lanes().size(), 10'000U); });
}

TEST(OddTraces, WithTasksAndNoTransfersShowTheirPipeline) {
    pleat::testing::SyntheticOptions options;
    options.schedule =
        *schedule::makeSchedule("gpipe", {.ranks = 1, .microbatches = 2, .chunks = 1, .group = 0});
    options.iterations = 2;
    options.forward = {{1'000}};
    options.backward = {{2'000}};
    const auto trace =
        annotate::annotate(pleat::testing::traceOf(pleat::testing::makeSyntheticRun(options)));
    ASSERT_TRUE(trace.ok());
    const test::TemporaryFolder folder;
    ASSERT_TRUE(store::writeTrace(*trace, folder.file("one.pleat")).ok());
    MainWindow window;
    window.show();
    window.open({QString::fromStdString(folder.file("one.pleat").string())});
    ASSERT_TRUE(waitUntil([&] { return window.iteration().results() != nullptr; }));
    EXPECT_TRUE(pipelineOf(window).message().isEmpty());
    EXPECT_EQ(window.iteration().results()->scene.rows.size(), 1U);
}

TEST(OddTraces, ThatWereImportedOfferToBeSavedForSql) {
    const test::TemporaryFolder folder;
    test::writeBytes(folder.file("x.json"),
                     R"([{"ph":"X","name":"step","pid":1,"tid":1,"ts":0,"dur":1}])");
    MainWindow window;
    window.open({QString::fromStdString(folder.file("x.json").string())});
    ASSERT_TRUE(waitUntil([&] { return window.session().analysed(); }));
    auto& sql = dynamic_cast<SqlPage&>(*window.page(QStringLiteral("sql")));
    EXPECT_TRUE(sql.status().contains("was imported"));
    const auto saved = folder.file("x.pleat");
    const QString name = QString::fromStdString(saved.string());
    // The save dialog has asked whether to replace it.
    test::writeBytes(saved, "another file");
    sql.saveAsDatabase(name);
    ASSERT_TRUE(waitUntil([&] {
        return !sql.saving() && !window.session().database().empty() && window.session().analysed();
    })) << sql.status().toStdString();
    EXPECT_EQ(window.session().database(), saved);
    EXPECT_TRUE(sql.status().contains("Read-only SQL"));
}

TEST(OddTraces, AreNotSavedOverADatabaseInUse) {
    const test::TemporaryFolder folder;
    const auto file = folder.file("run.pleat");
    test::writeBytes(file, "old");
    test::writeBytes(folder.file("run.pleat-wal"), "rows of the old one");
    const trace::Trace trace = trace::TraceBuilder().build().trace;
    const QString name = QString::fromStdString(file.string());
    EXPECT_TRUE(models::saveDatabase(trace, name).contains("another program has it open"));
    EXPECT_EQ(test::readBytes(file), "old");
    std::filesystem::remove(folder.file("run.pleat-wal"));
    EXPECT_EQ(models::saveDatabase(trace, name), QString());
    EXPECT_TRUE(store::load(file).ok());
    // Nothing but the file is left.
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(file.parent_path()), {}), 1);
}

}  // namespace
}  // namespace pleat::widgets
