// The timeline of twenty million events in 64 lanes on a screen of 3840 x 2160: what the index
// costs, and a scripted flight over all zooms beside a bare pass over the columns of its pixels.
// "timeline_bench N" makes about N events instead.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <string_view>

#include "base/memory.h"
#include "bench/ratio.h"
#include "timeline/frame_builder.h"
#include "trace/categories.h"
#include "trace/trace.h"

namespace {

using namespace pleat;

constexpr std::size_t kRanks = 32;  // each with a host thread three rows deep and a device stream
constexpr std::int32_t kWidth = 3840, kHeight = 2160;

class Maker {
  public:
    explicit Maker(std::size_t events) : m_lane(events / (2 * kRanks)) {
        const std::size_t count = m_lane * 2 * kRanks;
        m_columns->lane.reserve(count);
        m_columns->name.reserve(count);
        m_columns->kind.assign(count, trace::EventKind::Range);
        m_columns->flag.assign(count, trace::EventFlag::None);
        m_columns->arguments.assign(count, 0);
        m_columns->domain.reserve(count);
        m_columns->startNs.reserve(count);
        m_columns->durationNs.reserve(count);
        m_columns->firstOfLane.push_back(0);
        for (std::size_t rank = 0; rank < kRanks; ++rank) {
            trace::Rank process;
            process.number = static_cast<std::int32_t>(rank);
            const trace::RankId id = m_ranks.push(process);
            addHostLane(m_lanes.push({id, trace::LaneKind::HostThread, 1, "main"}));
            addDeviceLane(m_lanes.push({id, trace::LaneKind::DeviceStream, 7, ""}));
        }
    }
    std::shared_ptr<const trace::Trace> build() {
        return std::make_shared<const trace::Trace>(m_columns, m_ranks, m_lanes,
                                                    trace::Annotations{}, base::Diagnostics{});
    }

  private:
    void add(trace::LaneId lane, std::string_view name, std::string_view domain, std::int64_t start,
             std::int64_t duration) {
        m_columns->lane.push_back(lane);
        m_columns->name.push_back(m_columns->strings.intern(name));
        m_columns->domain.push_back(m_columns->strings.intern(domain));
        m_columns->startNs.push_back(start);
        m_columns->durationNs.push_back(duration);
    }
    std::int64_t upTo(std::int64_t most) {
        return std::uniform_int_distribution<std::int64_t>(1, most)(m_random);
    }
    void endLane() {
        m_columns->firstOfLane.push_back(static_cast<std::uint32_t>(m_columns->lane.size()));
    }
    void addHostLane(trace::LaneId lane) {
        std::int64_t time = 0;
        for (std::size_t i = 0; i < m_lane; ++i) {
            if (i % 16 == 0) {
                time += upTo(20'000);
                add(lane, "aten::linear", trace::categories::kOperator, time, 15 * 2'500);
            } else if (i % 16 % 3 == 1) {
                add(lane, "aten::addmm", trace::categories::kOperator, time, 2 * 2'500);
            } else {
                time += 2'500;
                add(lane, "cudaLaunchKernel", trace::categories::kRuntimeCall, time - 2'400,
                    upTo(2'000));
            }
        }
        endLane();
    }
    void addDeviceLane(trace::LaneId lane) {
        constexpr std::string_view kNames[] = {"gemm", "softmax", "layer_norm", "add"};
        std::int64_t time = 0;
        for (std::size_t i = 0; i < m_lane; ++i) {
            if (i % 1000 == 0) time += upTo(800'000);
            const std::int64_t length = upTo(i % 50 == 0 ? 60'000 : 4'000);
            add(lane, kNames[i % 4], trace::categories::kKernel, time, length);
            time += length + upTo(300);
        }
        endLane();
    }

    const std::size_t m_lane;  // events of each
    std::shared_ptr<trace::EventColumns> m_columns = std::make_shared<trace::EventColumns>();
    base::IdVector<trace::RankTag, trace::Rank> m_ranks;
    base::IdVector<trace::LaneTag, trace::Lane> m_lanes;
    std::mt19937_64 m_random{1};
};

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

// Zooms in from the whole to ten pixels a nanosecond, moving sideways and down on the way, and out.
std::vector<timeline::Viewport> flight(base::Interval whole) {
    std::vector<timeline::Viewport> way;
    timeline::Viewport viewport = timeline::fitted(whole, kWidth);
    for (int step = 0; viewport.nsPerPixel > timeline::kFinestNsPerPixel; ++step) {
        way.push_back(viewport);
        way.push_back(timeline::clamped(timeline::panned(viewport, 200), whole));
        const double x = step % 3 == 0 ? 600 : step % 3 == 1 ? 1900 : 3300;
        viewport = timeline::clamped(timeline::zoomedAround(viewport, x, 0.75), whole);
    }
    way.insert(way.end(), way.rbegin(), way.rend());
    return way;
}

}  // namespace

int main(int count, char** arguments) {
    base::keepFreedMemory();
    std::size_t wanted = 20'000'000;
    if (count > 1) {
        const std::string_view given = arguments[1];
        std::from_chars(given.data(), given.data() + given.size(), wanted);
    }
    Bench bench{Maker(wanted).build(), timeline::WorkerPool()};
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

    std::vector<double> frames, ratios;
    std::vector<timeline::Cell> cells;
    double slowestAt = 0, slowest = 0;
    std::int32_t scroll = 0;
    for (const timeline::Viewport& viewport : flight(index->span())) {
        scroll = tree->clampedScroll(scroll + 40, kHeight);
        const double frame = bench::secondsOf([&] {
            builder.build(*index, *tree, viewport, *colours, {kHeight, scroll});
        });
        const double columns =
            bench::secondsOf([&] { bench.bareColumns(builder.frame(), *index, cells); });
        frames.push_back(frame * 1e3);
        ratios.push_back(frame / columns);
        if (frame > slowest) slowest = frame, slowestAt = viewport.nsPerPixel;
    }
    bench::printInfo("frames of the flight", static_cast<double>(frames.size()));
    bench::printAtMost("frame: median, ms", bench::median(frames), 16);
    bench::printAtMost("frame: worst, ms", *std::max_element(frames.begin(), frames.end()), 16);
    bench::printInfo("frame: the worst one's ns per pixel", slowestAt);
    bench::printInfo("frame: median of time / a bare pass over its columns", bench::median(ratios));
    return bench.sum != 0 ? 0 : 1;
}
