// The timeline of twenty million events in 64 lanes on a screen of 3840 x 2160: what the index
// costs, and what lies where in the frames of a scripted flight over all zooms, beside a bare pass
// over the columns of their pixels.
// "timeline_bench N" makes about N events instead.
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "bench/large_timeline.h"
#include "bench/ratio.h"
#include "timeline/frame_builder.h"
#include "trace/trace.h"

namespace {

using namespace pleat;

constexpr std::int32_t kWidth = bench::kScreenWidth, kHeight = bench::kScreenHeight;
constexpr int kFlights = 3;

struct Bench {
    std::shared_ptr<const trace::Trace> trace;
    timeline::WorkerPool pool;
    std::int64_t sum = 0;  // keeps bare passes from being left out

    void bareEvents() {
        const trace::EventColumns& columns = trace->columns();
        for (std::size_t i = 0; i < columns.startNs.size(); ++i)
            sum += columns.startNs[i] + columns.durationNs[i];
    }
    // One event and one cell for every column of every row that a frame shows.
    void bareColumns(const timeline::Frame& frame, const timeline::LodIndex& index,
                     std::vector<timeline::Cell>& cells) {
        const trace::EventColumns& columns = trace->columns();
        cells.resize(kWidth);
        for (const timeline::FrameRow& row : frame.rows) {
            const timeline::RowIndex* events = timeline::rowAt(index, row.place);
            if (events == nullptr || events->size() == 0) continue;
            for (std::size_t c = 0; c < cells.size(); ++c) {
                const std::size_t at = events->event(events->size() * c / cells.size()).index();
                cells[c] = {static_cast<std::uint8_t>(columns.startNs[at]),
                            static_cast<std::uint8_t>(columns.durationNs[at])};
            }
            sum += cells[cells.size() / 2].occupancy;
        }
    }
};

}  // namespace

int main(int count, char** arguments) {
    base::keepFreedMemory();
    std::size_t wanted = 20'000'000;
    if (count > 1) {
        const std::string_view given = arguments[1];
        std::from_chars(given.data(), given.data() + given.size(), wanted);
    }
    Bench bench{bench::makeLargeTimeline(wanted), timeline::WorkerPool()};
    const auto events = static_cast<double>(bench.trace->eventCount());
    bench::printInfo("timeline: million events", events / 1e6);
    bench.bareEvents();
    const double bare = bench::secondsOf([&] { bench.bareEvents(); });

    std::unique_ptr<timeline::LodIndex> index;
    std::unique_ptr<timeline::LaneTree> tree;
    std::unique_ptr<timeline::EventColours> colours;
    timeline::FrameBuilder builder(bench.pool);
    const double indexing = bench::secondsOf(
        [&] { index = std::make_unique<timeline::LodIndex>(bench.trace, bench.pool); });
    const double firstPaint =
        indexing + bench::secondsOf([&] {
            tree = std::make_unique<timeline::LaneTree>(*index);
            colours = std::make_unique<timeline::EventColours>(
                *bench.trace, timeline::ColourMode::Kind, bench.pool);
            builder.build(*index, *tree, timeline::fitted(index->span(), kWidth), *colours,
                          {kHeight, 0});
        });
    bench::printAtMost("index: bytes an event", static_cast<double>(index->bytes()) / events, 8);
    bench::printInfo("index: time / a bare pass over start and duration", indexing / bare);
    bench::printAtMost("first frame after the columns are there, s", firstPaint, 1.0);

    bench::FlightTimes times, exactTimes;
    std::vector<double> ratios;
    std::vector<timeline::Cell> cells;
    std::size_t inTime = 0;
    const std::vector<timeline::Viewport> way = bench::flight(index->span(), kWidth);
    for (int flight = 0; flight < kFlights; ++flight) {
        std::int32_t scroll = 0;
        for (std::size_t i = 0; i < way.size(); ++i) {
            scroll = tree->clampedScroll(scroll + 40, kHeight);
            timeline::FrameOptions options{kHeight, scroll};
            const double frame = bench::secondsOf([&] {
                options.deadline = std::chrono::steady_clock::now() + timeline::kTimeForFrame;
                builder.build(*index, *tree, way[i], *colours, options);
            });
            if (builder.exact()) ++inTime;
            const double rest = bench::secondsOf([&] { builder.refine(timeline::kNoDeadline); });
            const double columns =
                bench::secondsOf([&] { bench.bareColumns(builder.frame(), *index, cells); });
            times.add(i, frame);
            exactTimes.add(i, frame + rest);
            ratios.push_back((frame + rest) / columns);
        }
    }
    bench::printInfo("frames of the flight", static_cast<double>(way.size()));
    bench::printAtMost("geometry of a frame: median, ms", times.medianMs(), 16);
    bench::printAtMost("geometry of a frame: worst, ms", times.worstMs(), 16);
    bench::printInfo("the worst one's ns per pixel", way[times.worstFrame()].nsPerPixel);
    bench::printInfo("slowest single one, waits for a core among it, ms", times.slowestSingleMs());
    bench::printInfo("exact at once, share of frames",
                     static_cast<double>(inTime) / static_cast<double>(ratios.size()));
    bench::printInfo("until all is exact: median, ms", exactTimes.medianMs());
    bench::printInfo("until all is exact: worst, ms", exactTimes.worstMs());
    bench::printInfo("median of exact / a bare pass over its columns", bench::median(ratios));
    return bench.sum != 0 ? 0 : 1;
}
