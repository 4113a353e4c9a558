// What a person who looks at twenty million events waits for, on a screen of 3840 x 2160 without a
// screen (Qt's offscreen platform): a frame of the timeline, from its geometry to the last pixel,
// in the flight of timeline_bench; and the time from a key to the picture it asked for while
// another trace, about 250 MB of PyTorch's profiler, is read and analysed in the background.
// "viewer_bench N" makes about N events instead.
#include <QApplication>
#include <QKeyEvent>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "bench/large_timeline.h"
#include "bench/ratio.h"
#include "models/timeline_data.h"
#include "models/trace_session.h"
#include "support/kineto_generator.h"
#include "support/temporary_folder.h"
#include "widgets/timeline_canvas.h"

namespace {

using namespace pleat;

constexpr int kFlights = 3;

// Says when a picture is there.
class WatchedCanvas : public widgets::TimelineCanvas {
  public:
    [[nodiscard]] int painted() const { return m_painted; }

  protected:
    void paintEvent(QPaintEvent* event) override {
        TimelineCanvas::paintEvent(event);
        ++m_painted;
    }

  private:
    int m_painted = 0;
};

void fly(widgets::TimelineCanvas& canvas) {
    bench::FlightTimes times, exactTimes;
    const std::vector<timeline::Viewport> way =
        bench::flight(canvas.data()->index.span(), canvas.rowsRect().width());
    for (int flight = 0; flight < kFlights; ++flight) {
        for (std::size_t i = 0; i < way.size(); ++i) {
            const double frame = bench::secondsOf([&] {
                canvas.setScroll(static_cast<int>(40 * i));
                canvas.showRange(timeline::visible(way[i]));
                canvas.repaint();
            });
            const double rest = bench::secondsOf([&] {
                while (canvas.refining()) canvas.repaint();
            });
            times.add(i, frame);
            exactTimes.add(i, frame + rest);
        }
    }
    bench::printAtMost("frame with painting: median, ms", times.medianMs(), 16);
    bench::printAtMost("frame with painting: worst, ms", times.worstMs(), 16);
    bench::printInfo("the worst one's ns per pixel", way[times.worstFrame()].nsPerPixel);
    bench::printInfo("slowest single one, waits for a core among it, ms", times.slowestSingleMs());
    bench::printInfo("until all is exact: worst, ms", exactTimes.worstMs());
}

opening::OpenRequest writeOther(const test::TemporaryFolder& folder) {
    constexpr testing::KinetoOptions kOptions{
        .ranks = 8, .iterations = 27, .operationsPerIteration = 512};
    opening::OpenRequest request;
    for (std::int32_t rank = 0; rank < kOptions.ranks; ++rank) {
        request.files.push_back(folder.file("rank" + std::to_string(rank) + ".json"));
        std::ofstream out(request.files.back(), std::ios::binary);
        (void)testing::writeKinetoTrace(kOptions, rank, out);
    }
    return request;
}

// From a key's arrival to the picture it asked for, ms.
double inputToPicture(WatchedCanvas& canvas, Qt::Key key) {
    const int before = canvas.painted();
    return 1e3 * bench::secondsOf([&] {
               QCoreApplication::postEvent(&canvas,
                                           new QKeyEvent(QEvent::KeyPress, key, Qt::NoModifier));
               while (canvas.painted() == before) QCoreApplication::processEvents();
           });
}

// False where the other trace could not be read.
bool moveWhileLoading(WatchedCanvas& canvas) {
    const test::TemporaryFolder folder;
    models::TraceSession session;
    const opening::OpenRequest request = writeOther(folder);
    canvas.showWhole();
    std::vector<double> loading;
    session.open(request);
    while (session.state() == models::TraceSession::State::Loading ||
           (session.trace() && !session.analysed())) {
        // Eight times in, eight times out, a step aside after each.
        const std::size_t step = loading.size() % 32;
        const Qt::Key zoom = step < 16 ? Qt::Key_W : Qt::Key_S;
        loading.push_back(inputToPicture(canvas, step % 2 == 0 ? zoom : Qt::Key_D));
    }
    if (!session.trace()) {
        fmt::print(stderr, "viewer_bench: {}\n", session.error().toStdString());
        return false;
    }
    bench::printInfo("pictures while another trace was loaded",
                     static_cast<double>(loading.size()));
    bench::printAtMost("input to picture meanwhile: median, ms", bench::median(loading), 50);
    bench::printAtMost("input to picture meanwhile: worst, ms",
                       *std::max_element(loading.begin(), loading.end()), 50);
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    base::keepFreedMemory();
    std::size_t wanted = 20'000'000;
    if (count > 1) {
        const std::string_view given = arguments[1];
        std::from_chars(given.data(), given.data() + given.size(), wanted);
    }
    qputenv("QT_QPA_PLATFORM", "offscreen");
    const QApplication application(count, arguments);
    WatchedCanvas canvas;
    canvas.resize(bench::kScreenWidth, bench::kScreenHeight);
    canvas.setData(models::makeTimelineData(bench::makeLargeTimeline(wanted), {}));
    canvas.show();
    while (canvas.painted() == 0) QCoreApplication::processEvents();
    fly(canvas);
    return moveWhileLoading(canvas) ? 0 : 1;
}
