// A picture of the window without anybody at it, for documents and CI: open, wait until everything
// is analysed, show a page, write the file.
#pragma once

#include <QSize>
#include <QString>
#include <optional>

#include "base/interval_set.h"
#include "base/result.h"
#include "opening/open_trace.h"

namespace pleat::widgets {

struct ScreenshotOptions {
    opening::OpenRequest trace;
    opening::OpenRequest other;  // to compare it with; without files: none
    QString file;                // its ending says the format: .png .svg .pdf
    QString view = QStringLiteral("answer");
    std::optional<base::Interval> range;  // from the first event
    QSize size{1280, 800};
};

class MainWindow;

// Names the pages there are.
[[nodiscard]] base::Error unknownPage(const MainWindow& window, const QString& view);

// Usage error for an unknown view and for a range in which there is nothing to show, else the error
// of opening or writing. Runs the event loop.
[[nodiscard]] base::Result<void> takeScreenshot(const ScreenshotOptions& options);

}  // namespace pleat::widgets
