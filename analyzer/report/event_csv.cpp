#include "report/event_csv.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace pleat::report {
namespace {

using trace::EventId;

// Tasks or transfers by their event, in the order of events.
template <class Tag>
using ByEvent = std::vector<std::pair<EventId, base::Id<Tag>>>;

template <class Tag, class T>
ByEvent<Tag> byEvent(const base::IdVector<Tag, T>& items) {
    ByEvent<Tag> index;
    index.reserve(items.size());
    for (std::size_t i = 0; i < items.size(); ++i)
        index.emplace_back(items[items.idAt(i)].event, items.idAt(i));
    std::sort(index.begin(), index.end());
    return index;
}

// The first that belongs to the event; invalid for none. Events are asked for in ascending order.
template <class Tag>
base::Id<Tag> next(const ByEvent<Tag>& index, std::size_t& position, EventId event) {
    while (position < index.size() && index[position].first < event) ++position;
    return position < index.size() && index[position].first == event ? index[position].second
                                                                     : base::Id<Tag>();
}

class EventCsv {
  public:
    EventCsv(const trace::Trace& trace, const TextSink& sink)
        : m_trace(trace),
          m_out(sink),
          m_tasks(byEvent(trace.annotations().tasks)),
          m_transfers(byEvent(trace.annotations().transfers)) {}

    base::Result<void> write() && {
        m_out.raw(
            "rank,lane,thread,domain,name,start_ns,duration_ns,iteration,stage,chunk,microbatch,"
            "kind,dimension,bytes\r\n");
        for (std::size_t i = 0; i < m_trace.eventCount() && !m_out.failed(); ++i) {
            writeEvent(EventId::at(i));
            writeMeaning(EventId::at(i));
            m_out.raw("\r\n");
        }
        return m_out.flush();
    }

  private:
    void writeEvent(EventId id) {
        const trace::Event event = m_trace.event(id);
        const trace::Lane& lane = m_trace.lanes()[event.lane];
        known(m_trace.ranks()[lane.rank].number).raw(",");
        m_out.number(event.lane.index() + 1).raw(",").csv(laneTitle(lane)).raw(",");
        m_out.csv(m_trace.domain(id)).raw(",").csv(m_trace.name(id)).raw(",");
        m_out.number(event.span.begin.ns).raw(",");
        if (event.kind == trace::EventKind::Range) m_out.number(event.span.length().ns);
    }

    void writeMeaning(EventId event) {
        const trace::TaskId task = next(m_tasks, m_task, event);
        const trace::TransferId transfer = next(m_transfers, m_transfer, event);
        if (task.valid()) {
            const trace::Task& one = m_trace.annotations().tasks[task];
            writePosition(one);
            m_out.raw(toString(one.kind)).raw(",,");
        } else if (transfer.valid()) {
            const trace::Transfer& one = m_trace.annotations().transfers[transfer];
            writePosition(one);
            m_out.raw(toString(one.operation)).raw(",").raw(toString(one.dimension)).raw(",");
            m_out.number(one.bytes);
        } else {
            m_out.raw(",,,,,,,");
        }
    }

    template <class T>
    void writePosition(const T& item) {
        m_out.raw(",");
        known(item.iteration).raw(",");
        known(item.stage).raw(",");
        known(item.chunk).raw(",");
        known(item.microbatch).raw(",");
    }

    TextWriter& known(std::int32_t number) { return number < 0 ? m_out : m_out.number(number); }

    const trace::Trace& m_trace;
    TextWriter m_out;
    const ByEvent<trace::TaskTag> m_tasks;
    const ByEvent<trace::TransferTag> m_transfers;
    std::size_t m_task = 0, m_transfer = 0;
};

}  // namespace

base::Result<void> writeEventCsv(const trace::Trace& trace, const TextSink& sink) {
    return EventCsv(trace, sink).write();
}

}  // namespace pleat::report
