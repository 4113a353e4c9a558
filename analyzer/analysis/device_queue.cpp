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
    const auto before = [](const Work& a, const Work& b) { return a.span.begin < b.span.begin; };
    // One stream is in order already.
    if (!std::is_sorted(all.begin(), all.end(), before))
        std::stable_sort(all.begin(), all.end(), before);
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
    explicit SpanSums(base::Interval whole)
        : m_whole(whole), m_sums(kQueueSpans, 0), m_begin(edge(0)), m_end(edge(1)) {}

    // `from` ascends from call to call.
    void add(TraceTime from, TraceTime to, std::int64_t depth) {
        while (m_at + 1 < kQueueSpans && m_end <= from) advance();
        if (depth == 0 || to <= from) return;
        while (true) {
            const base::Interval part = base::intersect({from, to}, {m_begin, m_end});
            if (!part.empty())
                m_sums[m_at] += static_cast<double>(depth) * static_cast<double>(part.length().ns);
            if (m_at + 1 == kQueueSpans || m_end >= to) return;
            advance();
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
    void advance() {
        ++m_at;
        m_begin = m_end;
        m_end = edge(m_at + 1);
    }

    const base::Interval m_whole;
    std::vector<double> m_sums;
    std::size_t m_at = 0;  // the span at hand and its edges
    TraceTime m_begin, m_end;
};

void measureDepth(const std::vector<Work>& all, DeviceQueue& queue) {
    std::vector<TraceTime> calls, begins;
    base::Interval whole{all.front().span.begin, all.front().span.end};
    for (const Work& work : all) {
        whole.end = std::max(whole.end, work.span.end);
        if (!work.called) continue;
        calls.push_back(*work.called);
        begins.push_back(work.span.begin);  // ascending, as the work is
    }
    if (calls.empty() || whole.empty()) return;
    // One thread calls in order.
    if (!std::is_sorted(calls.begin(), calls.end())) std::sort(calls.begin(), calls.end());
    SpanSums sums(whole);
    std::int64_t depth = 0;
    base::Duration empty;
    double area = 0;
    TraceTime since = std::min({whole.begin, calls.front(), begins.front()});
    const auto hold = [&](TraceTime until) {
        const base::Interval held = base::intersect({since, until}, whole);
        since = until;
        if (held.empty()) return;
        sums.add(held.begin, held.end, depth);
        area += static_cast<double>(depth) * static_cast<double>(held.length().ns);
        if (depth == 0) empty += held.length();
    };
    for (std::size_t call = 0, begin = 0; begin < begins.size();) {
        // What begins leaves before what is called at the same moment.
        const bool leaves = call == calls.size() || begins[begin] <= calls[call];
        hold(leaves ? begins[begin++] : calls[call++]);
        depth = std::max<std::int64_t>(0, depth + (leaves ? -1 : 1));
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
