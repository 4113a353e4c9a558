#include "bench/large_timeline.h"

#include <algorithm>
#include <random>
#include <string_view>

#include "bench/ratio.h"
#include "trace/categories.h"

namespace pleat::bench {
namespace {

constexpr std::size_t kRanks = 32;

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
                                                    base::Diagnostics{});
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

    std::size_t m_lane;  // events of each
    std::shared_ptr<trace::EventColumns> m_columns = std::make_shared<trace::EventColumns>();
    base::IdVector<trace::RankTag, trace::Rank> m_ranks;
    base::IdVector<trace::LaneTag, trace::Lane> m_lanes;
    std::mt19937_64 m_random{1};
};

}  // namespace

std::shared_ptr<const trace::Trace> makeLargeTimeline(std::size_t events) {
    return Maker(events).build();
}

std::vector<timeline::Viewport> flight(base::Interval whole, std::int32_t width) {
    std::vector<timeline::Viewport> way;
    timeline::Viewport viewport = timeline::fitted(whole, width);
    for (int step = 0; viewport.nsPerPixel > timeline::kFinestNsPerPixel; ++step) {
        way.push_back(viewport);
        way.push_back(timeline::clamped(timeline::panned(viewport, 200), whole));
        constexpr double kPlaces[] = {0.16, 0.5, 0.86};  // of the width
        const double x = kPlaces[step % 3] * width;
        viewport = timeline::clamped(timeline::zoomedAround(viewport, x, 0.75), whole);
    }
    way.insert(way.end(), way.rbegin(), way.rend());
    return way;
}

void FlightTimes::add(std::size_t frame, double seconds) {
    if (m_frames.size() <= frame) m_frames.resize(frame + 1);
    m_frames[frame].push_back(seconds * 1e3);
}

double FlightTimes::medianMs() const {
    std::vector<double> all;
    for (const std::vector<double>& frame : m_frames) all.push_back(median(frame));
    return median(all);
}

std::size_t FlightTimes::worstFrame() const {
    const auto worst =
        std::max_element(m_frames.begin(), m_frames.end(),
                         [](const auto& a, const auto& b) { return median(a) < median(b); });
    return static_cast<std::size_t>(worst - m_frames.begin());
}

double FlightTimes::worstMs() const { return median(m_frames[worstFrame()]); }

double FlightTimes::slowestSingleMs() const {
    double slowest = 0;
    for (const std::vector<double>& frame : m_frames)
        slowest = std::max(slowest, *std::max_element(frame.begin(), frame.end()));
    return slowest;
}

}  // namespace pleat::bench
