// Trace: one recorded run, immutable and columnar. Made by TraceBuilder (events) and by annotation
// (tasks, transfers, …), which shares the event columns instead of copying them. Safe to read from
// any thread.
//
// Invariants: events are grouped by lane (ascending id) and sorted within a lane by start, the
// longer first, so that an enclosing range precedes what it encloses; span.end >= span.begin; every
// id is valid and in range.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/id.h"
#include "trace/model.h"

namespace pleat::trace {

// Struct of arrays; at most 40 bytes an event. Columns have equal length.
struct EventColumns {
    std::vector<LaneId> lane;
    std::vector<base::StringId> name;
    std::vector<base::StringId> domain;
    std::vector<EventKind> kind;
    std::vector<EventFlag> flag;
    std::vector<std::int64_t> startNs;
    std::vector<std::int64_t> durationNs;
    std::vector<std::uint32_t> arguments;  // offset + 1 into argumentText, 0 for none
    std::vector<std::uint32_t>
        sourceRow;  // the event's row id in the file it came from; empty: position + 1
    std::vector<char> argumentText;          // NUL-terminated JSON objects
    std::vector<std::uint32_t> firstOfLane;  // lane -> first event; one more than there are lanes
    base::StringPool strings;
    std::vector<Dependency> dependencies;  // ordered by `to`, then `from`
};

// What annotation adds to the events.
struct Annotations {
    base::IdVector<TaskTag, Task> tasks;              // ordered by rank, then start
    base::IdVector<TransferTag, Transfer> transfers;  // ordered by rank, then start
    base::IdVector<MatchTag, Match> matches;
    base::IdVector<GroupTag, ProcessGroup> groups;
    std::vector<Phase> phases;              // ordered by rank, then start
    std::vector<IterationSpan> iterations;  // ordered by rank, then start
    std::optional<RecognisedSchedule> schedule;
};

class Trace {
  public:
    // Without annotations.
    Trace(std::shared_ptr<const EventColumns> events, base::IdVector<RankTag, Rank> ranks,
          base::IdVector<LaneTag, Lane> lanes, base::Diagnostics diagnostics);
    // With what passes the gate of `annotations` (annotation_gate.h).
    [[nodiscard]] static Trace annotated(std::shared_ptr<const EventColumns> events,
                                         base::IdVector<RankTag, Rank> ranks,
                                         base::IdVector<LaneTag, Lane> lanes,
                                         Annotations annotations, base::Diagnostics diagnostics);

    [[nodiscard]] std::size_t eventCount() const { return m_events->lane.size(); }
    [[nodiscard]] Event event(EventId id) const;
    [[nodiscard]] std::string_view name(EventId id) const {
        return text(m_events->name[id.index()]);
    }
    [[nodiscard]] std::string_view domain(EventId id) const {
        return text(m_events->domain[id.index()]);
    }
    // The event's fields as one flat JSON object; empty where it has none.
    [[nodiscard]] std::string_view arguments(EventId id) const;
    [[nodiscard]] std::uint32_t sourceRow(EventId id) const;
    [[nodiscard]] std::string_view text(base::StringId id) const {
        return m_events->strings.text(id);
    }
    [[nodiscard]] const EventColumns& columns() const { return *m_events; }
    [[nodiscard]] std::shared_ptr<const EventColumns> sharedColumns() const { return m_events; }
    [[nodiscard]] std::span<const Dependency> dependencies() const {
        return m_events->dependencies;
    }
    // Those that lead to this event.
    [[nodiscard]] std::span<const Dependency> dependenciesOf(EventId id) const;
    // The host call that started this event; invalid where none is recorded.
    [[nodiscard]] EventId launchOf(EventId id) const;
    // Events of a lane are [first, last).
    struct EventRange {
        EventId first, last;
    };
    [[nodiscard]] EventRange eventsOf(LaneId lane) const;

    [[nodiscard]] const base::IdVector<RankTag, Rank>& ranks() const { return m_ranks; }
    [[nodiscard]] const base::IdVector<LaneTag, Lane>& lanes() const { return m_lanes; }
    [[nodiscard]] const Annotations& annotations() const { return m_annotations; }
    [[nodiscard]] const base::Diagnostics& diagnostics() const { return m_diagnostics; }

    // The same trace with more said about it.
    [[nodiscard]] Trace withDiagnostics(const base::Diagnostics& more) && {
        m_diagnostics.add(more);
        return std::move(*this);
    }

    // The same trace, with which ranks share a clock and how well it compares with the others'.
    struct Clock {
        std::int32_t number = 0;
        std::optional<base::Duration> bound;
    };
    [[nodiscard]] Trace withClocks(const base::IdVector<RankTag, Clock>& clocks) &&;

    // First start to last end over all events; empty for a trace without events.
    [[nodiscard]] base::Interval span() const;

  private:
    std::shared_ptr<const EventColumns> m_events;
    base::IdVector<RankTag, Rank> m_ranks;
    base::IdVector<LaneTag, Lane> m_lanes;
    Annotations m_annotations;
    base::Diagnostics m_diagnostics;
};

// The same events at other times, without annotations; `moved` keeps the order of each rank's
// times. The earliest event comes to 0. Changes the columns in place: no other trace may share
// them.
[[nodiscard]] Trace retimed(Trace trace,
                            const std::function<base::TraceTime(RankId, base::TraceTime)>& moved,
                            base::Diagnostics diagnostics);

}  // namespace pleat::trace
