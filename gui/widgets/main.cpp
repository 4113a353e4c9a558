// pleat-gui: the viewer. Parses, opens the window or writes a picture of it, and leaves.
#include <QApplication>
#include <QFont>
#include <QFontDatabase>
#include <QIcon>
#include <QStyle>
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/exceptions.h"
#include "base/memory.h"
#include "base/say.h"
#include "widgets/command_line.h"
#include "widgets/compare_page.h"
#include "widgets/language.h"
#include "widgets/main_window.h"
#include "widgets/screenshot.h"

namespace {

// As of every program of Pleat's (docs/command_line.md).
int fail(const pleat::base::Error& error) {
    pleat::base::say("pleat-gui: " + error.message);
    return error.code == pleat::base::ErrorCode::Usage ? 2 : 3;
}

// Qt ends a program that has none.
bool hasScreen() {
    return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr ||
           std::getenv("QT_QPA_PLATFORM") != nullptr;
}

// Queries are written in an editor of this class.
void setEditorFont(const QFont& font) { QApplication::setFont(font, "QPlainTextEdit"); }

// A picture is that of the trace, not of the desktop it was made on.
void lookTheSameEverywhere() {
    constexpr int kPointSize = 9;
    QApplication::setStyle(QStringLiteral("Fusion"));
    QApplication::setPalette(QApplication::style()->standardPalette());
    QApplication::setFont(QFont(QStringLiteral("DejaVu Sans"), kPointSize));
    setEditorFont(QFont(QStringLiteral("DejaVu Sans Mono"), kPointSize));
}

int run(int argumentCount, char** arguments) {
    // A picture needs no screen; the platform must be chosen before the application is made.
    const bool picture = std::any_of(
        arguments, arguments + argumentCount,
        [](const char* argument) { return std::strncmp(argument, "--screenshot", 12) == 0; });
    const bool help = std::any_of(arguments, arguments + argumentCount, [](const char* argument) {
        return std::strcmp(argument, "--help") == 0 || std::strcmp(argument, "-h") == 0;
    });
    if (picture || help) setenv("QT_QPA_PLATFORM", "offscreen", 0);
    if (!hasScreen()) {
        return fail({pleat::base::ErrorCode::Io,
                     "there is no screen (neither DISPLAY nor WAYLAND_DISPLAY is set); use "
                     "--screenshot FILE to write a picture without one"});
    }
    QApplication application(argumentCount, arguments);
    QApplication::setOrganizationName(QStringLiteral("pleat"));
    // Settings go by this name; a picture must not depend on how somebody left the window.
    QApplication::setApplicationName(picture ? QStringLiteral("pleat-gui-picture")
                                             : QStringLiteral("pleat-gui"));
    QApplication::setDesktopFileName(QStringLiteral("pleat-gui"));
    QApplication::setWindowIcon(QIcon::fromTheme(QStringLiteral("pleat-gui")));
    if (picture)
        lookTheSameEverywhere();
    else
        setEditorFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    pleat::widgets::installLanguage(picture ? QLocale::c() : QLocale());
    const auto line = pleat::widgets::parseCommandLine(QApplication::arguments());
    if (!line) return fail(line.error());
    if (line->takeScreenshot) {
        const auto taken = pleat::widgets::takeScreenshot(line->screenshot);
        return taken ? 0 : fail(taken.error());
    }
    pleat::widgets::MainWindow window;
    const QString& page = line->page;
    if (!page.isEmpty() && window.page(page) == nullptr)
        return fail(pleat::widgets::unknownPage(window, page));
    window.show();
    window.showPage(page.isEmpty() ? window.currentPage() : page);
    window.open(line->screenshot.trace);
    window.compare().openOther(line->screenshot.other);
    return QApplication::exec();
}

}  // namespace

int main(int argumentCount, char** arguments) {
    pleat::base::keepFreedMemory();
    int status = 3;
    const auto done = pleat::base::contained([&] { status = run(argumentCount, arguments); });
    return done ? status : fail(done.error());
}
