// The viewer as a person has it: the real program in a real X server (Xvfb), driven by keys and
// mouse (xdotool). What it shows is asked of the program itself: M bookmarks the moment under the
// cursor, or the begin of the selected event, and bookmarks are kept in a file beside the trace.
#include <gtest/gtest.h>

#include <QImage>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <thread>

#include "gui/gui_support.h"
#include "models/bookmarks.h"
#include "support/run_program.h"

namespace pleat {
namespace {

using base::TraceTime;
using test::runProgram;

constexpr int kWidth = 1200, kHeight = 800;
constexpr int kRow = 400;  // a height within the lanes

bool installed(const std::string& program) {
    return runProgram({"sh", "-c", "command -v " + program}).status == 0;
}

template <class Condition>
bool eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (std::chrono::steady_clock::now() < end) {
        if (condition()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return condition();
}

// A display of its own with pleat-gui on it, which shows `trace`.
class Viewer {
  public:
    Viewer(const test::TemporaryFolder& folder, const std::filesystem::path& trace)
        : m_server({"Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"}),
          m_bookmarks(models::Bookmarks::fileFor(trace)) {
        (void)eventually([&] { return m_server.output().ends_with('\n'); });
        const std::string number = m_server.output();
        m_environment = {{"DISPLAY", ":" + number.substr(0, number.find('\n'))},
                         {"QT_QPA_PLATFORM", "xcb"},
                         {"XDG_CONFIG_HOME", folder.file("").string()}};
        m_program.emplace(
            std::vector<std::string>{"env", "-C", folder.file("").string(),
                                     std::string(PLEAT_BIN_DIR) + "/pleat-gui", trace.string()},
            m_environment);
    }

    [[nodiscard]] test::RunningProgram& program() { return *m_program; }

    std::string xdotool(std::vector<std::string> arguments) const {
        // It waits for ever for a window that is gone.
        arguments.insert(arguments.begin(), {"timeout", "30", "xdotool"});
        return runProgram(arguments, m_environment).output;
    }

    // Gives the window of this title the keyboard: there is no window manager to do so. Its id;
    // empty where it does not appear.
    std::string focus(const std::string& title) const {
        std::string id;
        (void)eventually([&] {
            id = xdotool({"search", "--onlyvisible", "--name", title});
            id = id.substr(0, id.find('\n'));
            return !id.empty();
        });
        if (!id.empty()) (void)xdotool({"windowfocus", "--sync", id});
        return id;
    }

    void press(const std::vector<std::string>& keys) const {
        std::vector<std::string> arguments{"key"};
        arguments.insert(arguments.end(), keys.begin(), keys.end());
        (void)xdotool(arguments);
    }

    // Of all bookmarks so far.
    [[nodiscard]] std::set<TraceTime> marked() const {
        std::set<TraceTime> times;
        if (const auto bookmarks = models::Bookmarks::load(m_bookmarks)) {
            for (const models::Bookmark& bookmark : bookmarks->all()) times.insert(bookmark.time);
        }
        return times;
    }

    // What M marks now; a time before all others when it marked nothing new.
    TraceTime mark() const {
        const std::set<TraceTime> before = marked();
        press({"m"});
        TraceTime fresh{-1};
        (void)eventually([&] {
            for (const TraceTime time : marked()) {
                if (!before.contains(time)) fresh = time;
            }
            return fresh.ns >= 0;
        });
        return fresh;
    }
    TraceTime markAt(int x) const {
        (void)xdotool({"mousemove", std::to_string(x), std::to_string(kRow)});
        return mark();
    }
    // Between two pixels.
    double nanosecondsPerPixel(int left, int right) const {
        const base::Duration between = markAt(right) - markAt(left);
        return static_cast<double>(between.ns) / (right - left);
    }

  private:
    test::RunningProgram m_server;
    std::filesystem::path m_bookmarks;
    std::map<std::string, std::string> m_environment;
    std::optional<test::RunningProgram> m_program;  // ends before its display
};

// Does an arrow lead from a send that begins at `from` to a receive that begins at `to`?
bool isMessage(const trace::Trace& trace, TraceTime from, TraceTime to) {
    const trace::Annotations& found = trace.annotations();
    return std::any_of(found.matches.begin(), found.matches.end(), [&](const trace::Match& match) {
        bool sent = false, received = false;
        for (const trace::TransferId member : match.members) {
            const trace::Transfer& transfer = found.transfers[member];
            const TraceTime begin = transfer.span.begin;
            sent = sent || (transfer.operation == trace::Operation::Send && begin == from);
            received = received || (transfer.operation == trace::Operation::Receive && begin == to);
        }
        return sent && received;
    });
}

std::size_t colourCount(const QImage& image) {
    std::set<QRgb> colours;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x) colours.insert(image.pixel(x, y));
    }
    return colours.size();
}

void expectZoomAtTheCursor(const Viewer& viewer) {
    const double whole = viewer.nanosecondsPerPixel(400, 600);
    ASSERT_GT(whole, 0);
    viewer.press({"w", "w", "w", "w"});
    EXPECT_NEAR(viewer.nanosecondsPerPixel(410, 590) / whole, std::pow(0.8, 4), 0.01);
}

void expectAMessageFollowedFromAHit(const Viewer& viewer, const trace::Trace& trace) {
    viewer.press({"f", "slash"});
    (void)viewer.xdotool({"type", "SEND"});
    viewer.press({"Return"});
    const TraceTime sent = viewer.mark();
    viewer.press({"bracketright"});
    const TraceTime received = viewer.mark();
    EXPECT_TRUE(isMessage(trace, sent, received)) << sent.ns << " to " << received.ns;
}

void expectASelectedAreaShown(const Viewer& viewer) {
    viewer.press({"Escape", "f"});
    const TraceTime begin = viewer.markAt(300), end = viewer.markAt(500);
    (void)viewer.xdotool({"mousemove", "300", "200", "keydown", "shift", "mousedown", "1",
                          "mousemove", "400", "300", "mousemove", "500", "400", "mouseup", "1",
                          "keyup", "shift"});
    viewer.press({"shift+f"});
    const double before = static_cast<double>((end - begin).ns) / 200;
    EXPECT_LT(viewer.nanosecondsPerPixel(390, 410), 0.7 * before);
    const TraceTime within = viewer.markAt(400);
    EXPECT_GT(within, begin);
    EXPECT_LT(within, end);
}

void expectAPictureExported(const Viewer& viewer, const std::filesystem::path& file) {
    viewer.press({"ctrl+e"});
    ASSERT_FALSE(viewer.focus("Export the page as a picture").empty());
    viewer.press({"Return"});  // under the name proposed
    QImage picture;
    ASSERT_TRUE(eventually([&] { return picture.load(QString::fromStdString(file.string())); }));
    EXPECT_GT(picture.width(), kWidth / 3);
    EXPECT_LT(picture.width(), kWidth);
    EXPECT_GT(picture.height(), kHeight / 3);
    EXPECT_LT(picture.height(), kHeight);
    EXPECT_GT(colourCount(picture), 10U);
}

TEST(ViewerInAnXServer, ZoomsSearchesFollowsAMessageSelectsAnAreaAndExports) {
    for (const char* program : {"Xvfb", "xdotool"}) {
        if (!installed(program)) GTEST_SKIP() << program << " is not installed";
    }
    const test::TemporaryFolder folder;
    const trace::Trace trace = testing::foldedTrace();
    Viewer viewer(folder, testing::writeFolded(folder));
    const std::string window = viewer.focus("folded.pleat");
    ASSERT_FALSE(window.empty()) << viewer.program().errors();
    EXPECT_TRUE(viewer.xdotool({"getwindowname", window}).ends_with("Pleat\n"));
    (void)viewer.xdotool({"windowmove", window, "0", "0", "windowsize", window,
                          std::to_string(kWidth), std::to_string(kHeight)});
    // The timeline, as soon as it is ready to be marked; a click gives it the keyboard.
    ASSERT_TRUE(eventually([&] {
        (void)viewer.xdotool({"key", "alt+2", "mousemove", "450", std::to_string(kRow), "click",
                              "1", "key", "Escape", "f", "m"});
        return !viewer.marked().empty();
    })) << viewer.program().errors();
    expectZoomAtTheCursor(viewer);
    expectAMessageFollowedFromAHit(viewer, trace);
    expectASelectedAreaShown(viewer);
    expectAPictureExported(viewer, folder.file("timeline.png"));
    (void)viewer.focus("folded.pleat");
    viewer.press({"ctrl+q"});
    ASSERT_TRUE(viewer.program().waitFor(std::chrono::seconds(30)));
    EXPECT_EQ(viewer.program().status(), 0);
}

}  // namespace
}  // namespace pleat
