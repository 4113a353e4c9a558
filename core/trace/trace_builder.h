// Collects ranks, lanes and events in any order and freezes them into a Trace: sorts, checks,
// counts what it repairs (an end before its start becomes an empty event, code
// "negative_duration").
#pragma once

#include <cstdint>
#include <string_view>

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
    [[nodiscard]] base::IdVector<LaneTag, Lane>& lanes() { return m_lanes; }
    void reserveEvents(std::size_t count);
    // `arguments` is a flat JSON object or empty; `sourceRow` 0 when the event comes from no file.
    void addEvent(const Event& event, std::string_view arguments = {}, std::uint32_t sourceRow = 0);
    // Events are counted in order of adding, from 0.
    [[nodiscard]] std::size_t eventCount() const { return m_columns.lane.size(); }
    void addDependency(std::size_t fromAdded, std::size_t toAdded, DependencyKind kind);
    base::Diagnostics& diagnostics() { return m_diagnostics; }

    // The trace, and for every added event (in order of adding) its id in it. The builder is spent.
    struct Built {
        Trace trace;
        std::vector<EventId> idOfAdded;
    };
    [[nodiscard]] Built build() &&;

  private:
    EventColumns m_columns;
    base::IdVector<RankTag, Rank> m_ranks;
    base::IdVector<LaneTag, Lane> m_lanes;
    base::Diagnostics m_diagnostics;
};

}  // namespace pleat::trace
