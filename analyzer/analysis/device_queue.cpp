#include "analysis/device_queue.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "trace/launch_cursor.h"

namespace pleat::analysis {
namespace {

using base::TraceTime;
using trace::EventId;

struct Work {
    base::Interval span;
    std::optional<TraceTime> called;
};

// A rank's device work by begin.
std::vector<Work> workOf(const trace::Trace& trace, const DeviceWorkKinds& kinds,
                         const std::vector<trace::LaneId>& streams) {
    std::vector<Work> all;
    trace::LaunchCursor launches(trace);
    for (const trace::LaneId stream : streams) {
        const auto events = trace.eventsOf(stream);
        for (EventId id = events.first; id < events.last; id = EventId(id.index() + 1)) {
            if (kinds.of(id) == DeviceWork::None) continue;
            Work work{trace.event(id).span, {}};
            if (const EventId call = launches.of(id); call.valid())
                work.called = trace.event(call).span.begin;
            all.push_back(work);
        }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Work& a, const Work& b) { return a.span.begin < b.span.begin; });
    return all;
}

DeviceIdle idleOf(const std::vector<Work>& all) {
    DeviceIdle idle;
    TraceTime free = all.front().span.begin;
    for (const Work& work : all) {
        const base::Duration gap = work.span.begin - free;
        if (gap.ns > 0) {
            const bool known = work.called.has_value();
            (known && *work.called >= free     ? idle.hostWait
             : known && gap <= kBetweenKernels ? idle.betweenWork
                                               : idle.other) += gap;
        }
        const base::Interval fresh{std::max(free, work.span.begin), work.span.end};
        if (fresh.empty()) continue;
        idle.busy += fresh.length();
        free = fresh.end;
    }
    return idle;
}

// Depths over time, gathered by equal spans.
class SpanSums {
  public:
    explicit SpanSums(base::Interval whole) : m_whole(whole), m_sums(kQueueSpans, 0) {}

    void add(TraceTime from, TraceTime to, std::int64_t depth) {
        if (depth == 0 || to <= from) return;
        for (std::size_t span = spanAt(from); span < kQueueSpans && edge(span) < to; ++span) {
            const base::Interval part = base::intersect({from, to}, {edge(span), edge(span + 1)});
            if (!part.empty())
                m_sums[span] += static_cast<double>(depth) * static_cast<double>(part.length().ns);
        }
    }
    [[nodiscard]] std::vector<double> means() const {
        std::vector<double> means;
        for (std::size_t span = 0; span < kQueueSpans; ++span) {
            const auto length = static_cast<double>((edge(span + 1) - edge(span)).ns);
            means.push_back(length > 0 ? m_sums[span] / length : 0);
        }
        return means;
    }

  private:
    [[nodiscard]] TraceTime edge(std::size_t span) const {
        constexpr auto kSpans = static_cast<std::int64_t>(kQueueSpans);
        const std::int64_t whole_ns = m_whole.length().ns, part = static_cast<std::int64_t>(span);
        return m_whole.begin +
               base::Duration{whole_ns / kSpans * part + whole_ns % kSpans * part / kSpans};
    }
    [[nodiscard]] std::size_t spanAt(TraceTime time) const {
        std::size_t low = 0, high = kQueueSpans - 1;
        while (low < high) {
            const std::size_t middle = (low + high + 1) / 2;
            if (edge(middle) <= time) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        return low;
    }

    const base::Interval m_whole;
    std::vector<double> m_sums;
};

void measureDepth(const std::vector<Work>& all, DeviceQueue& queue) {
    std::vector<std::pair<TraceTime, int>> steps;
    base::Interval whole{all.front().span.begin, all.front().span.end};
    for (const Work& work : all) {
        whole.end = std::max(whole.end, work.span.end);
        if (!work.called) continue;
        steps.emplace_back(*work.called, 1);
        steps.emplace_back(work.span.begin, -1);
    }
    if (steps.empty() || whole.empty()) return;
    std::sort(steps.begin(), steps.end());  // what begins leaves before what is called
    SpanSums sums(whole);
    std::int64_t depth = 0;
    base::Duration empty;
    double area = 0;
    TraceTime since = std::min(whole.begin, steps.front().first);
    const auto hold = [&](TraceTime until) {
        const base::Interval held = base::intersect({since, until}, whole);
        since = until;
        if (held.empty()) return;
        sums.add(held.begin, held.end, depth);
        area += static_cast<double>(depth) * static_cast<double>(held.length().ns);
        if (depth == 0) empty += held.length();
    };
    for (const auto& [time, change] : steps) {
        hold(time);
        depth = std::max<std::int64_t>(0, depth + change);
        queue.deepest = std::max(queue.deepest, depth);
    }
    hold(whole.end);
    const auto length = static_cast<double>(whole.length().ns);
    queue.meanDepth = area / length;
    queue.emptyFraction = static_cast<double>(empty.ns) / length;
    queue.depthOverTime = sums.means();
}

}  // namespace

std::vector<DeviceQueue> deviceQueues(const trace::Trace& trace, const DeviceWorkKinds& kinds) {
    std::map<std::pair<std::int32_t, trace::RankId>, std::vector<trace::LaneId>> streams;
    for (std::size_t i = 0; i < trace.lanes().size(); ++i) {
        const trace::Lane& lane = trace.lanes()[trace::LaneId::at(i)];
        const std::int32_t number = trace.ranks()[lane.rank].number;
        if (lane.kind == trace::LaneKind::DeviceStream && number >= 0)
            streams[{number, lane.rank}].push_back(trace::LaneId::at(i));
    }
    std::vector<DeviceQueue> queues;
    for (const auto& [rank, lanes] : streams) {
        const std::vector<Work> all = workOf(trace, kinds, lanes);
        if (all.empty()) continue;
        DeviceQueue queue;
        queue.rank = rank.first;
        const trace::Rank& of = trace.ranks()[rank.second];
        if (of.oneOfSeveralDevices) queue.device = of.device;
        queue.idle = idleOf(all);
        measureDepth(all, queue);
        queues.push_back(std::move(queue));
    }
    return queues;
}

}  // namespace pleat::analysis
