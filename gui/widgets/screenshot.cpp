#include "widgets/screenshot.h"

#include <QCoreApplication>
#include <QEventLoop>

#include "widgets/compare_page.h"
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

base::Error outside(base::Interval range, const QString& of) {
    return {base::ErrorCode::Usage, QStringLiteral("--range %1:%2: %3")
                                        .arg(range.begin.ns)
                                        .arg(range.end.ns)
                                        .arg(of)
                                        .toStdString()};
}

// The complete iteration that has most of these times.
std::optional<graph::IterationWindow> iterationOf(const models::TraceSession& session,
                                                  base::Interval range) {
    std::optional<graph::IterationWindow> most;
    base::Duration length;
    if (!session.results()) return most;
    for (const graph::IterationWindow& window : session.results()->windows) {
        const base::Duration within = intersect(window.window, range).length();
        if (!window.complete || within <= length) continue;
        most = window;
        length = within;
    }
    return most;
}

// `range` counts from the first event.
base::Result<void> showRange(MainWindow& window, SessionView& page, base::Interval range) {
    const models::TraceSession& session = window.session();
    const base::Interval whole = session.trace()->span();
    const base::Duration origin = whole.begin - base::TraceTime{};
    models::Place place;
    place.range = base::Interval{range.begin + origin, range.end + origin};
    if (intersect(*place.range, whole).empty())
        return outside(
            range, QStringLiteral("outside the trace, which is %1 ns long").arg(whole.length().ns));
    if (window.page(QStringLiteral("pipeline")) == &page) {
        const auto iteration = iterationOf(session, *place.range);
        if (!iteration)
            return outside(range,
                           QStringLiteral("no complete iteration there; use the timeline page"));
        place.iteration = iteration->iteration;
    }
    page.goTo(place);
    runUntil([&] { return !window.iteration().working(); });
    return {};
}

// Waits for the other run and its comparison.
base::Result<void> showOther(MainWindow& window, const opening::OpenRequest& other) {
    ComparePage& compare = window.compare();
    compare.openOther(other);
    runUntil([&] { return compare.settled(); });
    if (compare.otherSession().state() == State::Failed)
        return base::Error{base::ErrorCode::Input, compare.otherSession().error().toStdString()};
    return {};
}

}  // namespace

base::Error unknownPage(const MainWindow& window, const QString& view) {
    return {base::ErrorCode::Usage, QStringLiteral("--view %1: expected one of %2")
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
    SessionView& page = *window.page(options.view);
    window.showPage(options.view);
    runUntil([&] { return page.settled(); });
    if (!options.other.files.empty()) {
        if (const auto shown = showOther(window, options.other); !shown) return shown.error();
    }
    if (options.range) {
        if (const auto shown = showRange(window, page, *options.range); !shown)
            return shown.error();
    }
    runUntil([] { return true; });
    runUntil([&] { return page.settled(); });
    const QString error = writePicture(window, options.file);
    if (!error.isEmpty()) return base::Error{base::ErrorCode::Io, error.toStdString()};
    return {};
}

}  // namespace pleat::widgets
