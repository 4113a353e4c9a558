// The options of pleat-gui. Pure but for --help, which prints and leaves.
#pragma once

#include <QStringList>

#include "base/result.h"
#include "widgets/screenshot.h"

namespace pleat::widgets {

struct CommandLine {
    ScreenshotOptions screenshot;  // its trace is also what the window opens
    bool takeScreenshot = false;
    QString page;  // asked for; empty: none
};

// Usage error in one line. `arguments` as main has them.
[[nodiscard]] base::Result<CommandLine> parseCommandLine(const QStringList& arguments);

}  // namespace pleat::widgets
