#include "analysis/device_work.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/categories.h"
#include "trace/launch_cursor.h"

namespace pleat::analysis {
namespace {

namespace categories = trace::categories;
using base::Interval;
using base::IntervalSet;
using base::TraceTime;
using trace::EventId;
using trace::LaneId;

std::vector<LaneId> streamsOf(const trace::Trace& trace, trace::RankId rank) {
    std::vector<LaneId> lanes;
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[LaneId::at(i)];
        if (lane.rank == rank && lane.kind == trace::LaneKind::DeviceStream)
            lanes.push_back(LaneId::at(i));
    }
    return lanes;
}

Interval spanOf(const trace::Trace& trace, EventId id) {
    const TraceTime begin{trace.columns().startNs[id.index()]};
    return {begin, begin + base::Duration{trace.columns().durationNs[id.index()]}};
}

// One list per window of a lane's work of one kind, touching pieces merged.
class WindowedWork {
  public:
    WindowedWork(std::span<const graph::IterationWindow> windows)
        : m_windows(windows), m_lists(windows.size()) {}

    // Spans come in order of their start.
    void add(Interval span) {
        while (m_first < m_windows.size() && m_windows[m_first].window.end <= span.begin) ++m_first;
        for (std::size_t w = m_first; w < m_windows.size(); ++w) {
            const Interval clipped = intersect(span, m_windows[w].window);
            if (clipped.empty()) return;
            auto& list = m_lists[w];
            if (!list.empty() && clipped.begin <= list.back().end) {
                list.back().end = std::max(list.back().end, clipped.end);
            } else {
                list.push_back(clipped);
            }
        }
    }
    [[nodiscard]] const std::vector<std::vector<Interval>>& lists() const { return m_lists; }

  private:
    std::span<const graph::IterationWindow> m_windows;
    std::vector<std::vector<Interval>> m_lists;
    std::size_t m_first = 0;
};

// The streams of a rank, asked for the work that starts next, at ascending times.
class NextWork {
  public:
    NextWork(const trace::Trace& trace, const DeviceWorkKinds& kinds,
             std::vector<trace::Trace::EventRange> streams, TraceTime from)
        : m_trace(trace), m_kinds(kinds), m_streams(std::move(streams)) {
        const std::vector<std::int64_t>& starts = trace.columns().startNs;
        for (trace::Trace::EventRange& stream : m_streams) {
            const auto first = starts.begin() + stream.first.index();
            const auto found =
                std::lower_bound(first, starts.begin() + stream.last.index(), from.ns);
            stream.first = EventId::at(static_cast<std::size_t>(found - starts.begin()));
        }
    }

    [[nodiscard]] std::optional<EventId> from(TraceTime time) {
        std::optional<EventId> next;
        for (trace::Trace::EventRange& stream : m_streams) {
            while (stream.first < stream.last &&
                   (m_trace.columns().startNs[stream.first.index()] < time.ns ||
                    m_kinds.of(stream.first) == DeviceWork::None))
                stream.first = EventId(stream.first.index() + 1);
            if (stream.first < stream.last &&
                (!next || m_trace.columns().startNs[stream.first.index()] <
                              m_trace.columns().startNs[next->index()]))
                next = stream.first;
        }
        return next;
    }

  private:
    const trace::Trace& m_trace;
    const DeviceWorkKinds& m_kinds;
    std::vector<trace::Trace::EventRange> m_streams;
};

}  // namespace

void addDeviceWork(const graph::RunIndex& run, std::span<const graph::IterationWindow> windows,
                   std::span<const trace::RankId> ranks,
                   std::vector<std::vector<RankActivity>>& activities) {
    const trace::Trace& trace = run.trace();
    const DeviceWorkKinds& kinds = run.kinds();
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        for (const LaneId lane : streamsOf(trace, ranks[rank])) {
            WindowedWork compute(windows), copies(windows);
            const auto events = trace.eventsOf(lane);
            for (EventId id = events.first; id < events.last; id = EventId(id.index() + 1)) {
                const DeviceWork work = kinds.of(id);
                if (work == DeviceWork::Compute) compute.add(spanOf(trace, id));
                if (work == DeviceWork::Copy) copies.add(spanOf(trace, id));
            }
            for (std::size_t w = 0; w < windows.size(); ++w) {
                RankActivity& activity = activities[w][rank];
                const auto append = [](std::vector<Interval>& to,
                                       const std::vector<Interval>& more) {
                    to.insert(to.end(), more.begin(), more.end());
                };
                append(activity.compute, compute.lists()[w]);
                append(activity.copies, copies.lists()[w]);
            }
        }
    }
}

IdleExplainer::IdleExplainer(const graph::RunIndex& run)
    : m_trace(run.trace()),
      m_kinds(run.kinds()),
      m_streams(m_trace.ranks().size()),
      m_untraced(m_trace.ranks().size()) {
    const trace::Trace& trace = m_trace;
    bool anyStream = false;
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[LaneId::at(i)];
        if (lane.kind != trace::LaneKind::DeviceStream) continue;
        m_streams[lane.rank].push_back(trace.eventsOf(LaneId::at(i)));
        anyStream = true;
    }
    if (anyStream) findUntraced();
}

void IdleExplainer::findUntraced() {
    const trace::Trace& trace = m_trace;
    std::vector<bool> started(trace.eventCount(), false);
    for (const trace::Dependency& dependency : trace.dependencies()) {
        if (dependency.kind == trace::DependencyKind::Launch)
            started[dependency.from.index()] = true;
    }
    const base::StringPool& strings = trace.columns().strings;
    std::vector<bool> isCall(strings.size()), starts(strings.size());
    for (std::size_t i = 0; i < strings.size(); ++i) {
        const std::string_view text = strings.text(base::StringId::at(i));
        isCall[i] = text == categories::kRuntimeCall || text == categories::kDriverCall;
        starts[i] = text.find("Launch") != std::string_view::npos;
    }
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[LaneId::at(i)];
        const auto events = trace.eventsOf(LaneId::at(i));
        if (lane.kind == trace::LaneKind::DeviceStream) continue;
        for (EventId id = events.first; id < events.last; id = EventId(id.index() + 1)) {
            const base::StringId domain = trace.columns().domain[id.index()];
            if (domain.valid() && isCall[domain.index()] && !started[id.index()] &&
                starts[trace.columns().name[id.index()].index()])
                m_untraced[lane.rank].push_back(spanOf(trace, id).begin);
        }
    }
    for (auto& calls : m_untraced) std::sort(calls.begin(), calls.end());
}

IdleReasons IdleExplainer::of(trace::RankId rank, const IntervalSet& idle) const {
    if (idle.empty() || m_streams[rank].empty()) return {};
    const std::vector<TraceTime>& untraced = m_untraced[rank];
    NextWork next(m_trace, m_kinds, m_streams[rank], idle.intervals().front().begin);
    trace::LaunchCursor launches(m_trace);  // the next work is later, on each stream
    std::vector<Interval> hostLate, unseen;
    for (const Interval& piece : idle.intervals()) {
        const auto call = std::lower_bound(untraced.begin(), untraced.end(), piece.begin);
        if (call != untraced.end() && *call < piece.end) {
            unseen.push_back(piece);
            continue;
        }
        const std::optional<EventId> work = next.from(piece.end);
        if (!work) continue;
        const EventId launch = launches.of(*work);
        if (launch.valid() && spanOf(m_trace, launch).begin >= piece.begin)
            hostLate.push_back(piece);
    }
    return {IntervalSet(std::move(hostLate)), IntervalSet(std::move(unseen))};
}

}  // namespace pleat::analysis
