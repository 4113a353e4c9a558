// EventLinks: what leads from one event to another: launches and other recorded arrows, messages
// from send to receive, and collectives, where an arrow leads from the member that came last to
// each that waited for it. Immutable; safe from any thread; refers to the trace, which must outlive
// it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "timeline/event_roles.h"
#include "trace/trace.h"

namespace pleat::timeline {

enum class ArrowKind : std::uint8_t { Launch, Flow, Message, Collective };

struct Arrow {
    trace::EventId from, to;
    ArrowKind kind = ArrowKind::Launch;
    friend bool operator==(const Arrow&, const Arrow&) = default;
};

struct ArrowsShown {
    std::vector<Arrow> arrows;
    std::size_t left = 0;  // how many more there are
};

class EventLinks {
  public:
    explicit EventLinks(const trace::Trace& trace);

    // O(log n) and the arrows found.
    [[nodiscard]] std::vector<Arrow> arrowsInto(trace::EventId event) const;
    // O(dependencies): they are ordered by where they lead.
    [[nodiscard]] std::vector<Arrow> arrowsOutOf(trace::EventId event) const;
    // All events of the communication that this one is part of, itself among them; empty for an
    // event that is no transfer, itself alone for one without a known partner.
    [[nodiscard]] std::vector<trace::EventId> partners(trace::EventId event) const;
    // The transfer an event is; invalid where it is none.
    [[nodiscard]] trace::TransferId transferOf(trace::EventId event) const {
        return m_transfers.of(event);
    }
    // Arrows into events of these lanes that start within the window: at most `most`, spread evenly
    // over all there are.
    [[nodiscard]] ArrowsShown arrowsWithin(std::span<const trace::LaneId> lanes,
                                           base::Interval window, std::size_t most) const;

  private:
    // Of a send to its receive, of the last member of a collective to this one; the arrow into a
    // transfer, where it has one.
    void addArrowInto(trace::TransferId id, std::vector<Arrow>& arrows) const;
    void addMemberArrows(trace::EventId event, bool into, std::vector<Arrow>& arrows) const;

    const trace::Trace* m_trace;
    ByEvent<trace::TransferTag> m_transfers;
};

}  // namespace pleat::timeline
