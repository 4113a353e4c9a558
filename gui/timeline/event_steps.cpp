#include "timeline/event_steps.h"

namespace pleat::timeline {
namespace {

using trace::EventId;

template <class Same>
EventId step(const trace::Trace& trace, EventId from, Direction direction, Same same) {
    const auto [first, last] = trace.eventsOf(trace.columns().lane[from.index()]);
    std::uint32_t at = from.index();
    while (true) {
        if (direction == Direction::Forward) {
            if (++at == last.index()) return {};
        } else {
            if (at == first.index()) return {};
            --at;
        }
        if (same(EventId(at))) return EventId(at);
    }
}

}  // namespace

EventId stepBySameName(const trace::Trace& trace, EventId from, Direction direction) {
    const auto& names = trace.columns().name;
    return step(trace, from, direction,
                [&](EventId one) { return names[one.index()] == names[from.index()]; });
}

EventId stepBySameColour(const trace::Trace& trace, const EventColours& colours, EventId from,
                         Direction direction) {
    return step(trace, from, direction, [&](EventId one) { return colours[one] == colours[from]; });
}

}  // namespace pleat::timeline
