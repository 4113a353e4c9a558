// pleat-gui: the viewer. Parses, opens the window or writes a picture of it, and leaves.
#include <QApplication>
#include <QIcon>
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/memory.h"
#include "base/say.h"
#include "widgets/command_line.h"
#include "widgets/main_window.h"

namespace {

// As of every program of Pleat's (docs/command_line.md).
int fail(const pleat::base::Error& error) {
    pleat::base::say("pleat-gui: " + error.message);
    return error.code == pleat::base::ErrorCode::Usage ? 2 : 3;
}

}  // namespace

int main(int argumentCount, char** arguments) {
    pleat::base::keepFreedMemory();
    // A picture needs no screen; the platform must be chosen before the application is made.
    const bool picture = std::any_of(
        arguments, arguments + argumentCount,
        [](const char* argument) { return std::strncmp(argument, "--screenshot", 12) == 0; });
    if (picture) setenv("QT_QPA_PLATFORM", "offscreen", 0);
    QApplication application(argumentCount, arguments);
    QApplication::setOrganizationName(QStringLiteral("pleat"));
    // Settings go by this name; a picture must not depend on how somebody left the window.
    QApplication::setApplicationName(picture ? QStringLiteral("pleat-gui-picture")
                                             : QStringLiteral("pleat-gui"));
    QApplication::setDesktopFileName(QStringLiteral("pleat-gui"));
    QApplication::setWindowIcon(QIcon::fromTheme(QStringLiteral("pleat-gui")));
    const auto line = pleat::widgets::parseCommandLine(QApplication::arguments());
    if (!line) return fail(line.error());
    if (line->takeScreenshot) {
        const auto taken = pleat::widgets::takeScreenshot(line->screenshot);
        return taken ? 0 : fail(taken.error());
    }
    pleat::widgets::MainWindow window;
    window.show();
    window.open(line->screenshot.trace);
    return QApplication::exec();
}
