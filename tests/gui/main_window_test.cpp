#include "widgets/main_window.h"

#include <gtest/gtest.h>

#include <QStackedWidget>

#include "gui/gui_support.h"
#include "widgets/pages.h"
#include "widgets/start_page.h"

namespace pleat::widgets {
namespace {

using State = models::TraceSession::State;
using pleat::testing::waitUntil;
using pleat::testing::writeFolded;

TEST(MainWindow, SaysWhatToDoWhileNothingIsOpen) {
    MainWindow window;
    const auto* start = window.findChild<StartPage*>();
    ASSERT_NE(start, nullptr);
    EXPECT_EQ(start->title(), "No trace is open");
    EXPECT_TRUE(start->text().contains("pleat record"));
}

TEST(MainWindow, ShowsItsPagesOnceTheTraceIsThere) {
    const test::TemporaryFolder folder;
    MainWindow window;
    window.open({QString::fromStdString(writeFolded(folder).string())});
    ASSERT_TRUE(waitUntil([&] { return window.session().state() == State::Loaded; }));
    const auto* stack = window.findChild<QStackedWidget*>();
    EXPECT_EQ(stack->currentIndex(), 1);
    EXPECT_TRUE(window.windowTitle().contains("folded.pleat"));
    for (const QString& id : window.pageIds()) {
        window.showPage(id);
        EXPECT_EQ(window.currentPage(), id);
    }
}

TEST(MainWindow, SaysInWordsWhyAFileCannotBeShown) {
    const test::TemporaryFolder folder;
    MainWindow window;
    window.open({QString::fromStdString(folder.file("absent.pleat").string())});
    ASSERT_TRUE(waitUntil([&] { return window.session().state() == State::Failed; }));
    EXPECT_TRUE(window.findChild<StartPage*>()->text().contains("no such file"));
}

}  // namespace
}  // namespace pleat::widgets
