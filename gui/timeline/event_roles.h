// What an event is among a trace's annotations: the task or transfer that was recorded as this
// event. Made once, so that nobody scans all of them for one event. Immutable; safe from any
// thread; does not refer to the trace.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "trace/trace.h"

namespace pleat::timeline {

// Items ordered by the event each was recorded as; those without one are left out.
template <class Tag>
class ByEvent {
  public:
    struct Part {
        trace::EventId event;
        base::Id<Tag> id;
        friend auto operator<=>(const Part&, const Part&) = default;
    };

    // O(n log n).
    template <class Item>
    explicit ByEvent(const base::IdVector<Tag, Item>& items) {
        for (std::size_t i = 0; i < items.size(); ++i) {
            const auto id = base::Id<Tag>::at(i);
            if (items[id].event.valid()) m_parts.push_back({items[id].event, id});
        }
        std::sort(m_parts.begin(), m_parts.end());
    }

    // The first that is this event; invalid where there is none. O(log n).
    [[nodiscard]] base::Id<Tag> of(trace::EventId event) const {
        const auto found = from(event);
        return found != m_parts.end() && found->event == event ? found->id : base::Id<Tag>();
    }
    // Those of events in [first, last). O(log n).
    [[nodiscard]] std::span<const Part> within(trace::EventId first, trace::EventId last) const {
        return {from(first), from(last)};
    }

  private:
    [[nodiscard]] auto from(trace::EventId event) const {
        return std::partition_point(m_parts.begin(), m_parts.end(),
                                    [&](const Part& part) { return part.event < event; });
    }

    std::vector<Part> m_parts;
};

struct EventRoles {
    explicit EventRoles(const trace::Annotations& found)
        : tasks(found.tasks), transfers(found.transfers) {}

    ByEvent<trace::TaskTag> tasks;
    ByEvent<trace::TransferTag> transfers;
};

}  // namespace pleat::timeline
