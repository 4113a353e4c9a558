#include "timeline/event_links.h"

#include <algorithm>

namespace pleat::timeline {

using trace::Dependency;
using trace::EventId;
using trace::TransferId;

namespace {

Arrow arrowOf(const Dependency& dependency) {
    return {dependency.from, dependency.to,
            dependency.kind == trace::DependencyKind::Launch ? ArrowKind::Launch : ArrowKind::Flow};
}

// Keeps every n-th so that at most `most` are left.
template <class Item>
std::size_t thinOut(std::vector<Item>& items, std::size_t most) {
    if (items.size() <= most) return 0;
    const std::size_t all = items.size();
    for (std::size_t i = 0; i < most; ++i) items[i] = items[i * all / most];
    items.resize(most);
    return all - most;
}

}  // namespace

EventLinks::EventLinks(const trace::Trace& trace)
    : m_trace(&trace), m_transfers(trace.annotations().transfers) {}

std::vector<EventId> EventLinks::partners(EventId event) const {
    const TransferId id = transferOf(event);
    if (!id.valid()) return {};
    const trace::MatchId match = m_trace->annotations().transfers[id].match;
    if (!match.valid()) return {event};
    std::vector<EventId> events;
    for (const TransferId member : m_trace->annotations().matches[match].members) {
        const EventId other = m_trace->annotations().transfers[member].event;
        if (other.valid()) events.push_back(other);
    }
    return events;
}

void EventLinks::addArrowInto(TransferId id, std::vector<Arrow>& arrows) const {
    const trace::Annotations& annotations = m_trace->annotations();
    const trace::Transfer& to = annotations.transfers[id];
    if (!to.match.valid() || !to.event.valid() || to.operation == trace::Operation::Send) return;
    const trace::Match& match = annotations.matches[to.match];
    const bool message = trace::isMessage(to.operation);
    for (const TransferId member : match.members) {
        const trace::Transfer& from = annotations.transfers[member];
        const bool leads =
            message ? from.operation == trace::Operation::Send : from.rank == match.lastRank;
        if (member == id || !leads || !from.event.valid() || from.event == to.event) continue;
        arrows.push_back(
            {from.event, to.event, message ? ArrowKind::Message : ArrowKind::Collective});
        return;
    }
}

void EventLinks::addMemberArrows(EventId event, bool into, std::vector<Arrow>& arrows) const {
    const TransferId id = transferOf(event);
    if (!id.valid()) return;
    if (into) return addArrowInto(id, arrows);
    const trace::MatchId match = m_trace->annotations().transfers[id].match;
    if (!match.valid()) return;
    std::vector<Arrow> all;
    for (const TransferId member : m_trace->annotations().matches[match].members)
        addArrowInto(member, all);
    std::copy_if(all.begin(), all.end(), std::back_inserter(arrows),
                 [&](const Arrow& arrow) { return arrow.from == event; });
}

std::vector<Arrow> EventLinks::arrowsInto(EventId event) const {
    std::vector<Arrow> arrows;
    for (const Dependency& dependency : m_trace->dependenciesOf(event))
        arrows.push_back(arrowOf(dependency));
    addMemberArrows(event, true, arrows);
    return arrows;
}

std::vector<Arrow> EventLinks::arrowsOutOf(EventId event) const {
    std::vector<Arrow> arrows;
    for (const Dependency& dependency : m_trace->dependencies())
        if (dependency.from == event) arrows.push_back(arrowOf(dependency));
    addMemberArrows(event, false, arrows);
    return arrows;
}

ArrowsShown EventLinks::arrowsWithin(std::span<const trace::LaneId> lanes, base::Interval window,
                                     std::size_t most) const {
    const std::vector<std::int64_t>& starts = m_trace->columns().startNs;
    const auto dependencies = m_trace->dependencies();
    std::vector<std::span<const Dependency>> stretches;
    std::vector<Arrow> transfers;
    std::size_t recorded = 0;
    for (const trace::LaneId lane : lanes) {
        const auto [first, last] = m_trace->eventsOf(lane);
        const auto idAt = [&](base::TraceTime time) {
            return EventId::at(
                static_cast<std::size_t>(std::lower_bound(starts.begin() + first.index(),
                                                          starts.begin() + last.index(), time.ns) -
                                         starts.begin()));
        };
        const EventId from = idAt(window.begin), to = idAt(window.end);
        const auto begin = std::partition_point(dependencies.begin(), dependencies.end(),
                                                [&](const Dependency& d) { return d.to < from; });
        const auto end = std::partition_point(begin, dependencies.end(),
                                              [&](const Dependency& d) { return d.to < to; });
        stretches.emplace_back(begin, end);
        recorded += stretches.back().size();
        for (const auto& part : m_transfers.within(from, to)) addArrowInto(part.id, transfers);
    }
    ArrowsShown shown;
    shown.left = thinOut(transfers, most);
    shown.arrows = std::move(transfers);
    // Messages first: a launch is said by two lanes of one rank, a message by nothing else.
    const std::size_t room = most - shown.arrows.size(), taken = std::min(room, recorded);
    std::size_t stretch = 0, before = 0;
    for (std::size_t i = 0; i < taken; ++i) {
        const std::size_t wanted = i * recorded / taken;
        while (wanted >= before + stretches[stretch].size()) before += stretches[stretch++].size();
        shown.arrows.push_back(arrowOf(stretches[stretch][wanted - before]));
    }
    shown.left += recorded - taken;
    return shown;
}

}  // namespace pleat::timeline
