#include "graph/device_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "graph/host_pieces.h"
#include "trace/arguments.h"
#include "trace/categories.h"

namespace pleat::graph {
namespace {

namespace categories = trace::categories;
using base::Interval;
using base::TraceTime;
using trace::EventId;
using trace::LaneId;

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// Does a copy's call return only when the copy is done? Memory that may be paged out is copied to
// in the call itself, whatever the call is named.
bool copyBlocks(std::string_view call, std::string_view copy) {
    if (!contains(call, "Memcpy")) return false;
    return !contains(call, "Async") || (contains(copy, "DtoH") && contains(copy, "Pageable"));
}

}  // namespace

DeviceStreams::DeviceStreams(const trace::Trace& trace, trace::RankId rank, Interval window)
    : m_trace(trace), m_rank(rank), m_window(window) {
    readWork();
    readWaits();
    for (const EventId call : m_waitingCalls) {
        const auto correlation = m_correlations.find(call);
        const auto record = correlation == m_correlations.end()
                                ? m_records.end()
                                : m_records.find(correlation->second);
        const Record known = record == m_records.end() ? Record() : record->second;
        if (contains(m_trace.name(call), "WaitEvent")) {
            resolveStreamWait(call, known);
        } else {
            resolveWait(call, known);
        }
    }
    resolveCopies();
}

void DeviceStreams::readWork() {
    for (std::size_t i = 0; i < m_trace.lanes().size(); ++i) {
        const trace::Lane& lane = m_trace.lanes()[LaneId::at(i)];
        if (lane.rank != m_rank || lane.kind != trace::LaneKind::DeviceStream) continue;
        Stream stream{LaneId::at(i), lane.nativeId, {}};
        const auto events = m_trace.eventsOf(LaneId::at(i));
        for (EventId id = events.first; id < events.last; id = EventId(id.index() + 1)) {
            if (!categories::isDeviceWork(m_trace.domain(id))) continue;
            const Interval span = m_trace.event(id).span;
            if (span.end > m_window.end || span.end <= m_window.begin) continue;
            stream.work.push_back({id,
                                   {std::max(span.begin, m_window.begin), span.end},
                                   m_trace.launchOf(id),
                                   span.begin,
                                   {},
                                   0});
        }
        if (stream.work.empty()) continue;
        tidy(stream);
        m_streams.push_back(std::move(stream));
    }
}

void DeviceStreams::tidy(Stream& stream) {
    std::size_t last = 0;
    TraceTime called = m_window.begin;
    for (std::size_t i = 0; i < stream.work.size(); ++i) {
        StreamWork& work = stream.work[i];
        TraceTime& begin = work.span.begin;
        if (i > 0) {
            const TraceTime before = stream.work[i - 1].span.end;
            if (before > begin && before - begin <= kRounding)
                begin = std::min(before, work.span.end);
        }
        if (work.call.valid()) {
            const TraceTime call = m_trace.event(work.call).span.begin;
            if (call > work.span.end || call - begin > kRounding) {
                disagree(work.event, work.call, call - begin);
                work.call = {};
            } else {
                work.called = call;
                begin = std::max(begin, call);
            }
        }
        called = i == 0 ? work.called : std::max(called, work.called);
        if (work.span.end >= stream.work[last].span.end) last = i;
        work.calledYet = called;
        work.lastYet = last;
    }
}

void DeviceStreams::readWaits() {
    trace::Arguments arguments;
    for (std::size_t i = 0; i < m_trace.lanes().size(); ++i) {
        const trace::Lane& lane = m_trace.lanes()[LaneId::at(i)];
        if (lane.rank != m_rank) continue;
        const bool onDevice = lane.kind == trace::LaneKind::DeviceStream;
        const auto events = m_trace.eventsOf(LaneId::at(i));
        for (EventId id = events.first; id < events.last; id = EventId(id.index() + 1)) {
            if (!onDevice) {
                readCall(id);
                continue;
            }
            if (m_trace.domain(id) != categories::kDeviceSync ||
                !arguments.read(m_trace.arguments(id)))
                continue;
            const auto correlation = arguments.integer("correlation");
            if (!correlation) continue;
            m_records[*correlation] = {
                arguments.integer("stream").value_or(-1),
                arguments.integer("wait_on_stream").value_or(-1),
                arguments.integer("wait_on_cuda_event_record_corr_id").value_or(-1)};
        }
    }
}

void DeviceStreams::readCall(EventId id) {
    const std::string_view domain = m_trace.domain(id), name = m_trace.name(id);
    if (domain != categories::kRuntimeCall && domain != categories::kDriverCall) return;
    const bool waits = categories::isWaitingCall(name);
    if (waits) m_waitingCalls.push_back(id);
    if (!waits && !contains(name, "EventRecord")) return;
    trace::Arguments arguments;
    if (!arguments.read(m_trace.arguments(id))) return;
    const auto correlation = arguments.integer("correlation");
    if (!correlation) return;
    if (waits) {
        m_correlations[id] = *correlation;
    } else {
        m_eventRecords[*correlation] = id;
    }
}

std::optional<TraceTime> DeviceStreams::recordedAt(const Record& record) const {
    const auto call = m_eventRecords.find(record.recordCorrelation);
    if (call == m_eventRecords.end()) return std::nullopt;
    return m_trace.event(call->second).span.begin;
}

void DeviceStreams::resolveWait(EventId call, const Record& record) {
    const Interval span = m_trace.event(call).span;
    if (span.begin >= m_window.end || span.end <= m_window.begin) return;
    const std::string_view name = m_trace.name(call);
    const bool everything = contains(name, "DeviceSynchronize") || contains(name, "CtxSynchronize");
    const bool ofEvent = contains(name, "Event");
    const std::int64_t number = ofEvent ? record.waitedStream : record.stream;
    const std::optional<TraceTime> until = ofEvent ? recordedAt(record) : span.begin;
    if (!everything && (number < 0 || !until)) {
        // Not recorded what it waited for: it returned because something had ended.
        if (const auto work = endedWithin(span)) waitFor(call, *work);
        return;
    }
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        if (!everything && m_streams[i].number != number) continue;
        const auto work = lastBefore(i, std::min(span.begin, until.value_or(span.begin)));
        if (work) waitFor(call, *work);
    }
}

void DeviceStreams::resolveStreamWait(EventId call, const Record& record) {
    const std::optional<TraceTime> recorded = recordedAt(record);
    if (record.stream < 0 || record.waitedStream < 0 || !recorded) return;
    const TraceTime from = m_trace.event(call).span.begin;
    for (std::size_t to = 0; to < m_streams.size(); ++to) {
        if (m_streams[to].number != record.stream) continue;
        const auto& queue = m_streams[to].work;
        const auto waiting =
            std::partition_point(queue.begin(), queue.end(),
                                 [&](const StreamWork& work) { return work.calledYet < from; });
        if (waiting == queue.end()) continue;
        const WorkId after{to, static_cast<std::size_t>(waiting - queue.begin())};
        for (std::size_t i = 0; i < m_streams.size(); ++i) {
            const auto before = m_streams[i].number == record.waitedStream
                                    ? lastBefore(i, *recorded)
                                    : std::nullopt;
            if (!before || before->stream == to) continue;
            const base::Duration early = work(*before).span.end - waiting->span.begin;
            if (early > kRounding) {
                disagree(waiting->event, work(*before).event, early);
            } else {
                m_streamWaits.emplace_back(*before, after);
            }
        }
    }
}

void DeviceStreams::waitFor(EventId call, WorkId id) {
    StreamWork& work = m_streams[id.stream].work[id.position];
    const TraceTime returned = m_trace.event(call).span.end;
    if (work.span.end - returned > kRounding) {
        disagree(call, work.event, work.span.end - returned);
        return;
    }
    work.span = {std::min(work.span.begin, returned), std::min(work.span.end, returned)};
    m_waits[call].push_back(id);
}

// A copy that its own call waited for; the stream's earlier work must have been called before.
void DeviceStreams::resolveCopies() {
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        auto& queue = m_streams[i].work;
        for (std::size_t position = 0; position < queue.size(); ++position) {
            const StreamWork& work = queue[position];
            if (!work.call.valid() || m_trace.domain(work.event) != categories::kCopy ||
                !copyBlocks(m_trace.name(work.call), m_trace.name(work.event)) ||
                (position > 0 && queue[position - 1].calledYet >= work.called))
                continue;
            if (work.span.end - m_trace.event(work.call).span.end <= kRounding)
                waitFor(work.call, {i, position});
        }
    }
}

std::optional<WorkId> DeviceStreams::lastBefore(std::size_t stream, TraceTime time) const {
    const auto& queue = m_streams[stream].work;
    const auto after = std::partition_point(
        queue.begin(), queue.end(), [&](const StreamWork& work) { return work.calledYet < time; });
    if (after == queue.begin()) return std::nullopt;
    return WorkId{stream, (after - 1)->lastYet};
}

std::optional<WorkId> DeviceStreams::endedWithin(Interval call) const {
    std::optional<WorkId> last;
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        const auto id = lastBefore(i, call.begin);
        if (!id) continue;
        const TraceTime end = work(*id).span.end;
        const bool within = end > call.begin && end - call.end <= kRounding;
        if (within && (!last || end > work(*last).span.end)) last = id;
    }
    return last;
}

void DeviceStreams::disagree(EventId first, EventId second, base::Duration by) {
    m_diagnostics.add("times_disagree",
                      fmt::format("\"{}\" started {} ns too early to have waited for \"{}\"",
                                  m_trace.name(first), by.ns, m_trace.name(second)));
}

}  // namespace pleat::graph
