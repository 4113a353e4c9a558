// Collects ranks, lanes and events in any order and freezes them into a Trace: sorts, checks,
// counts what it repairs (an end before its start becomes an empty event, code
// "negative_duration"; a time beyond kFarthestNs is kept there, code "time_out_of_range").
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_pool.h"
#include "trace/trace.h"

namespace pleat::trace {

class TraceBuilder {
  public:
    TraceBuilder();

    RankId addRank(Rank rank);
    LaneId addLane(Lane lane);  // lane.rank was returned by addRank
    base::StringId intern(std::string_view text);
    [[nodiscard]] base::IdVector<RankTag, Rank>& ranks() { return m_ranks; }
    [[nodiscard]] const base::IdVector<RankTag, Rank>& ranks() const { return m_ranks; }
    [[nodiscard]] base::IdVector<LaneTag, Lane>& lanes() { return m_lanes; }
    // Room for `count` events in all, and for as much beside them as there is beside those added.
    void reserveEvents(std::size_t count);
    // `arguments` is a flat JSON object or empty; `sourceRow` 0 when the event comes from no file.
    void addEvent(const Event& event, std::string_view arguments = {}, std::uint32_t sourceRow = 0);
    // Events are counted in order of adding, from 0.
    [[nodiscard]] std::size_t eventCount() const { return m_columns.lane.size(); }
    [[nodiscard]] Event event(std::size_t added) const;
    [[nodiscard]] std::string_view text(base::StringId id) const {
        return m_columns.strings.text(id);
    }
    void addDependency(std::size_t fromAdded, std::size_t toAdded, DependencyKind kind);
    // An arrow between two moments: from the innermost event of one lane at that moment to that of
    // another. One without an event at an end is left out and counted ("flow_without_event").
    struct Flow {
        LaneId fromLane;
        base::TraceTime fromTime;
        LaneId toLane;
        base::TraceTime toTime;
    };
    void addFlow(const Flow& flow) { m_flows.push_back(flow); }
    // What was added up to some moment.
    struct Added {
        std::size_t events = 0, flows = 0;
    };
    [[nodiscard]] Added added() const { return {eventCount(), flowCount()}; }
    // Moves what was added after `from` and before `to` in time.
    void shift(Added from, Added to, base::Duration by);
    // The same for all that was added after `from`.
    void shift(Added from, base::Duration by) { shift(from, added(), by); }
    [[nodiscard]] std::size_t flowCount() const { return m_flows.size(); }
    // Takes events out again, before any dependency on them was added. `added` ascends.
    void removeEvents(const std::vector<std::size_t>& added);
    // The start of the earliest event added after `from` and before `to`; 0 without one.
    [[nodiscard]] base::TraceTime earliest(Added from, Added to) const;
    [[nodiscard]] base::TraceTime earliest() const { return earliest({}, added()); }
    base::Diagnostics& diagnostics() { return m_diagnostics; }

    // The trace, and for every added event (in order of adding) its id in it. The builder is spent.
    struct Built {
        Trace trace;
        std::vector<EventId> idOfAdded;
    };
    [[nodiscard]] Built build() &&;

  private:
    base::Interval withinRange(base::Interval span, base::StringId name);

    EventColumns m_columns;
    base::IdVector<RankTag, Rank> m_ranks;
    base::IdVector<LaneTag, Lane> m_lanes;
    std::vector<Flow> m_flows;
    base::Diagnostics m_diagnostics;
};

}  // namespace pleat::trace
