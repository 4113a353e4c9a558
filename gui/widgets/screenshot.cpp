#include "widgets/screenshot.h"

#include <QCoreApplication>
#include <QEventLoop>

#include "widgets/main_window.h"
#include "widgets/picture_file.h"

namespace pleat::widgets {
namespace {

using State = models::TraceSession::State;

constexpr int kWaitMilliseconds = 20;

template <class Condition>
void runUntil(Condition condition) {
    while (!condition())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents, kWaitMilliseconds);
    // What the last change asked to be laid out and painted.
    for (int i = 0; i < 3; ++i) QCoreApplication::processEvents();
}

}  // namespace

base::Error unknownPage(const MainWindow& window, const QString& view) {
    return {base::ErrorCode::Usage, QStringLiteral("--view %1: is none of %2")
                                        .arg(view, window.pageIds().join(QStringLiteral(", ")))
                                        .toStdString()};
}

base::Result<void> takeScreenshot(const ScreenshotOptions& options) {
    MainWindow window;
    if (window.page(options.view) == nullptr) return unknownPage(window, options.view);
    window.resize(options.size);
    window.show();
    auto& session = window.session();
    session.open(options.trace);
    runUntil([&] { return session.state() != State::Loading; });
    if (session.state() == State::Failed)
        return base::Error{base::ErrorCode::Input, session.error().toStdString()};
    runUntil([&] { return session.analysed() && !window.iteration().working(); });
    window.showPage(options.view);
    runUntil([&] { return window.page(options.view)->settled(); });
    if (options.range) {
        const base::Duration origin = session.trace()->span().begin - base::TraceTime{};
        models::Place place;
        place.range = base::Interval{options.range->begin + origin, options.range->end + origin};
        window.page(options.view)->goTo(place);
    }
    runUntil([] { return true; });
    runUntil([&] { return window.page(options.view)->settled(); });
    const QString error = writePicture(window, options.file);
    if (!error.isEmpty()) return base::Error{base::ErrorCode::Io, error.toStdString()};
    return {};
}

}  // namespace pleat::widgets
